"""The recipes of single packages, on stand-ins of the shape that the real packages have."""

from __future__ import annotations

import pytest

from cvm.consumers import (
    bitsandbytes,
    ctranslate2,
    cupy,
    jax,
    onnxruntime,
    tensorflow,
    tensorrt,
    torch_companions,
    triton,
)
from cvm.consumers.session import LoadError
from cvm.consumers.source_text import cuda_of
from tests.unit.consumers.stand_ins import loaded, record, steps


def play(site, recipe, distribution, *others):
    session = site.session(distribution, *others)
    try:
        recipe.load(distribution, session)
    except LoadError as error:
        return session, str(error)
    return session, None


def failures(session):
    return [(step.call, step.handled, step.first_use) for step in session.steps if not step.outcome.ok]


@pytest.fixture
def torch(site):
    site.extension("torch/_C.so")
    site.write("torch/__init__.py", "from torch._C import *\n")
    site.write("torch/version.py", "__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\nhip = None\n")
    return site.distribution("torch")


# -- ONNX Runtime


@pytest.fixture
def onnx(site):
    capi = "onnxruntime/capi"
    site.lib(f"{capi}/libonnxruntime_providers_shared.so")
    code = 'const char *a = "libcudnn"; const char *b = "libcufft";'
    site.lib(f"{capi}/libonnxruntime_providers_cuda.so", code, ["libcublas.so.12"])
    site.extension(f"{capi}/onnxruntime_pybind11_state.so")
    site.write("onnxruntime/__init__.py", 'PRELOADED = ["libcudnn.so.9"]\n')
    site.write(f"{capi}/build_and_package_info.py", "package_name = 'onnxruntime-gpu'\ncuda_version = '12.8'\n")
    return site.distribution("onnxruntime-gpu")


def test_onnxruntime_goes_on_without_its_provider_and_says_so(site, onnx):
    session, error = play(site, onnxruntime, onnx)
    path = f"{site.folder}/onnxruntime/capi/libonnxruntime_providers_cuda.so"
    reason = "libcublas.so.12: cannot open shared object file: No such file or directory"
    assert error is None
    assert session.complaint == f"Failed to load library {path} with error: {reason}"
    assert failures(session) == [(f"dlopen({path!r})", True, True)]


def test_onnxruntime_opens_cudnn_and_cufft_by_names_that_its_code_puts_together(site, onnx):
    for name in ("libcublas.so.12", "libcudnn.so.9"):
        site.lib(f"cuda/{name}", soname=name)
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "cuda")}
    session, _ = play(site, onnxruntime, onnx)
    assert [call for call, *_ in steps(session)][-2:] == ['dlopen("libcudnn.so.9")', 'dlopen("libcufft.so.11")']
    assert session.complaint.startswith("Failed to load library libcufft.so.11 with error: libcufft.so.11: ")


def test_onnxruntime_without_a_driver_complains_of_nothing(site, onnx):
    site.lib("onnxruntime/capi/libonnxruntime_providers_cuda.so", needs=["libcuda.so.1"])
    assert play(site, onnxruntime, onnx)[0].complaint is None


# -- JAX


@pytest.fixture
def plugin(site):
    folder = "jax_cuda12_plugin"
    rpath = "$ORIGIN/../nvidia/cuda_runtime/lib"
    for name in ("_versions", "_solver"):
        site.extension(f"{folder}/{name}.so", rpath=rpath)
    site.extension("jaxlib/_jax.so")
    site.lib("jax_plugins/xla_cuda12/xla_cuda_plugin.so")
    text = '_load("cuda_runtime", ["libcudart.so.12"])\n_load("cublas", ["libcublas.so.12", "libcublasLt.so.12"])\n'
    site.write("jax_plugins/xla_cuda12/__init__.py", text)
    names = ("cuda_runtime/lib/libcudart", "cublas/lib/libcublas", "cublas/lib/libcublasLt")
    for name in names:
        site.lib(f"nvidia/{name}.so.12", soname=f"{name.rpartition('/')[2]}.so.12")
    return site.distribution("jax-cuda12-plugin")


def test_jax_loads_nvidias_wheels_by_path_whatever_the_variables_say(site, plugin):
    site.lib("old/libcublas.so.12", "int old;", soname="libcublas.so.12")
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "old")}
    session, error = play(site, jax, plugin)
    assert error is None
    assert "nvidia/cublas/lib/libcublas.so.12" in loaded(session)
    assert "old/libcublas.so.12" not in loaded(session)


def test_jax_opens_the_runtime_at_the_import_and_the_rest_at_the_first_use(site, plugin):
    session, _ = play(site, jax, plugin)
    imported = [call for call, _, _, first in steps(session) if not first]
    assert imported == ["import _jax", "import _versions", "import _solver", 'dlopen("libcudart.so.12")']


