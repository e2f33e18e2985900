"""A compiler from before CUDA 13, which only archives have: the nvcc 12.4 that Debian redistributes, in NVIDIA's layout."""

from pathlib import Path

import pytest

from tests.fakes.redist import publish
from tests.fakes.server import Server
from tests.fakes.toolkit import Member
from tests.real.debian import UnavailableError, unpack_package
from tests.real.home import Home
from tests.real.programs import (
    CALLED_CU,
    CALLER_CU,
    KERNEL_CU,
    KERNEL_PRINTS,
    LIBRARIES_CU,
    compile_cu,
    host_compiler,
    run_tool,
)
from tests.real.repack import download

pytestmark = [pytest.mark.network, pytest.mark.big]

_RELEASE = "12.4.1"
_COMPONENTS = ("cuda_nvcc", "cuda_cudart", "cuda_cccl")
_NVCC = "12.4.131"
# Where the package has the files of NVIDIA's component cuda_nvcc; its wrapper scripts stay out.
_PRIVATE = "usr/lib/nvidia-cuda-toolkit"
_PROGRAMS = {
    **{f"bin/{name}": f"usr/bin/{name}" for name in ("ptxas", "cudafe++", "fatbinary", "nvlink", "bin2c")},
    "bin/__nvcc_device_query": "usr/bin/__nvcc_device_query",
    "bin/nvcc": f"{_PRIVATE}/bin/nvcc",
    "nvvm/bin/cicc": f"{_PRIVATE}/bin/cicc",
}
_FILES = {
    "bin/crt/link.stub": f"{_PRIVATE}/bin/crt/link.stub",
    "bin/crt/prelink.stub": f"{_PRIVATE}/bin/crt/prelink.stub",
    "nvvm/libdevice/libdevice.10.bc": f"{_PRIVATE}/libdevice/libdevice.10.bc",
}
# The wheels have no static runtime, and Debian's is a gigabyte away.
_SHARED = ("-cudart", "shared", "-cudadevrt", "none")


@pytest.fixture(scope="module")
def package(scratch, home):
    try:
        return unpack_package("nvidia-cuda-toolkit", "trixie", scratch / "apt", home.environment)
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def server(scratch, home, package):
    wheels, root = scratch / "wheels", scratch / "server"
    wheels.mkdir()
    parts = {
        key: (wheel.version, wheel.members())
        for key, wheel in download("cuda", _RELEASE, _COMPONENTS, _RELEASE, wheels, home.environment).items()
    }
    version, headers = parts["cuda_nvcc"]
    compiler = {path: Member((package / place).read_bytes(), 0o755) for path, place in _PROGRAMS.items()}
    data = {path: Member((package / place).read_bytes()) for path, place in _FILES.items()}
    assert version == _NVCC
    assert headers["bin/ptxas"].data == compiler["bin/ptxas"].data
    parts["cuda_nvcc"] = (version, headers | compiler | data)
    for name in ("cuobjdump", "nvdisasm"):
        parts[f"cuda_{name}"] = (_NVCC, {f"bin/{name}": Member((package / "usr/bin" / name).read_bytes(), 0o755)})
    publish(root, "cuda", _RELEASE, parts)
    folder = root / "compute/cuda/redist"
    (folder / "index.html").write_text(f'<a href="redistrib_{_RELEASE}.json">redistrib_{_RELEASE}.json</a>\n')
    with Server(root) as server:
        yield server


@pytest.fixture(scope="module")
def prefix(home, server):
    home = Home(home.folder, {**home.environment, "CVM_REDIST_URL": f"{server.url}/compute/"})
    home.cvm("manifest", "refresh", "cuda", "--force")
    return Path(home.install(_RELEASE, "--source", "redist")["prefix"])


@pytest.fixture(scope="module")
def flags():
    return (*_SHARED, "-ccbin", host_compiler(newest=13))


def test_nvcc_of_the_prefix_is_the_old_one(prefix, tmp_path):
    assert f"release 12.4, V{_NVCC}" in run_tool(prefix, tmp_path, "nvcc", "--version")


def test_it_compiles_kernel_and_host_code_that_runs(prefix, flags, tmp_path):
    assert compile_cu({"kernel.cu": KERNEL_CU}, prefix, tmp_path, *flags) in KERNEL_PRINTS
    assert "sm_80" in run_tool(prefix, tmp_path, "cuobjdump", "-lelf", "program")


def test_it_links_device_code_in_two_files(prefix, flags, tmp_path):
    sources = {"caller.cu": CALLER_CU, "called.cu": CALLED_CU}

    assert compile_cu(sources, prefix, tmp_path, "-rdc=true", *flags) in KERNEL_PRINTS


def test_thrust_cub_and_the_standard_library_compile(prefix, flags, tmp_path):
    assert compile_cu({"libraries.cu": LIBRARIES_CU}, prefix, tmp_path, *flags) == "1 2 3\n"
