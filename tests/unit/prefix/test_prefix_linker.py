from __future__ import annotations

import errno
import os

import pytest

from cvm.errors import DiskError
from cvm.prefix import linker as module
from cvm.prefix.linker import Linker


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source"
    path.write_bytes(b"content")
    path.chmod(0o555)
    os.utime(path, ns=(1, 2_000_000_000))
    return path


def refuse(name, code, monkeypatch):
    """Let a way fail with an error number, and count how often it was tried."""
    calls = []

    def fail(*_):
        calls.append(name)
        raise OSError(code, os.strerror(code))

    ways = [(way, fail if way == name else function) for way, function in module._WAYS]
    monkeypatch.setattr(module, "_WAYS", tuple(ways))
    return calls


def test_the_result_has_content_mode_and_time(source, tmp_path):
    linker = Linker()
    inode = linker.place(source, tmp_path / "target")
    status = (tmp_path / "target").stat()
    assert ((tmp_path / "target").read_bytes(), status.st_mode & 0o777, status.st_mtime_ns, status.st_ino) == (
        b"content",
        0o555,
        2_000_000_000,
        inode,
    )


def test_a_copy_is_made_across_devices_and_the_rest_is_not_tried_again(source, tmp_path, monkeypatch):
    calls = refuse("reflink", errno.EOPNOTSUPP, monkeypatch), refuse("hard link", errno.EXDEV, monkeypatch)
    linker = Linker()
    for name in ("a", "b"):
        inode = linker.place(source, tmp_path / name)
        assert inode == (tmp_path / name).stat().st_ino != source.stat().st_ino
        assert (tmp_path / name).stat().st_mtime_ns == 2_000_000_000
    assert linker.counts == {"copy": 2}
    assert calls == (["reflink"], ["hard link"])


def test_a_file_with_too_many_links_is_copied_but_the_next_is_linked(source, tmp_path, monkeypatch):
    refuse("reflink", errno.EOPNOTSUPP, monkeypatch)
    linker = Linker()
    linker.place(source, tmp_path / "a")
    with monkeypatch.context() as inner:
        refuse("hard link", errno.EMLINK, inner)
        linker.place(source, tmp_path / "b")
    linker.place(source, tmp_path / "c")
    assert linker.counts == {"hard link": 2, "copy": 1}


def test_a_full_disk_is_reported_not_worked_around(source, tmp_path, monkeypatch):
    refuse("reflink", errno.ENOSPC, monkeypatch)
    with pytest.raises(DiskError) as error:
        Linker().place(source, tmp_path / "target")
    assert error.value.message.startswith("no space is left for ")


def test_nothing_is_overwritten(source, tmp_path):
    (tmp_path / "target").write_text("mine")
    with pytest.raises(DiskError):
        Linker().place(source, tmp_path / "target")
    assert (tmp_path / "target").read_text() == "mine"
