import os
from pathlib import Path

import pytest

from cvm.elf.watched import Watched, unchanged


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "read").write_text("old")
    (tmp_path / "seen").write_text("old")
    (tmp_path / "listed").mkdir()
    (tmp_path / "entered").mkdir()
    return tmp_path


@pytest.fixture
def stamps(folder):
    files = Watched()
    assert files.content(f"{folder}/read") == b"old"
    assert files.names(f"{folder}/listed") == []
    assert files.is_folder(f"{folder}/entered")
    assert not isinstance(files.identity(f"{folder}/seen"), int)
    assert isinstance(files.identity(f"{folder}/missing"), int)
    return files.stamps()


CHANGES = {
    "content that was read": lambda folder: (folder / "read").write_text("newer"),
    "a file in a folder that was listed": lambda folder: (folder / "listed/new").write_text(""),
    "a file where none was": lambda folder: (folder / "missing").write_text(""),
    "a file that is gone": lambda folder: (folder / "seen").unlink(),
    "another file by this name": lambda folder: _replace(folder / "seen"),
    "a folder that is gone": lambda folder: (folder / "entered").rmdir(),
}

NO_MATTER = {
    "nothing": lambda folder: None,
    "content that nobody read": lambda folder: (folder / "seen").write_text("newer"),
    "a file in a folder that was only entered": lambda folder: (folder / "entered/new").write_text(""),
    "a file elsewhere": lambda folder: (folder / "elsewhere").write_text(""),
}


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("old")
    other.replace(path)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_an_answer_does_not_outlive_what_it_was_made_from(change, folder, stamps):
    change(folder)
    assert not unchanged(stamps)


@pytest.mark.parametrize("change", NO_MATTER.values(), ids=NO_MATTER.keys())
def test_an_answer_outlives_whatever_it_was_not_made_from(change, folder, stamps):
    change(folder)
    assert unchanged(stamps)


def test_the_time_of_a_change_counts_where_the_size_is_the_same(folder, stamps):
    path = folder / "read"
    before = path.stat()
    path.write_text("new")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert not unchanged(stamps)


def test_what_the_kernel_makes_up_has_no_stamp():
    files = Watched()
    assert files.content("/proc/sys/kernel/osrelease")
    assert files.names("/dev")
    assert files.stamps() == {}
