"""What cuDNN opens at its first use, and which version answers."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from cvm.consumers.cudnn import open_siblings, versions
from cvm.consumers.cudnn_file import file_version, split
from cvm.elf.files import Disk
from tests.unit.consumers.stand_ins import cudnn, loaded, steps


def opened(site, path="wheel/libcudnn.so.9", **environment):
    site.environment = {name: value.replace("%", str(site.root)) for name, value in environment.items()}
    session = site.session()
    session.open(str(site.folder / path), "", "")
    session.import_ends()
    return session, open_siblings(session)


def test_members_are_opened_in_the_order_of_their_use_and_engines_may_be_missing(site):
    cudnn(site, "wheel")
    session, complaint = opened(site)
    names = ["libcudnn.so.9", *(f"libcudnn_{name}.so.9" for name in ("graph", "ops", "cnn", "adv"))]
    assert loaded(session) == [f"wheel/{name}" for name in names]
    assert steps(session)[-1] == ('dlopen("libcudnn_engines_precompiled.so.9")', False, True, True)
    assert complaint is None


def test_members_open_others_in_turn(site):
    cudnn(site, "wheel", members=("ops", "cnn", "adv", "engines_precompiled"))
    session, _ = opened(site)
    assert loaded(session)[-1] == "wheel/libcudnn_engines_precompiled.so.9"


def test_the_full_version_is_asked_for_before_the_major_and_its_folder_comes_first(site):
    """The system's cuDNN has files with full versions; a wheel has not, though its own folder comes later."""
    cudnn(site, "wheel")
    code = "const unsigned cudnn_graph_version = 0x90100; long cudnnGetVersion(void) { return 1; }"
    site.lib("system/libcudnn_graph.so.9.1.0", code, soname="libcudnn_graph.so.9")
    session, _ = opened(site, LD_LIBRARY_PATH="%/site/system")
    assert loaded(session)[1] == "system/libcudnn_graph.so.9.1.0"


def test_another_version_first_in_the_path_answers(site):
    cudnn(site, "wheel", (9, 10, 2))
    cudnn(site, "old", (9, 1, 0))
    session, _ = opened(site, LD_LIBRARY_PATH="%/site/old")
    found = versions(site.distribution("torch"), session)
    assert (found.runtime, found.answered_by) == ((9, 1, 0), str(site.folder / "old/libcudnn_graph.so.9"))


def test_a_missing_member_is_what_cudnn_ends_the_process_for(site):
    cudnn(site, "wheel", members=("ops", "cnn"))
    session, complaint = opened(site)
    assert complaint == (
        "Unable to load any of {libcudnn_adv.so.9.1.0, libcudnn_adv.so.9.1, libcudnn_adv.so.9, libcudnn_adv.so}"
    )
    assert ('dlopen("libcudnn_adv.so.9")', False, False, True) in steps(session)


def test_an_engine_that_lacks_a_symbol_is_no_optional_one(site):
    cudnn(site, "wheel")
    site.lib("wheel/libcudnn_engines_precompiled.so.9", "int gone(); int call() { return gone(); }")
    session, _ = opened(site)
    call, ok, handled, _ = steps(session)[-1]
    assert (call, ok, handled) == ('dlopen("libcudnn_engines_precompiled.so.9")', False, False)
    assert session.steps[-1].outcome.failure.symbols[0].name == "gone"


def test_an_engine_that_only_lacks_the_driver_is_excused(site):
    cudnn(site, "wheel")
    site.lib("wheel/libcudnn_engines_precompiled.so.9", needs=["libcuda.so.1"])
    session, complaint = opened(site)
    assert steps(session)[-1][1:3] == (False, True)
    assert complaint is None


def test_cudnn_8_names_its_members_in_full(site):
    site.lib("wheel/libcudnn.so.8", 'const char *n = "libcudnn_ops_infer.so.8";', soname="libcudnn.so.8")
    _, complaint = opened(site, "wheel/libcudnn.so.8")
    name = "libcudnn_ops_infer.so.8"
    reason = f"{name}: cannot open shared object file: No such file or directory"
    assert complaint == f"Could not load library {name}. Error: {reason}"