def test_jax_says_which_library_it_can_not_ask(site, plugin):
    session, _ = play(site, jax, plugin)
    assert session.complaint == "RuntimeError: Unable to load cuDNN. Is it installed?"
    assert ('dlopen("libcudnn.so.9")', True, True) in failures(session)


def test_jax_dies_where_its_own_module_does(site, plugin):
    site.extension("jaxlib/_jax.so", ["libjax_common.so"])
    _, error = play(site, jax, plugin)
    assert error == "ImportError: libjax_common.so: cannot open shared object file: No such file or directory"


# -- TensorFlow


@pytest.fixture
def tf(site):
    package = "tensorflow/python"
    text = 'const char *t = "Could not load dynamic library \'";'
    site.lib("tensorflow/libtensorflow_framework.so.2", text, soname="libtensorflow_framework.so.2")
    framework = ["tensorflow/libtensorflow_framework.so.2"]
    site.extension(f"{package}/_pywrap_tensorflow_internal.so", framework, rpath="$ORIGIN/..")
    pairs = "[('cuda_version', '11.8'), ('cudnn_version', '8'), ('is_cuda_build', True)]"
    site.write(f"{package}/platform/build_info.py", f"build_info = collections.OrderedDict({pairs})\n")
    return site.distribution("tensorflow")


def test_tensorflow_opens_the_names_of_its_cuda_and_takes_the_cpu_where_one_is_missing(site, tf):
    for name in ("libcudart.so.11.0", "libcudnn.so.8"):
        site.lib(f"cuda/{name}", soname=name)
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "cuda")}
    session, error = play(site, tensorflow, tf)
    assert error is None
    assert session.complaint.startswith("Cannot dlopen some GPU libraries.")
    names = ("cublas.so.11", "cublasLt.so.11", "cufft.so.10", "cusolver.so.11", "cusparse.so.11")
    assert failures(session) == [(f'dlopen("lib{name}")', True, True) for name in names]
    assert session.steps[-1].source.endswith("libtensorflow_framework.so.2")
    # Kernels are registered with the runtime at the import.
    opened = [(step.outcome.name, step.first_use) for step in session.steps if step.outcome.ok][1:]
    assert opened == [("libcudart.so.11.0", False), ("libcudnn.so.8", True)]


# -- the others


@pytest.mark.parametrize(
    ("override", "chosen"),
    [(None, "121"), ("118", "118"), ("117", "117")],
    ids=["by torch", "forced", "forced, absent"],
)
def test_bitsandbytes_takes_the_nearest_older_build_for_torchs_cuda(site, torch, override, chosen):
    for version in ("118", "121", "126"):
        site.lib(f"bitsandbytes/libbitsandbytes_cuda{version}.so")
    site.environment = {"BNB_CUDA_VERSION": override} if override else {}
    session, error = play(site, bitsandbytes, site.distribution("bitsandbytes"), torch)
    path = f"{site.folder}/bitsandbytes/libbitsandbytes_cuda{chosen}.so"
    assert error is None
    assert steps(session)[-1] == (f"ctypes.cdll.LoadLibrary('{path}')", chosen != "117", True, False)
    assert session.complaint == (
        f"RuntimeError: No compatible CUDA binary found at {path}" if chosen == "117" else None
    )


def test_ctranslate2_opens_what_its_bundled_library_names(site):
    code = 'const char *a = "libcublas.so.12"; const char *b = "libnccl.so.2"; const char *c = "libcudnn.so.9";'
    site.lib("ctranslate2.libs/libctranslate2-a7a60d30.so.4", code, soname="libctranslate2-a7a60d30.so.4")
    site.extension(
        "ctranslate2/_ext.so", ["ctranslate2.libs/libctranslate2-a7a60d30.so.4"], rpath="$ORIGIN/../ctranslate2.libs"
    )
    session, _ = play(site, ctranslate2, site.distribution("ctranslate2"))
    assert failures(session) == [('dlopen("libcublas.so.12")', False, True), ('dlopen("libcudnn.so.9")', False, True)]
    assert session.complaint == "RuntimeError: Library libcublas.so.12 is not found or cannot be loaded"


def test_cupy_13_imports_its_modules_and_dies_of_a_missing_library(site):
    site.extension("cupy_backends/cuda/libs/cublas.so", ["libcublas.so.12"])
    site.extension("cupy_backends/cuda/libs/cutensor.so", ["libcutensor.so.2"])
    names = [f"cupy_backends/cuda/libs/{name}.so" for name in ("cublas", "cutensor")]
    _, error = play(site, cupy, record(site, "cupy-cuda12x", names))
    assert error == "ImportError: libcublas.so.12: cannot open shared object file: No such file or directory"


