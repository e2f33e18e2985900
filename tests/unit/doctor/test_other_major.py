"""Builds for another major of CUDA, and links that hide them."""

from __future__ import annotations

from tests.unit.doctor.worlds import SITE

NAME = "libcudart.so.11.0"
THERE = f"%/{SITE}/nvidia/cuda_runtime/lib/libcudart.so.12"


def root(env, name=NAME, **options):
    path = f"{SITE}/thing/_C.so"
    env.lib(path, "", [name], rpath="$ORIGIN")
    env.open(path, **options)
    return path


def test_only_the_other_major_is_here(env):
    path = root(env)
    finding = env.only(env.consumer("thing", "1.0", elsewhere={NAME: (THERE,)}))
    assert (finding.code, finding.severity) == ("CVM008", "error")
    assert finding.summary == (
        f"thing 1.0 won't import: _C.so was built for CUDA 11, and of libcudart only 12 is here ({env.text(THERE)})"
    )
    assert finding.hint[1] == "python -m pip install --upgrade thing"
    assert env.told(path) == finding.evidence["error"]


def test_both_majors_are_here(env):
    path = root(env)
    env.cuda(f"opt/{NAME}")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    assert env.told(path) is None
    assert env.judged(env.consumer("thing", "1.0", elsewhere={NAME: (THERE,)})) == ()


def test_a_silent_use_of_the_cpu(env):
    root(env, "libcudnn.so.8", handled=True)
    there = {"libcudnn.so.8": ("/usr/lib/libcudnn.so.9",)}
    finding = env.only(env.consumer("tensorflow", "2.12.0", elsewhere=there))
    assert (finding.code, finding.severity) == ("CVM008", "warning")
    assert "_C.so: it was built for cuDNN 8, and of libcudnn only 9 is here" in finding.summary
    assert env.only(env.consumer("tensorflow", "2.12.0", elsewhere=there), gpu=False).severity == "warning"


def test_code_that_tries_one_major_after_the_other(env):
    env.open("libnvrtc.so.11.2", handled=True)
    env.open(env.wheel("cuda_nvrtc", "libnvrtc.so.12"))
    there = {"libnvrtc.so.11.2": ("/x/libnvrtc.so.12",)}
    assert env.judged(env.consumer(elsewhere=there)) == ()


def test_a_link_made_by_hand(env):
    real = env.wheel("cublas", "libcublas.so.12")
    env.symlink("opt/libcublas.so.11", f"%/{real}")
    path = root(env, "libcublas.so.11")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    finding = env.only()
    assert env.told(path) is None
    assert (finding.code, finding.severity) == ("CVM008", "warning")
    assert f"{env.root}/opt/libcublas.so.11 is named libcublas.so.11 and is libcublas.so.12" in finding.summary


def test_a_link_made_by_hand_that_fails(env):
    """The versions of its symbols carry the major."""
    env.cuda("build/libcublas.so.11", "int cublasCreate(){return 1;}")
    env.cuda("real/libcublas.so.12", "int cublasCreate(){return 1;}")
    env.symlink("opt/libcublas.so.11", "%/real/libcublas.so.12")
    path = f"{SITE}/thing/_C.so"
    env.lib(path, "int cublasCreate();int f(){return cublasCreate();}", ["build/libcublas.so.11"])
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open(path)
    finding = env.only()
    assert (finding.code, finding.severity) == ("CVM008", "error")
    assert env.told(path) == finding.evidence["error"]


def test_a_link_of_the_same_major(env):
    real = env.cuda("real/libcublas.so.12.4.5.8", soname="libcublas.so.12")
    env.symlink("opt/libcublas.so.12", f"%/{real}")
    root(env, "libcublas.so.12")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    assert env.judged() == ()


def test_a_whole_version_in_the_files_own_name(env):
    """`libcupti.so.2024.1.1` says that it is libcupti.so.12, and `libcufile.so.1.9.1` is libcufile.so.0."""
    env.open(env.cuda("opt/libcupti.so.2024.1.1", soname="libcupti.so.12"))
    env.open(env.cuda("opt/libcufile.so.1.9.1", soname="libcufile.so.0"))
    assert env.judged() == ()


def test_the_very_name_where_nobody_looks_tells_more(env):
    root(env)
    there = {NAME: ("/x/libcudart.so.12", f"/y/{NAME}")}
    finding = env.only(env.consumer("thing", "1.0", elsewhere=there))
    assert (finding.code, finding.hint) == ("CVM001", ("export LD_LIBRARY_PATH=/y",))


def test_a_newer_build_is_no_advice_for_an_older_cuda(env):
    root(env, "libcublasLt.so.13")
    there = {"libcublasLt.so.13": ("/x/libcublasLt.so.12",)}
    finding = env.only(env.consumer("onnxruntime", "1.31", elsewhere=there))
    assert finding.code == "CVM008"
    assert not any("--upgrade" in line for line in finding.hint)
