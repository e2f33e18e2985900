from __future__ import annotations

import pytest

from cvm import space
from cvm.core.size import human_size
from cvm.errors import DiskError
from cvm.space import check_space, free_bytes


def test_enough_room(tmp_path):
    check_space({tmp_path / "not" / "there": 1, tmp_path: 1})
    assert free_bytes(tmp_path / "not" / "there") > 0


def test_folders_on_one_disk_are_taken_together(tmp_path, monkeypatch):
    monkeypatch.setattr(space, "free_bytes", lambda _: 1_200_000_000)
    check_space({tmp_path / "store": 1_200_000_000})
    with pytest.raises(DiskError) as caught:
        check_space({tmp_path / "store": 3_000_000_000, tmp_path / "cache": 1_900_000_000})
    assert caught.value.message == (
        f"4.90 GB are needed in {tmp_path / 'store'} and 1.20 GB are free: 3.70 GB are missing"
    )


def test_a_small_disk(small_disk):
    with pytest.raises(DiskError, match=r"1\.00 GB are needed in .*: 99\d MB are missing"):
        check_space({small_disk / "x": 1_000_000_000})


def test_human_size():
    assert [human_size(n) for n in (0, 999, 1000, 1_234_567, 4_900_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.2 MB",
        "4.90 GB",
    ]