def test_cupy_14_takes_the_wheels_before_the_path(site):
    site.write("cupy_backends/cuda/libs/__init__.py", "from cuda import pathfinder\n")
    site.extension("cupy_backends/cuda/libs/cublas.so", ["libcublas.so.12"])
    for folder in ("nvidia/cublas/lib", "old"):
        site.lib(f"{folder}/libcublas.so.12", f"int {folder[:3]};", soname="libcublas.so.12")
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "old")}
    session, error = play(site, cupy, record(site, "cupy-cuda12x", ["cupy_backends/cuda/libs/cublas.so"]))
    assert (error, session.complaint) == (None, None)
    assert loaded(session) == ["nvidia/cublas/lib/libcublas.so.12", "cupy_backends/cuda/libs/cublas.so"]


@pytest.mark.parametrize(("asked", "complains"), [("libcuda.so.1", False), ("libcuda.so", True)])
def test_triton_wants_the_driver_under_the_name_that_its_release_looks_for(site, asked, complains):
    site.extension("triton/_C/libtriton.so")
    site.write(
        "triton/backends/nvidia/driver.py", f"any(os.path.exists(os.path.join(path, '{asked}')) for path in dirs)\n"
    )
    site.lib("driver/libcuda.so.1", soname="libcuda.so.1")
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "driver")}
    session, _ = play(site, triton, site.distribution("triton"))
    assert (session.complaint is not None) is complains


def test_triton_without_a_driver_complains_of_nothing(site):
    site.extension("triton/_C/libtriton.so")
    site.write("triton/backends/nvidia/driver.py", "os.path.join(path, 'libcuda.so')\n")
    assert play(site, triton, site.distribution("triton"))[0].complaint is None


def test_tensorrt_opens_its_libraries_before_its_module(site):
    site.lib("tensorrt_libs/libnvinfer.so.10", soname="libnvinfer.so.10")
    site.extension("tensorrt_bindings/tensorrt.so", ["libnvinfer.so.10"])
    session, error = play(site, tensorrt, site.distribution("tensorrt-cu12-bindings"))
    assert error is None
    assert loaded(session) == ["tensorrt_libs/libnvinfer.so.10", "tensorrt_bindings/tensorrt.so"]


# -- PyTorch's companions


def test_torchvision_dies_of_the_operator_that_its_library_did_not_register(site, torch):
    site.lib("torchvision/_C.so", needs=["libcudart.so.12"])
    site.write("torchvision/_meta_registrations.py", '@torch.library.register_fake("torchvision::nms")\n')
    session, error = play(site, torch_companions, site.distribution("torchvision"), torch)
    assert error == "RuntimeError: operator torchvision::nms does not exist"
    assert session.result(error).failed.outcome.failure.libraries[0].name == "libcudart.so.12"


def test_torchvision_warns_of_its_image_library_only(site, torch):
    site.lib("torchvision/_C.so")
    site.lib("torchvision/image.so", needs=["libnvjpeg.so.12"])
    session, error = play(site, torch_companions, site.distribution("torchvision"), torch)
    assert error is None
    assert [(handled, first) for _, handled, first in failures(session)] == [(True, False)]


def test_torchaudio_does_not_go_on_without_its_library(site, torch):
    site.lib("torchaudio/lib/libtorchaudio.so", needs=["libcudart.so.12"])
    site.extension("torchaudio/lib/_torchaudio.so")
    _, error = play(site, torch_companions, site.distribution("torchaudio"), torch)
    assert error == "OSError: libcudart.so.12: cannot open shared object file: No such file or directory"


# -- what packages were built for


@pytest.mark.parametrize(
    ("name", "path", "text", "cuda"),
    [
        ("torchvision", "torchvision/version.py", "__version__ = '0.23.0+cu128'\n", "12.8"),
        ("torchaudio", "torchaudio/version.py", "__version__ = '2.8.0+cpu'\n", None),
        ("tensorflow", "tensorflow/python/platform/build_info.py", "x = {'cuda_version': '12.3'}\n", "12.3"),
        ("tensorflow", "tensorflow/python/platform/build_info.py", "x = D([('cuda_version', '12.5.1')])\n", "12.5.1"),
        ("tensorflow", "tensorflow/python/platform/build_info.py", "x = D([('is_cuda_build', False)])\n", None),
        ("onnxruntime-gpu", "onnxruntime/capi/build_and_package_info.py", "cuda_version = '13.0'\n", "13.0"),
        ("cupy-cuda12x", "x", "", "12"),
        ("jax-cuda13-plugin", "x", "", "13"),
        ("tensorrt-cu12-bindings", "x", "", "12"),
        ("flash-attn", "x", "", ""),
    ],
)
def test_packages_tell_what_they_were_built_for(site, name, path, text, cuda):
    site.write(path, text)
    assert cuda_of(site.distribution(name), site.session().world.files) == cuda