@pytest.mark.parametrize(("link", "complains"), [(True, False), (False, True)])
def test_cudnn_8_wants_the_driver_without_a_number_where_there_is_a_driver(site, link, complains):
    site.lib("wheel/libcudnn_cnn_infer.so.8", 'const char *n = "libcuda.so";', soname="libcudnn_cnn_infer.so.8")
    site.lib("driver/libcuda.so.1", soname="libcuda.so.1")
    if link:
        (site.folder / "driver/libcuda.so").symlink_to("libcuda.so.1")
    _, complaint = opened(site, "wheel/libcudnn_cnn_infer.so.8", LD_LIBRARY_PATH="%/site/driver")
    assert (complaint is not None) is complains


def test_large_files_are_not_searched_for_names(site):
    """A small file has the names of the large one, and another has none."""
    for name, code in (("cnn_infer", "int x;"), ("adv_infer", 'const char *n = "libcudnn_cnn_train.so.8";')):
        site.lib(f"wheel/libcudnn_{name}.so.8", code, soname=f"libcudnn_{name}.so.8")
    session, _ = opened(site, "wheel/libcudnn_cnn_infer.so.8")
    assert [call for call, *_ in steps(session)][1:] == ['dlopen("libcudnn_cnn_train.so.8")']
    path = site.lib(
        "wheel/libcudnn_heuristic.so.9", 'const char *n = "libcudnn_ops.so";', soname="libcudnn_heuristic.so.9"
    )
    assert len(opened(site, path)[0].steps) == 1


def test_without_cudnn_nothing_is_opened(site):
    session = site.session()
    assert open_siblings(session) is None
    assert session.steps == []


# -- versions


@pytest.mark.parametrize(
    ("number", "version"), [(7605, (7, 6, 5)), (8907, (8, 9, 7)), (91002, (9, 10, 2)), (512, None)]
)
def test_numbers_of_both_ages_are_split(number, version):
    assert split(number) == version


def test_the_number_in_the_code_is_what_a_call_returns(site):
    path = site.lib("libcudnn.so.7", "unsigned long cudnnGetVersion(void) { return 7605; }")
    number = ctypes.CDLL(path).cudnnGetVersion()
    assert split(number) == file_version(Disk(), path) == (7, 6, 5)


def test_the_number_in_the_code_for_arm_is_read(site, tmp_path):
    """`movz w0, #0x6a80; movk w0, #1, lsl 16; ret` as bytes, in a file that says it is for aarch64."""
    words = ".long 0x528d5000, 0x72a00020, 0xd65f03c0"
    path = site.lib(
        "x.so", f'__asm__(".globl cudnnGetVersion\\n.type cudnnGetVersion,@function\\ncudnnGetVersion: {words}");'
    )
    data = bytearray(Path(path).read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "arm.so").write_bytes(data)
    assert file_version(Disk(), str(tmp_path / "arm.so")) == (9, 28, 0)


def test_the_name_then_the_header_tell_where_the_code_does_not(site):
    path = site.lib("lib/libcudnn_adv.so.8.9.7", "int x;")
    assert file_version(Disk(), path) == (8, 9, 7)
    path = site.lib("lib/libcudnn_adv.so.8", "int x;")
    assert file_version(Disk(), path) is None
    numbers = {"MAJOR": 8, "MINOR": 6, "PATCHLEVEL": 1}
    site.write("include/cudnn_version.h", "".join(f"#define CUDNN_{name} {one}\n" for name, one in numbers.items()))
    assert file_version(Disk(), path) == (8, 6, 1)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("nvidia-cudnn-cu12==9.1.0.70; platform_system == 'Linux'", (9, 1, 0)),
        ("nvidia-cudnn-cu11 (==8.5.0.96) ; platform_system == 'Linux'", (8, 5, 0)),
        ("nvidia-cudnn-cu12<10.0,>=9.8; extra == 'with-cuda'", (9, 8, 0)),
        ("nvidia-cudnn-frontend==1.2.3", None),
    ],
)
def test_the_requirement_tells_what_a_package_was_compiled_with(site, line, version):
    distribution = site.distribution("some")._replace(requires=("numpy", line))
    assert versions(distribution, site.session()).compiled == version


def test_conda_tells_it_in_the_name_of_the_build(site):
    info = "/opt/conda/conda-meta/pytorch-2.0.1-py3.10_cuda11.7_cudnn8.5.0_0.json"
    assert versions(site.distribution("torch")._replace(info=info), site.session()).compiled == (8, 5, 0)
