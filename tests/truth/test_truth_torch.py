"""`import torch` in a real process and in the model: three releases, as pip installs them and with the wheels apart."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.truth.processes import below, really, said

RELEASES = ("1.13.1", "2.5.1", "2.8.0")
# Each a value of LD_LIBRARY_PATH: folders of toolkits and of cuDNN.
ALONE = ("", "11.5", "11.8", "12.1", "12.4", "cudnn 8.9.7", "cudnn 9.1.1", "cudnn 9.28.0")
PATHS = (*ALONE, "12.1:12.4", "12.4:12.1", "11.8:11.5", "12.1:cudnn 9.1.1")
APART = ("", "11.8", "12.1", "12.4", "cudnn 9.1.1", "11.8:cudnn 8.9.7", "12.1:cudnn 9.28.0")
CELLS = [(release, path, False) for release in RELEASES for path in PATHS]
CELLS += [(release, path, True) for release in RELEASES for path in APART]

NEEDS_12_4 = "libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12"
NEEDS_HSH = "libcublas.so.11: undefined symbol: cublasLtHSHMatmulAlgoInit, version libcublasLt.so.11"


class Known(NamedTuple):
    """What people and a debugger saw with the real files: how an import ends, and which cuDNN answers."""

    verdict: str
    codes: set[str]
    ending: str | None = None
    cudnn: str | None = None


KNOWN = {
    ("1.13.1", ""): Known("ok", set(), cudnn="8.5.0"),
    ("1.13.1", "11.5"): Known("error", {"CVM002"}, NEEDS_HSH),
    ("1.13.1", "12.1"): Known("ok", set(), cudnn="8.5.0"),
    ("1.13.1", "12.4"): Known("ok", set(), cudnn="8.5.0"),
    ("2.5.1", ""): Known("ok", set(), cudnn="9.1.0"),
    ("2.5.1", "11.8"): Known("ok", set(), cudnn="9.1.0"),
    ("2.5.1", "12.1"): Known("error", {"CVM003"}, NEEDS_12_4),
    ("2.5.1", "12.4"): Known("ok", set(), cudnn="9.1.0"),
    ("2.8.0", ""): Known("ok", set(), cudnn="9.10.2"),
    ("2.8.0", "11.8"): Known("ok", set(), cudnn="9.10.2"),
    ("2.8.0", "12.1"): Known("ok", set(), cudnn="9.10.2"),
    ("2.8.0", "12.4"): Known("ok", set(), cudnn="9.10.2"),
    ("2.8.0", "cudnn 8.9.7"): Known("ok", set(), cudnn="9.10.2"),
    ("2.8.0", "cudnn 9.1.1"): Known("error", {"CVM004"}, cudnn="9.1.1"),
}


class Cell(NamedTuple):
    """One value of LD_LIBRARY_PATH for one environment: what really happens, and what cvm says."""

    root: Path
    real: object
    document: dict

    @property
    def torch(self):
        return next(one for one in self.document["consumers"] if one["name"] == "torch")


@pytest.fixture(scope="module")
def asked():
    """Cells that a test has asked for already."""
    return {}


@pytest.fixture
def ask(shelf, asked, monkeypatch, capsys):
    def cell(release, path, apart=False):
        if (release, path, apart) not in asked:
            environment = shelf.apart(release) if apart else shelf.torch(release)
            folders = ":".join(str(shelf.libraries(name)) for name in path.split(":")) if path else None
            document = said(environment, folders, monkeypatch, capsys)
            asked[release, path, apart] = Cell(shelf.root, really(environment, shelf.root, folders), document)
        return asked[release, path, apart]

    return cell


@pytest.mark.parametrize(("release", "path", "apart"), CELLS)
def test_the_model_says_what_the_process_does(ask, release, path, apart):
    cell = ask(release, path, apart)
    real, torch = cell.real, cell.torch
    assert torch["error"] == real.error
    assert cell.document["unknown"] == []
    if real.error is None:
        paths = [one["path"] for one in torch["libraries"]]
        assert below(cell.root, paths[: torch["imported"]]) == real.imported
        # Using a GPU loads more than asking for the version of cuDNN does.
        assert below(cell.root, paths) >= real.used
    else:
        assert cell.document["verdict"] == "error"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="which cuDNN a torch was made with is read from x86-64 code")
@pytest.mark.parametrize(("release", "path", "apart"), CELLS)
def test_the_cudnn_that_answers(ask, release, path, apart):
    cell = ask(release, path, apart)
    real, torch = cell.real, cell.torch
    assert torch["first_use_error"] == real.first_use_error
    if real.error is None:
        assert real.cudnn in (None, torch["cudnn"]["runtime"])
        assert Path(os.path.realpath(torch["cudnn"]["answered_by"])) in real.used


@pytest.mark.parametrize(("release", "path"), KNOWN)
def test_what_the_real_files_do(ask, release, path):
    cell = ask(release, path)
    known = KNOWN[release, path]
    codes = {one["code"] for one in cell.document["findings"] if one["severity"] != "note"}
    assert (cell.document["verdict"], codes) == (known.verdict, known.codes)
    assert cell.torch["version"] == release
    if known.ending:
        assert cell.torch["error"].endswith(f"/{known.ending}")
        assert cell.real.error.endswith(f"/{known.ending}")
    else:
        assert cell.real.error is None
        assert cell.torch["cudnn"]["runtime"] == known.cudnn
