"""CVM020: libraries that another package has overwritten or taken along.

Must stay quiet: the namespace's `__init__.py`, which all NVIDIA wheels share; CUDA 13's wheels in a folder of their own;
a shared file that is the one which the consumer requires; packages that are no variants of one library; the record of
an older version that an upgrade left; a copy that nobody reaches.
"""

from __future__ import annotations

import pytest

from cvm.core.packages import LostFile, SearchFolder, SharedFile
from cvm.doctor.checks.clobbered import check
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
    loaded,
    python,
    torch_dist,
)

NCCL = f"{SITE}/nvidia/nccl/lib/libnccl.so.2"
CUDNN = f"{SITE}/nvidia/cudnn/lib/libcudnn_adv.so.9"
CU11, CU12, CU13 = (dist(f"nvidia-nccl-cu{n}", v) for n, v in ((11, "2.14.3"), (12, "2.21.5"), (13, "2.29.7")))
TORCH = torch_dist()


def shared(holder, *owners, path=NCCL, there=True):
    return SharedFile(path, owners or (CU12, CU13), holder, there)


def judge(*, shared=(), lost=(), packages=(CU12, CU13), torch=TORCH, now=None, more=()):
    environment = python(torch, *packages, *more)
    return list(check(case(consumer(torch, now=now), python=environment, shared=tuple(shared), lost=tuple(lost))))


def test_an_overwritten_library_is_an_error():
    (finding,) = judge(shared=[shared(CU13)])
    assert brief([finding]) == [("CVM020", "error", "torch")]
    assert finding.summary == (
        "nvidia-nccl-cu13 2.29.7 has overwritten libnccl.so.2 of nvidia-nccl-cu12 2.21.5, which torch 2.5.1 requires"
    )
    assert finding.evidence == {
        "culprit": NCCL,
        "wanted": "nvidia-nccl-cu12 2.21.5",
        "files": (NCCL,),
        "winner": "nvidia-nccl-cu13 2.29.7",
    }
    assert finding.hint == (
        (
            "/venv/bin/python -m pip uninstall -y nvidia-nccl-cu12 nvidia-nccl-cu13"
            " && /venv/bin/python -m pip install --no-deps nvidia-nccl-cu12==2.21.5"
        ),
    )


def test_the_required_library_is_quiet():
    assert judge(shared=[shared(CU12)]) == []


def test_a_required_package_of_another_version_is_not_a_clobber():
    other = dist("nvidia-nccl-cu12", "2.29.3")
    assert judge(shared=[shared(other, other, CU13)], packages=(other, CU13)) == []


def test_all_variants_are_uninstalled_also_those_that_own_nothing_here():
    others = dist("nvidia-cudnn-cu12", "9.1.0.70"), dist("nvidia-nccl", "1.0")
    (finding,) = judge(shared=[shared(CU13)], packages=(CU11, CU12, CU13, *others))
    assert commands(finding)[0][4:9] == ["-y", "nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13", "&&"]
    assert_never_leaves_a_hole([finding])


def test_the_pinned_version_is_installed_again_else_the_one_that_was_there():
    other = dist("nvidia-nccl-cu12", "2.29.3")
    (finding,) = judge(lost=[LostFile(NCCL, other)], packages=(other,))
    assert commands(finding)[0][-1] == "nvidia-nccl-cu12==2.21.5"
    loose = dist("torch", "2.5.1", "nvidia-nccl-cu12>=2.20")
    (finding,) = judge(lost=[LostFile(NCCL, other)], packages=(other,), torch=loose)
    assert commands(finding)[0][-1] == "nvidia-nccl-cu12==2.29.3"


def test_a_package_that_somebody_else_requires_is_not_uninstalled():
    other = dist("vllm", "1.0", "nvidia-nccl-cu13>=2.28")
    (finding,) = judge(shared=[shared(CU13)], more=(other,))
    assert finding.hint == (
        "# vllm 1.0 requires nvidia-nccl-cu13: give these an environment of their own, only one variant can have the files",
        "/venv/bin/python -m pip install --force-reinstall --no-deps nvidia-nccl-cu12==2.21.5",
    )


def test_files_of_one_package_are_one_finding():
    paths = [CUDNN, CUDNN.replace("_adv", "_ops")]
    owners = dist("nvidia-cudnn-cu12", "9.1.0.70"), dist("nvidia-cudnn-cu13", "9.20.0.48")
    (finding,) = judge(shared=[shared(owners[1], *owners, path=path) for path in paths], packages=owners)
    assert finding.evidence["files"] == tuple(paths)


def test_a_bare_name_is_a_library_too():
    assert brief(judge(shared=[shared(CU13, path=f"{SITE}/nvidia/nccl/lib/libnccl.so")])) == [
        ("CVM020", "error", "torch")
    ]


