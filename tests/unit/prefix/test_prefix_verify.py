from __future__ import annotations

import pytest

from cvm.prefix.tree import Hashed, hash_file, inventory
from cvm.prefix.verify import Change, verify


@pytest.fixture
def prefix(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "lib" / name).write_text(name)
    (tmp_path / "lib64").symlink_to("lib")
    (tmp_path / ".cvm").mkdir()
    (tmp_path / ".cvm/env.sh").write_text("")
    return tmp_path


def test_the_table_holds_files_and_links_but_not_the_records(prefix):
    assert list(inventory(prefix, {})) == ["lib/a", "lib/b", "lib/c", "lib64"]
    assert inventory(prefix, {})["lib64"] == "-> lib"
    assert inventory(prefix, {})["lib/a"] == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


def test_a_known_hash_counts_only_for_the_file_it_was_known_of(prefix):
    inode = (prefix / "lib/a").stat().st_ino
    known = {"lib/a": Hashed("known", inode), "lib/b": Hashed("stale", inode)}
    table = inventory(prefix, known)
    assert (table["lib/a"], table["lib/b"]) == ("known", hash_file(str(prefix / "lib/b")))


def test_an_untouched_prefix_has_no_changes(prefix):
    assert sorted(inventory(prefix, {})) == ["lib/a", "lib/b", "lib/c", "lib64"]
    assert verify(prefix, inventory(prefix, {}), extra=True) == ()


def test_every_kind_of_change_is_named_in_order(prefix):
    files = inventory(prefix, {})
    (prefix / "lib/a").write_text("edited")
    (prefix / "lib/b").unlink()
    (prefix / "lib/c").unlink()
    (prefix / "lib/c").symlink_to("a")
    (prefix / "lib64").unlink()
    (prefix / "lib64").symlink_to("elsewhere")
    (prefix / "new").write_text("")
    expected = (
        Change("lib/a", "changed"),
        Change("lib/b", "missing"),
        Change("lib/c", "changed"),
        Change("lib64", "changed"),
    )
    assert verify(prefix, files) == expected
    assert verify(prefix, files, extra=True) == (*expected, Change("new", "extra"))


def test_a_folder_in_place_of_a_file_counts_as_missing(prefix):
    files = inventory(prefix, {})
    (prefix / "lib/a").unlink()
    (prefix / "lib/a").mkdir()
    assert verify(prefix, files) == (Change("lib/a", "missing"),)
