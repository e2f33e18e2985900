"""CVM029: a consumer pins its libraries, and other versions of them, or none, are installed.

Must stay quiet: what is as pinned; packages without pins, as conda's and self-built ones; pins of an extra or of
another platform; a missing package where nothing fails; ranges; a copy beside torch that is right.
"""

from __future__ import annotations

import pytest

from cvm.core.packages import SearchFolder
from cvm.doctor.checks.requirement import check
from cvm.elf.outcome import Kind
from tests.unit.doctor.environments import SEARCH, USER, brief, case, consumer, dist, load, python, torch_dist

TORCH = torch_dist()
CUDNN, NCCL = dist("nvidia-cudnn-cu12", "9.1.0.70"), dist("nvidia-nccl-cu12", "2.21.5")
NEWER = dist("nvidia-cudnn-cu12", "9.3.0.75")
MISSING = load("libcudnn.so.9", error="ImportError: libcudnn.so.9: cannot open shared object file")


def judge(*packages, torch=TORCH, now=None, clean=None, search=SEARCH):
    one = consumer(torch, now=now, clean=clean)
    return list(check(case(one, python=python(torch, *packages, search=search))))


def test_what_is_as_pinned_is_quiet():
    assert judge(CUDNN, NCCL) == []


def test_another_version_that_loads_is_a_note():
    (finding,) = judge(NEWER, NCCL)
    assert brief([finding]) == [("CVM029", "note", "torch")]
    assert finding.summary == "torch 2.5.1 pins nvidia-cudnn-cu12 9.1.0.70, and 9.3.0.75 is installed"
    assert finding.evidence == {
        "culprit": NEWER.info,
        "wanted": ("nvidia-cudnn-cu12==9.1.0.70",),
        "runtime": ("nvidia-cudnn-cu12 9.3.0.75",),
    }
    assert finding.hint == ("/venv/bin/python -m pip install --no-deps nvidia-cudnn-cu12==9.1.0.70",)


def test_another_version_where_the_load_fails_is_a_warning():
    assert brief(judge(NEWER, NCCL, now=load(error="OSError: x"))) == [("CVM029", "warning", "torch")]


def test_where_variables_are_to_blame_it_stays_a_note():
    assert brief(judge(NEWER, NCCL, now=load(error="OSError: x"), clean=load())) == [("CVM029", "note", "torch")]


def test_a_missing_package_where_nothing_fails_is_quiet():
    assert judge(NCCL) == []


def test_a_missing_package_where_a_library_is_missing_is_a_warning():
    (finding,) = judge(NCCL, now=MISSING)
    assert brief([finding]) == [("CVM029", "warning", "torch")]
    assert finding.evidence["missing"] == ("nvidia-cudnn-cu12",)
    assert finding.hint == ("/venv/bin/python -m pip install --no-deps nvidia-cudnn-cu12==9.1.0.70",)


def test_a_missing_package_where_a_symbol_is_missing_is_quiet():
    assert judge(NCCL, now=load("libcudnn.so.9", error="OSError: x", kind=Kind.SYMBOL)) == []


@pytest.mark.parametrize(
    "requires",
    [
        (),
        ("nvidia-cudnn-cu12>=9",),
        ("nvidia-cudnn-cu12>=9.5",),
        ("nvidia-cudnn-cu12==8.*",),
        ('nvidia-cudnn-cu12==8.9.7.29; extra == "and-cuda"',),
        ('nvidia-cudnn-cu12==8.9.7.29; sys_platform == "win32"',),
        ('nvidia-cudnn-cu12==8.9.7.29; platform_machine == "aarch64"',),
        ('nvidia-cudnn-cu12==8.9.7.29; python_version < "3.9"',),
        ("numpy==1.0",),
        ("nvidia-cudnn-cu12==8.9 nonsense",),
    ],
)
def test_what_pins_nothing_here_is_quiet(requires):
    package = dist("tensorflow", "2.16", *requires)
    assert judge(CUDNN, dist("numpy", "2.0"), torch=package, now=MISSING) == []


def test_a_pin_is_read_for_the_python_of_the_case():
    package = dist("torch", "2.5.1", 'nvidia-cudnn-cu12==8.9; python_version < "3.10"')
    found = [check(case(consumer(package), python=python(CUDNN, version=v))) for v in [(3, 9), (3, 11)]]
    assert [len(list(one)) for one in found] == [1, 0]


def test_the_copy_beside_torch_counts():
    far = dist("nvidia-cudnn-cu12", "8.9.2", folder=USER)
    search = (SearchFolder(USER, "user site"), *SEARCH)
    assert judge(far, CUDNN, NCCL, search=search) == []
    assert brief(judge(far, NCCL, search=search)) == [("CVM029", "note", "torch")]


def test_a_copy_elsewhere_makes_the_one_beside_torch_no_less_certain():
    far = dist("nvidia-cudnn-cu12", "9.1.0.70", folder=USER)
    search = (SearchFolder(USER, "user site"), *SEARCH)
    assert brief(judge(far, NEWER, NCCL, search=search)) == [("CVM029", "note", "torch")]


def test_two_records_of_one_package_tell_nothing():
    assert judge(CUDNN, NEWER, NCCL) == []
    assert judge(NEWER, CUDNN, NCCL) == []


def test_without_a_python_or_a_distribution_nothing_is_said():
    assert list(check(case(consumer(TORCH)))) == []
    assert list(check(case(consumer(None), python=python()))) == []
