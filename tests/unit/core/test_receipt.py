from __future__ import annotations

import json

from cvm.core.receipt import InstalledComponent, License, Receipt, parse_receipt, receipt_document

RECEIPT = Receipt(
    name="12.1.1-cudnn8.9.4.25",
    kind="installed",
    toolkit="12.1.1",
    companions=(("cudnn", "8.9.4.25"),),
    platform="linux-x86_64",
    profile="devel",
    components=(InstalledComponent("cuda", "cuda_nvcc", "12.1.105", "redist", "a.tar.xz", "ab", 7, "CUDA Toolkit"),),
    licenses=(License("CUDA Toolkit", "https://docs.nvidia.com/cuda/eula/index.html"),),
    repairs=("lib64-link: lib64 -> lib",),
    created="2026-01-02T03:04:05Z",
    cvm="1.0",
)


def test_a_receipt_survives_json():
    assert parse_receipt(json.loads(json.dumps(receipt_document(RECEIPT)))) == RECEIPT


def test_keys_of_a_later_version_are_ignored():
    document = receipt_document(RECEIPT) | {"mood": "good"}
    document["components"][0]["colour"] = "green"
    assert parse_receipt(document) == RECEIPT


def test_what_is_no_receipt_is_none():
    for document in (None, [], {}, {"schema": 2}, {"schema": 1}, {"schema": 1, "name": 3, "kind": "installed", "toolkit": "1"},
                     receipt_document(RECEIPT) | {"companions": []}, receipt_document(RECEIPT) | {"components": [{}]}):  # fmt: skip
        assert parse_receipt(document) is None