def test_a_file_that_the_namespace_shares_is_quiet():
    assert judge(shared=[shared(CU13, path=f"{SITE}/nvidia/__init__.py")]) == []


def test_a_changed_file_of_nobodys_is_a_warning():
    (finding,) = judge(shared=[shared(None)])
    assert brief([finding]) == [("CVM020", "warning", "torch")]
    assert "winner" not in finding.evidence


def test_a_shared_file_that_is_gone_is_told_once():
    lost = [LostFile(NCCL, CU12), LostFile(NCCL, CU13)]
    (finding,) = judge(shared=[shared(None, there=False)], lost=lost)
    assert brief([finding]) == [("CVM020", "error", "torch")]
    assert finding.evidence["missing"] == "libnccl.so.2"


def test_a_library_that_went_with_another_package_is_an_error():
    (finding,) = judge(lost=[LostFile(NCCL, CU12)], packages=(CU12,))
    assert brief([finding]) == [("CVM020", "error", "torch")]
    assert finding.summary == "libnccl.so.2 of nvidia-nccl-cu12 2.21.5, which torch 2.5.1 requires, is gone"
    assert finding.hint == (
        (
            "/venv/bin/python -m pip uninstall -y nvidia-nccl-cu12"
            " && /venv/bin/python -m pip install --no-deps nvidia-nccl-cu12==2.21.5"
        ),
    )


def test_nothing_lost_and_nothing_shared_is_quiet():
    assert judge() == []


def test_the_record_that_an_upgrade_left_accuses_nobody():
    old = dist("nvidia-cudnn-cu12", "8.9.2.26")
    new = dist("nvidia-cudnn-cu12", "9.1.0.70")
    gone = LostFile(f"{SITE}/nvidia/cudnn/lib/libcudnn_ops_infer.so.8", old)
    assert judge(lost=[gone], packages=(old, new)) == []
    assert brief(judge(lost=[gone], packages=(old,))) == [("CVM020", "error", "torch")]


def test_a_copy_that_the_consumer_does_not_reach_is_no_error():
    far = dist("nvidia-nccl-cu12", "2.21.5", folder=USER)
    environment = python(TORCH, CU12, far, search=(*SEARCH, SearchFolder(USER, "user site")))
    lost = (LostFile(f"{USER}/nvidia/nccl/lib/libnccl.so.2", far),)
    assert brief(check(case(consumer(TORCH), python=environment, lost=lost))) == [("CVM020", "warning", "")]


def test_a_package_that_nobody_requires_is_a_warning():
    extra = dist("jax-cuda12-plugin", "0.4.30", 'nvidia-nccl-cu12>=2.18.1; extra == "with-cuda"')
    for holder, loser in ((CU13, CU12), (CU12, CU13)):
        found = judge(shared=[shared(holder)], torch=extra)
        assert brief(found) == [("CVM020", "warning", "")]
        assert found[0].evidence["wanted"] == str(loser)
    found = judge(lost=[LostFile(NCCL, CU12)], torch=extra, packages=(CU12,))
    assert brief(found) == [("CVM020", "warning", "")]


def test_packages_that_are_no_variants_of_one_library_are_quiet():
    owners = dist("opencv-python", "4.9"), dist("opencv-python-headless", "4.10")
    assert judge(shared=[shared(owners[1], *owners, path=f"{SITE}/cv2/cv2.abi3.so")], packages=owners) == []
    owners = dist("nvidia-foo-cu12", "1.0"), dist("nvidia-bar-cu12", "1.0")
    assert judge(shared=[shared(owners[1], *owners)], packages=owners) == []
    owners = dist("opencv-python", "4.9"), dist("opencv-python-headless", "4.10")
    assert judge(lost=[LostFile(f"{SITE}/cv2/cv2.abi3.so", owners[0])], packages=owners) == []


@pytest.mark.parametrize(("error", "severity"), [(None, "warning"), ("OSError: libtorch_cuda.so", "error")])
def test_a_library_of_the_consumer_itself_is_an_error_where_it_fails(error, severity):
    lost = [LostFile(f"{SITE}/torch/lib/libtorch_cuda_linalg.so", TORCH)]
    (finding,) = judge(lost=lost, packages=(), now=load(error=error))
    assert brief([finding]) == [("CVM020", severity, "torch")]
    assert "requires" not in finding.summary


def test_a_requirement_of_another_processor_is_none():
    arm = loaded("/lib/ld-linux-aarch64.so.1")
    assert brief(judge(shared=[shared(CU13)], now=load(files=(arm,)))) == [("CVM020", "warning", "")]
