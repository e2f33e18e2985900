"""CVM023: torchvision and torchaudio that were built for another torch.

Must stay quiet: no local tag, as on PyPI; equal tags; a torch of the right version with a tag of its own.
"""

from __future__ import annotations

import pytest

from cvm.core.packages import SearchFolder
from cvm.doctor.checks.companions import check
from tests.unit.doctor.environments import (
    SEARCH,
    SITE,
    USER,
    assert_never_leaves_a_hole,
    brief,
    case,
    commands,
    consumer,
    dist,
    load,
    python,
)


def judge(*packages, consumers=(), search=SEARCH):
    return list(check(case(*consumers, python=python(*packages, search=search))))


def vision(pin="2.5.1", version="0.20.1"):
    return dist("torchvision", version, "numpy", f"torch (=={pin})")


def test_a_companion_for_another_torch_is_an_error():
    (finding,) = judge(dist("torch", "2.6.0+cu124"), vision())
    assert brief([finding]) == [("CVM023", "error", "torchvision")]
    assert finding.summary == "torchvision 0.20.1 was built for torch 2.5.1, and torch 2.6.0+cu124 is installed"
    assert finding.evidence == {
        "compiled": "torch 2.5.1",
        "runtime": f"torch 2.6.0+cu124 in {SITE}",
        "culprit": f"{SITE}/torchvision-0.20.1.dist-info",
    }
    assert finding.hint == ("/venv/bin/python -m pip install --upgrade torchvision torch==2.6.0+cu124",)


@pytest.mark.parametrize("torch", ["2.5.1", "2.5.1+cu121", "2.5.1+cpu"])
def test_the_right_torch_is_quiet(torch):
    assert judge(dist("torch", torch), vision(), dist("torchaudio", "2.5.1", "torch==2.5.1")) == []


def test_a_companion_that_loads_all_the_same_is_a_warning():
    packages = dist("torch", "2.5.0"), vision()
    assert brief(judge(*packages, consumers=[consumer(packages[1])])) == [("CVM023", "warning", "torchvision")]
    failing = consumer(packages[1], now=load(error="OSError: undefined symbol"))
    assert brief(judge(*packages, consumers=[consumer(packages[0]), failing])) == [("CVM023", "error", "torchvision")]


@pytest.mark.parametrize("requires", ["torch", "torch>=2.0", "torch<2.6", "torch==2.4.*"])
def test_a_companion_without_a_pin_is_quiet(requires):
    assert judge(dist("torch", "2.6.0"), dist("torchvision", "0.20.1", requires)) == []


def test_companions_without_torch_are_quiet():
    assert judge(vision()) == []
    assert list(check(case())) == []


@pytest.mark.parametrize(
    ("torch", "companion", "severity"),
    [
        ("2.5.1+cu121", "0.20.1+cu118", "error"),
        ("2.5.1+cu124", "0.20.1+cu121", "warning"),
        ("2.5.1+cpu", "0.20.1+cu121", "error"),
        ("2.5.1+cu121", "0.20.1+cpu", "warning"),
        ("1.8.0+cu92", "0.20.1+cu102", "error"),
    ],
)
def test_another_cuda_is_told_by_the_tags(torch, companion, severity):
    (finding,) = judge(dist("torch", torch), vision(torch.partition("+")[0], companion))
    assert brief([finding]) == [("CVM023", severity, "torchvision")]
    tag = torch.partition("+")[2]
    assert commands(finding)[0][-1] == f"torchvision==0.20.1+{tag}"


@pytest.mark.parametrize(
    ("torch", "companion"),
    [
        ("2.5.1+cu121", "0.20.1+cu121"),
        ("2.5.1", "0.20.1+cu121"),
        ("2.5.1+cu121", "0.20.1"),
        ("2.5.1+cpu", "0.20.1"),
        ("2.5.1+cu121", "0.20.1+computecanada"),
        ("2.5.1+cu121.with.pypi.cudnn", "0.20.1+cu121"),
    ],
)
def test_equal_tags_and_no_tags_are_quiet(torch, companion):
    assert judge(dist("torch", torch), vision("2.5.1", companion)) == []


def test_two_records_of_torch_are_a_warning():
    packages = dist("torch", "2.4.0"), dist("torch", "2.5.1+cu121"), vision()
    (finding,) = judge(*packages, consumers=[consumer(packages[1]._replace(version="2.5.1+cu121"))])
    assert brief([finding]) == [("CVM023", "warning", "torch")]
    assert finding.summary == f"{SITE} has the records of 2 torches: 2.4.0, 2.5.1+cu121"
    pip = "/venv/bin/python -m pip"
    assert finding.hint[1:] == (
        f"{pip} uninstall -y torch && {pip} uninstall -y torch && {pip} install torch==2.5.1+cu121",
    )
    assert_never_leaves_a_hole([finding])


def test_two_records_of_one_version_are_quiet():
    egg = dist("torch", "2.5.1")._replace(info=f"{SITE}/torch-2.5.1.egg-info")
    assert judge(dist("torch", "2.5.1"), egg) == []


def test_the_right_torch_that_another_one_hides_needs_no_reinstallation():
    search = (SEARCH[0], SearchFolder(USER, "user site"), SEARCH[1])
    (finding,) = judge(dist("torch", "2.4.0", folder=USER), dist("torch", "2.5.1"), vision(), search=search)
    assert finding.evidence["culprit"] == f"user site={USER}"
    assert finding.hint == ("export PYTHONNOUSERSITE=1",)
