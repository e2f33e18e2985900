from __future__ import annotations

import pytest

from cvm.errors import UsageError
from cvm.prefix.probe import companion_versions, toolkit_version
from tests.fakes.toolkit import cudnn, merged, nccl, text, write_tree


def test_a_foreign_toolkit_is_read_from_its_headers(tmp_path):
    root = write_tree({**merged("12.1.1"), **cudnn("8.9.4.25"), **nccl("2.18.3")}, tmp_path / "cuda")
    assert str(toolkit_version(root)) == "12.1"
    assert companion_versions(root) == (("cudnn", "8.9.4"), ("nccl", "2.18.3"))


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"version.json": '{"cuda": {"name": "CUDA SDK", "version": "11.6.1"}}'}, "11.6.1"),
        ({"version.json": '{"cuda": {"name": "CUDA SDK", "version": "12.1.20230222"}}'}, "12.1"),
        ({"version.json": "{", "version.txt": "CUDA Version 10.2.89\n"}, "10.2"),
        ({"version.json": '{"cuda": {"version": 12}}', "version.txt": "CUDA Version 9.0.176\n"}, "9.0"),
        ({"include/cuda.h": "#define CUDA_VERSION 13000\n"}, "13.0"),
        ({"include/cuda_runtime_api.h": "#define CUDART_VERSION  11080\n"}, "11.8"),
        ({"include/cuda.h": "// none\n", "include/cuda_runtime_api.h": "#define CUDART_VERSION 12090\n"}, "12.9"),
    ],
)
def test_the_version_is_found_wherever_it_is_stated(tmp_path, files, version):
    write_tree({path: text(content) for path, content in files.items()}, tmp_path)
    assert str(toolkit_version(tmp_path)) == version


def test_a_folder_without_a_version_is_no_toolkit(tmp_path):
    with pytest.raises(UsageError) as error:
        toolkit_version(tmp_path)
    assert error.value.message == (
        f"{tmp_path} is not a CUDA toolkit: no version in version.json, version.txt, include/cuda.h and include/cuda_runtime_api.h"
    )


def test_a_missing_folder_is_said_to_be_missing(tmp_path):
    with pytest.raises(UsageError, match=r"/gone is not a folder$"):
        toolkit_version(tmp_path / "gone")


def test_an_old_cudnn_states_its_version_in_cudnn_h(tmp_path):
    write_tree(
        {"include/cudnn.h": text("#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n")},
        tmp_path,
    )
    assert companion_versions(tmp_path) == (("cudnn", "7.6.5"),)
