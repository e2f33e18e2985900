from __future__ import annotations

import json

import pytest

from cvm.core.receipt import Receipt
from cvm.errors import DiskError
from cvm.prefix.receipt import read_files, read_receipt, write_receipt

RECEIPT = Receipt(name="12.1.1", kind="installed", toolkit="12.1.1", created="2026-01-02T03:04:05Z")
FILES = {"bin/nvcc": "ab", "lib64": "-> lib", "odd\udcff": "cd"}


def test_receipt_and_files_are_read_back(tmp_path):
    write_receipt(tmp_path, RECEIPT, FILES)
    assert read_receipt(tmp_path) == RECEIPT
    assert read_files(tmp_path) == FILES
    assert sorted(path.name for path in (tmp_path / ".cvm").iterdir()) == ["files.json", "receipt.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b'{"schema": 9}'])
def test_a_damaged_receipt_is_none(tmp_path, content):
    write_receipt(tmp_path, RECEIPT, FILES)
    for name in ("receipt.json", "files.json"):
        (tmp_path / ".cvm" / name).write_bytes(content)
    assert (read_receipt(tmp_path), read_files(tmp_path)) == (None, {})


def test_no_receipt_is_none(tmp_path):
    assert (read_receipt(tmp_path / "gone"), read_files(tmp_path)) == (None, {})


def test_the_receipt_comes_last(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / ".cvm").mkdir()
    (tmp_path / ".cvm/receipt.json").write_text(
        json.dumps({"schema": 1, "name": "old", "kind": "installed", "toolkit": "1"})
    )
    monkeypatch.setattr("cvm.prefix.receipt.os.fsync", fail)
    with pytest.raises(DiskError):
        write_receipt(tmp_path, RECEIPT, FILES)
    assert read_receipt(tmp_path) == Receipt(name="old", kind="installed", toolkit="1")
