"""CVM022: a copy from the user site or PYTHONPATH wins over the environment's own.

Must stay quiet: the same version twice; the user site's copy behind the environment's; one copy alone, wherever;
packages that no consumer is; NVIDIA's pure Python packages.
"""

from __future__ import annotations

import pytest

from cvm.core.packages import SearchFolder
from cvm.doctor.checks.user_site import check
from tests.unit.doctor.environments import SEARCH, SITE, USER, brief, case, consumer, dist, python

FIRST = (SEARCH[0], SearchFolder(USER, "user site"), SEARCH[1])
LAST = (*SEARCH, SearchFolder(USER, "user site"))
EXTRA = (SearchFolder("/opt/site", "PYTHONPATH[0]"), *SEARCH)


def judge(*packages, search=FIRST, consumers=()):
    return list(check(case(*consumers, python=python(*packages, search=search))))


def pair(name="torch", versions=("2.4.0", "2.5.1"), folder=USER):
    return dist(name, versions[0], folder=folder), dist(name, versions[1])


def test_a_copy_of_the_user_site_is_a_warning():
    (finding,) = judge(*pair())
    assert brief([finding]) == [("CVM022", "warning", "")]
    assert finding.summary == f"torch 2.4.0 of the user site ({USER}) is used in place of torch 2.5.1 in {SITE}"
    assert finding.evidence == {
        "culprit": f"user site={USER}",
        "winner": f"torch 2.4.0 in {USER}",
        "wanted": f"torch 2.5.1 in {SITE}",
        "files": (f"{USER}/torch-2.4.0.dist-info", f"{SITE}/torch-2.5.1.dist-info"),
    }
    assert finding.hint == ("export PYTHONNOUSERSITE=1",)


def test_a_copy_of_pythonpath_is_a_warning():
    (finding,) = judge(*pair(folder="/opt/site"), search=EXTRA)
    assert finding.evidence["culprit"] == "PYTHONPATH[0]=/opt/site"
    assert finding.hint == ("# take /opt/site out of PYTHONPATH, or for this shell all of it:", "unset PYTHONPATH")


def test_the_same_version_twice_is_quiet():
    assert judge(*pair(versions=("2.5.1", "2.5.1"))) == []


def test_a_copy_behind_the_environments_own_is_quiet():
    assert judge(*pair(), search=LAST) == []


def test_one_copy_alone_is_quiet():
    assert judge(pair()[0], dist("nvidia-nccl-cu12", "2.21.5")) == []


def test_two_folders_of_the_environment_itself_are_quiet():
    search = (SearchFolder("/venv/lib64/python3.11/site-packages", "site-packages"), *SEARCH)
    assert judge(*pair(folder=search[0].path), search=search) == []


@pytest.mark.parametrize(
    "name", ["nvidia-cudnn-cu12", "nvidia-cublas", "nvidia-nccl-cu11", "nvidia-nvshmem-cu13", "tensorrt-cu12"]
)
def test_a_librarys_copy_is_a_warning(name):
    assert brief(judge(*pair(name))) == [("CVM022", "warning", "")]


@pytest.mark.parametrize("name", ["nvidia-ml-py", "numpy", "onnxruntime-gpu"])
def test_a_package_that_is_no_consumer_is_quiet(name):
    assert judge(*pair(name)) == []


def test_any_consumers_copy_is_a_warning():
    packages = pair("onnxruntime-gpu")
    assert brief(judge(*packages, consumers=[consumer(packages[0])])) == [("CVM022", "warning", "")]


def test_all_of_a_folder_is_one_finding():
    (finding,) = judge(*pair(), *pair("nvidia-nccl-cu12", ("2.20", "2.21")), *pair("nvidia-cudnn-cu12", ("9.1", "9.1")))
    assert finding.summary.endswith("(and 1 more)")
    assert len(finding.evidence["files"]) == 4


def test_without_a_python_nothing_is_said():
    assert list(check(case())) == []
