"""The answer about a toolchain's libraries is kept, and forgotten as soon as anything that it rests on changes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from cvm.actions import doctor, kept
from cvm.actions.weigh import weigh
from cvm.layout import Layout
from tests.fakes.torch import RUNTIME, WHEEL, make_torch, old_runtime

if TYPE_CHECKING:
    from pathlib import Path


class Weighing:
    """A torch, and a folder of libraries that it can't load with."""

    def __init__(self, tmp_path: Path) -> None:
        self.layout = Layout(tmp_path / "home")
        self.python = make_torch(tmp_path / "venv")
        self.libraries = tmp_path / "cuda/lib"
        old_runtime(tmp_path / "cuda")
        self.environment = {"PATH": str(self.python.parent), "LD_LIBRARY_PATH": str(self.libraries)}

    @property
    def site(self) -> Path:
        return next(self.python.parent.parent.glob("lib/python3.*/site-packages"))

    def weigh(self) -> str | None:
        return weigh(self.environment, (str(self.libraries),), self.layout)


@pytest.fixture
def weighing(tmp_path: Path) -> Weighing:
    return Weighing(tmp_path)


@pytest.fixture
def known(weighing: Weighing, monkeypatch: pytest.MonkeyPatch) -> Weighing:
    """One whose answer is kept: whoever looks at the files again is noticed."""
    assert "torch 2.99.0 won't import" in str(weighing.weigh())
    looked = doctor.diagnose_python

    def look(*arguments):
        weighing.looked = True
        return looked(*arguments)

    weighing.looked = False
    monkeypatch.setattr(doctor, "diagnose_python", look)
    return weighing


def test_what_breaks_is_said_and_nothing_else(weighing: Weighing) -> None:
    (weighing.libraries / RUNTIME).unlink()
    assert weighing.weigh() is None


def test_what_is_broken_anyway_is_not_blamed_on_the_toolchain(weighing: Weighing) -> None:
    (weighing.site / WHEEL).unlink()
    (weighing.libraries / RUNTIME).unlink()
    assert weighing.weigh() is None


def test_without_a_python_there_is_nothing_to_break(weighing: Weighing) -> None:
    weighing.environment["PATH"] = "/nowhere"
    assert weighing.weigh() is None


def test_a_second_answer_looks_at_nothing(known: Weighing) -> None:
    assert "torch 2.99.0 won't import" in str(known.weigh())
    assert not known.looked


@pytest.mark.parametrize(
    "change",
    [
        lambda one: (one.libraries / RUNTIME).unlink(),
        lambda one: one.environment.update(LD_LIBRARY_PATH=""),
        lambda one: (one.site / "torch/_C.so").unlink(),
    ],
    ids=["the library is gone", "the variable is empty", "torch is gone"],
)
def test_a_change_that_mends_it_is_seen(known: Weighing, change) -> None:
    change(known)
    known.weigh()
    assert known.looked


def test_another_package_is_seen(known: Weighing) -> None:
    (known.site / "other-1.0.dist-info").mkdir()
    known.weigh()
    assert known.looked


def test_a_variable_that_nobody_asks_for_is_not(known: Weighing) -> None:
    known.environment["LINES"] = "40"
    assert known.weigh()
    assert not known.looked


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b'{"answer": "x", "stamps": []}', b'{"answer": 5, "stamps": {}}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_answer_is_none(known: Weighing, damage: bytes) -> None:
    (file,) = known.layout.judgements.iterdir()
    file.write_bytes(damage)
    assert "torch 2.99.0 won't import" in str(known.weigh())
    assert known.looked
    assert json.loads(file.read_bytes())["answer"]


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), MemoryError(), OSError(5, "Input/output error")])
def test_what_cannot_be_looked_at_withholds_nothing(
    weighing: Weighing, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(doctor, "diagnose_python", fail)
    assert weighing.weigh() is None
    assert not weighing.layout.judgements.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_home_that_is_read_only_keeps_nothing(weighing: Weighing) -> None:
    weighing.layout.home.mkdir(mode=0o555)
    assert weighing.weigh()


def test_the_oldest_answers_go(known: Weighing) -> None:
    folder = known.layout.judgements
    (first,) = folder.iterdir()
    for number in range(70):
        kept.keep(folder / f"{number}.json", kept.Answer(None), {})
    assert len(list(folder.iterdir())) == 64
    assert not first.exists()
    assert kept.recall(folder / "69.json") == kept.Answer(None)


def test_a_file_in_the_place_of_the_folder_keeps_nothing(weighing: Weighing) -> None:
    weighing.layout.home.mkdir(parents=True)
    weighing.layout.judgements.write_text("")
    assert weighing.weigh()
