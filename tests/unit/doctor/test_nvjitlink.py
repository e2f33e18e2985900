"""nvJitLink: the minor stands in the names of its functions."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

CUSPARSE = f"{SITE}/nvidia/cusparse/lib/libcusparse.so.12"
JITLINK = f"{SITE}/nvidia/nvjitlink/lib/libnvJitLink.so.12"


def functions(*minors):
    return "".join(f"int __nvJitLinkComplete_12_{minor}(){{return 1;}}" for minor in minors)


@pytest.fixture
def torch(env):
    env.wheel("nvjitlink", "libnvJitLink.so.12", functions(0, 1, 4), version="12.4.127")
    code = "int __nvJitLinkComplete_12_4();int cusparseCreate(){return __nvJitLinkComplete_12_4();}"
    env.wheel("cusparse", "libcusparse.so.12", code, [JITLINK], version="12.3.1.170")
    env.root_lib = env.torch("libtorch_cuda.so", "", [CUSPARSE])
    env.open(env.root_lib)
    return env


def shadow(env, *minors, version):
    env.cuda("opt/cuda/lib64/libnvJitLink.so.12", functions(*minors), version=version)
    env.environment["LD_LIBRARY_PATH"] = "%/opt/cuda/lib64"


def test_an_older_toolkit_in_front(torch):
    shadow(torch, 0, 1, version="12.1.105")
    finding = torch.only()
    assert (finding.code, finding.severity) == ("CVM003", "error")
    assert finding.summary == (
        "torch 2.5.1 won't import: LD_LIBRARY_PATH puts the libnvJitLink.so.12 of CUDA 12.1 "
        "before the 12.4 that libcusparse.so.12 was built with"
    )
    assert finding.evidence["symbol"] == "__nvJitLinkComplete_12_4"
    assert finding.evidence["culprit"] == f"LD_LIBRARY_PATH[0]={torch.root}/opt/cuda/lib64"
    assert finding.hint[:2] == ("env -u LD_LIBRARY_PATH python -c 'import torch'", "unset LD_LIBRARY_PATH")
    assert torch.told(torch.root_lib) == finding.evidence["error"]


def test_a_newer_toolkit_in_front(torch):
    shadow(torch, 0, 1, 4, 8, version="12.8.93")
    assert torch.told(torch.root_lib) is None
    assert torch.judged() == ()


def test_packages_that_do_not_fit(torch):
    torch.wheel("nvjitlink", "libnvJitLink.so.12", functions(0, 1), version="12.1.105")
    finding = torch.only()
    assert (finding.code, finding.evidence["error"]) == ("CVM003", torch.told(torch.root_lib))
    assert finding.summary == (
        "torch 2.5.1 won't import: libcusparse.so.12 needs the nvJitLink of CUDA 12.4, "
        "and that of CUDA 12.1 is installed"
    )
    assert finding.hint == ("python -m pip install 'nvidia-nvjitlink-cu12>=12.4,<13'",)


def test_packages_that_fit_and_a_path_without_it(torch):
    torch.environment["LD_LIBRARY_PATH"] = "/nowhere:%/venv"
    assert torch.judged() == ()


def test_without_a_version_the_file_is_named(torch):
    shadow(torch, 0, version=None)
    assert (
        f"LD_LIBRARY_PATH puts {torch.root}/opt/cuda/lib64/libnvJitLink.so.12 before the 12.4" in torch.only().summary
    )


def test_words_at_the_first_use_do_not_say_why(torch):
    """As of jax: it tries its libraries one by one, and then only says that one is missing."""
    shadow(torch, 0, 1, version="12.1.105")
    torch.opens[:] = [(name, {**how, "handled": True}) for name, how in torch.opens]
    words = "RuntimeError: Unable to load cuSPARSE. Is it installed?"
    finding = torch.only(torch.consumer("jax_cuda12_plugin", "0.5")._replace(first_use_error=words))
    assert (finding.code, finding.severity) == ("CVM003", "error")
    assert finding.summary.startswith("jax_cuda12_plugin 0.5 fails at the first use of libtorch_cuda.so: LD_LIBRARY")
    # Told once, and not again as a warning.
    assert finding.consequences == ()


def test_a_newer_cusparse_in_front(torch):
    """nvJitLink is the wheel's own and good; what asks it for more is the stranger."""
    code = "int __nvJitLinkComplete_12_9();int f(){return __nvJitLinkComplete_12_9();}"
    newer = torch.cuda("build/libnvJitLink.so.12", functions(9))
    torch.cuda("opt/libcusparse.so.12", code, [newer], version="12.5.10.65")
    root = f"{SITE}/other/_C.so"
    torch.lib(root, "", [CUSPARSE], runpath="$ORIGIN/../nvidia/cusparse/lib")
    torch.environment["LD_LIBRARY_PATH"] = "%/opt"
    torch.opens.clear()
    torch.open(JITLINK)
    torch.open(root)
    finding = torch.only()
    assert (finding.code, finding.evidence["culprit"]) == ("CVM003", f"LD_LIBRARY_PATH[0]={torch.root}/opt")
    assert finding.summary.endswith("and it needs the nvJitLink of CUDA 12.9, but gets that of CUDA 12.4")
    assert torch.told(JITLINK, root) == finding.evidence["error"]
