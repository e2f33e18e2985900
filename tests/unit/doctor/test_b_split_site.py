"""CVM021: torch in one folder, the libraries that its RPATH looks for beside it in another.

Must stay quiet: all in one folder; a split that still loads, since torch opens the files by their paths; folders of an
RPATH that never exist (`nvidia/cufile/lib`); a library that is missing for another reason; lib64 that is a link to lib.
"""

from __future__ import annotations

import pytest

from cvm.core.packages import SearchFolder
from cvm.doctor.checks.split_site import check
from cvm.elf.outcome import Kind
from tests.unit.doctor.environments import (
    SEARCH,
    SITE,
    USER,
    brief,
    case,
    commands,
    consumer,
    dist,
    load,
    python,
    torch_dist,
)

TORCH = torch_dist()
FAR = dist("nvidia-cudnn-cu12", "9.1.0.70", folder=USER), dist("nvidia-nccl-cu12", "2.21.5", folder=USER)
NEAR = dist("nvidia-cudnn-cu12", "9.1.0.70"), dist("nvidia-nccl-cu12", "2.21.5")
BOTH = (SearchFolder(USER, "user site"), *SEARCH)
CUDNN = f"{USER}/nvidia/cudnn/lib/libcudnn.so.9"
ERROR = "OSError: libcudnn.so.9: cannot open shared object file: No such file or directory"


def judge(now, *packages, elsewhere=None, torch=TORCH, search=BOTH):
    one = consumer(torch, now=now, elsewhere={"libcudnn.so.9": (CUDNN,)} if elsewhere is None else elsewhere)
    return list(check(case(one, python=python(torch, *packages, search=search))))


def test_libraries_in_another_folder_are_an_error():
    (finding,) = judge(load("libcudnn.so.9", error=ERROR), *FAR)
    assert brief([finding]) == [("CVM021", "error", "torch")]
    assert finding.summary == (
        f"torch 2.5.1 lies in {SITE} and finds its libraries only beside it, "
        f"but nvidia-cudnn-cu12 9.1.0.70 and 1 more lie in {USER}"
    )
    assert finding.evidence == {
        "missing": "libcudnn.so.9",
        "wanted": f"{SITE}/nvidia",
        "culprit": f"user site={USER}",
        "files": tuple(one.info for one in FAR),
        "error": ERROR,
    }
    assert commands(finding) == [["ln", "-sT", f"{USER}/nvidia", f"{SITE}/nvidia"]]


def test_libraries_beside_torch_are_quiet():
    assert judge(load("libcudnn.so.9", error=ERROR), *NEAR, elsewhere={}) == []


def test_a_split_that_loads_by_its_preloads_is_quiet():
    assert judge(load("libcudnn.so.9", handled=True), *FAR) == []
    assert judge(load(), *FAR) == []


def test_a_split_that_fails_by_its_preloads_is_an_error():
    now = load("libcudnn.so.9", handled=True, error="ValueError: libcudnn.so.*[0-9] not found in the system path")
    assert brief(judge(now, *FAR)) == [("CVM021", "error", "torch")]


def test_what_fails_at_the_first_use_alone_is_a_warning():
    assert brief(judge(load("libcudnn.so.9"), *FAR)) == [("CVM021", "warning", "torch")]


def test_the_same_copy_beside_torch_and_elsewhere_is_quiet():
    assert judge(load("libcudnn.so.9", error=ERROR), *FAR, *NEAR) == []


def test_another_missing_library_is_no_split():
    assert judge(load("libpython3.11.so.1.0", error=ERROR), *FAR, elsewhere={}) == []
    assert judge(load("libcuda.so.1", error=ERROR), *FAR, elsewhere={}) == []
    elsewhere = {"libcudnn.so.9": ("/opt/cudnn/lib/libcudnn.so.9",)}
    assert judge(load("libcudnn.so.9", error=ERROR), *FAR, elsewhere=elsewhere) == []


def test_a_wheels_library_whose_files_are_unknown_is_one():
    assert brief(judge(load("libcudart.so.12", error=ERROR), *FAR, elsewhere={})) == [("CVM021", "error", "torch")]


def test_a_symbol_that_is_missing_is_no_split():
    assert judge(load("libcudnn.so.9", error=ERROR, kind=Kind.SYMBOL), *FAR) == []


def test_a_link_would_hide_what_lies_beside_torch_already():
    (finding,) = judge(load("libcudnn.so.9", error=ERROR), FAR[0], NEAR[1])
    assert finding.hint == (
        f"# the packages must come to lie in {SITE}",
        "PYTHONNOUSERSITE=1 /venv/bin/python -m pip install --ignore-installed --no-deps nvidia-cudnn-cu12==9.1.0.70",
    )


@pytest.mark.parametrize("folder", ["/opt/it's here", "/opt/$x y"])
def test_folders_are_quoted(folder):
    far = dist("nvidia-cudnn-cu12", "9.1.0.70", folder=folder)
    search = (*SEARCH, SearchFolder(folder, "PYTHONPATH[0]"))
    (finding,) = judge(load("libcudart.so.12", error=ERROR), far, elsewhere={}, search=search)
    assert commands(finding) == [["ln", "-sT", f"{folder}/nvidia", f"{SITE}/nvidia"]]
    assert finding.evidence["culprit"] == f"PYTHONPATH[0]={folder}"


def test_an_error_at_the_first_use_is_an_error():
    now = load("libcudnn.so.9", handled=True)
    now = now._replace(steps=tuple(step._replace(first_use=True) for step in now.steps))
    one = consumer(TORCH, now=now, elsewhere={"libcudnn.so.9": (CUDNN,)})
    one = one._replace(first_use_error="RuntimeError: cuDNN")
    (finding,) = check(case(one, python=python(TORCH, *FAR, search=BOTH)))
    assert brief([finding]) == [("CVM021", "error", "torch")]
    assert finding.evidence["error"] == "RuntimeError: cuDNN"


def test_what_the_import_got_over_is_not_why_a_later_use_fails():
    one = consumer(TORCH, now=load("libcudnn.so.9", handled=True), elsewhere={"libcudnn.so.9": (CUDNN,)})
    one = one._replace(first_use_error="RuntimeError: cuDNN version incompatibility")
    assert list(check(case(one, python=python(TORCH, *FAR, search=BOTH)))) == []


def test_libraries_in_two_other_folders_are_installed_anew():
    search = (SearchFolder("/opt/site", "PYTHONPATH[0]"), *SEARCH, SearchFolder("/more", "a.pth"))
    far = dist("nvidia-cudnn-cu12", "9.1.0.70", folder="/opt/site"), dist("nvidia-nccl-cu12", "2.21.5", folder="/more")
    (finding,) = judge(load("libcudart.so.12", error=ERROR), *far, elsewhere={}, search=search)
    pip = "/venv/bin/python -m pip install --ignore-installed --no-deps"
    assert finding.hint[1] == f"{pip} nvidia-cudnn-cu12==9.1.0.70 nvidia-nccl-cu12==2.21.5"


def test_other_packages_may_lie_anywhere():
    far = dist("filelock", "3.0", folder=USER)
    assert judge(load("libcudart.so.12", error=ERROR), far, *NEAR, elsewhere={}) == []


def test_without_a_python_there_is_nothing_to_split():
    assert list(check(case(consumer(TORCH, now=load("libcudnn.so.9", error=ERROR))))) == []
