"""Load a consumer in this very process and write down what came of it; runs in the environment under test.

    python -c TEXT RESULT PACKAGE

The result is JSON, written after each phase, so that a phase that ends the process leaves what came before.
Phases: `import`, then `use`, what the consumer loads at its first use as far as that takes no GPU.
Only the standard library of any Python 3.8 or newer is used, and as little of it as possible.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# A model that copies x to y, each one float, as onnxruntime reads it (IR version 8, opset 13).
IDENTITY = bytes.fromhex(
    "08083a370a100a017812017922084964656e746974791201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a0208014202100d"
)


def import_package(package: str) -> None:
    """Import a package as people do."""
    __import__(package)


def use_torch() -> object:
    """Ask torch for cuDNN's version, which compares it with the one that torch was built with."""
    return sys.modules["torch"].backends.cudnn.version()


class Told(Exception):  # noqa: N818 - what a person is told where nothing is raised
    """A line that is only printed."""


# What tensorflow opens before it registers a GPU, by CUDA's major version.
TENSORFLOW_OPENS = {
    "11": "cudart.so.11.0 cublas.so.11 cublasLt.so.11 cufft.so.10 cusolver.so.11 cusparse.so.11",
    "12": "cudart.so.12 cublas.so.12 cublasLt.so.12 cufft.so.11 cusolver.so.11 cusparse.so.12",
}


def use_tensorflow() -> object:
    """Open, by the function that tensorflow itself uses, the libraries that it opens once it has seen a GPU."""
    tensorflow = sys.modules["tensorflow"]
    tensorflow.config.list_physical_devices("GPU")
    build = tensorflow.sysconfig.get_build_info()
    names = [f"lib{name}" for name in TENSORFLOW_OPENS[build["cuda_version"].partition(".")[0]].split()]
    missing = [name for name in [*names, f"libcudnn.so.{build['cudnn_version']}"] if not opens(tensorflow, name)]
    if missing:
        print(missing, file=sys.stderr)
        # gpu_device.cc's words, which stand in a log after the names.
        raise Told(
            "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed "
            "properly if you would like to use GPU."
        )
    return names


def opens(tensorflow: Any, name: str) -> bool:
    """Whether libtensorflow_framework finds a library, whose RUNPATH counts."""
    try:
        tensorflow.load_op_library(name)
    except tensorflow.errors.NotFoundError:
        return False
    except tensorflow.errors.OpError:
        # It is open, and has no operations.
        return True
    return True


def use_jax() -> None:
    """Load the plugin as jax does at its first use; leave out the last of its checks, which counts GPUs."""
    import jax_plugins.xla_cuda12 as plugin  # type: ignore[import-not-found]

    try:
        plugin.initialize()
    except RuntimeError as error:
        if "cuInit" not in str(error):
            raise
        os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"
        plugin.initialize()


def use_onnxruntime() -> object:
    """Ask for CUDA; the reason for not getting it is printed, not raised."""
    session = sys.modules["onnxruntime"].InferenceSession(IDENTITY, providers=["CUDAExecutionProvider"])
    return session.get_providers()


def use_nothing() -> None:
    """Do nothing, for a package that has no first use to speak of."""


USES: dict[str, Callable[[], object]] = {
    "torch": use_torch,
    "tensorflow": use_tensorflow,
    "jax": use_jax,
    "onnxruntime": use_onnxruntime,
}


def mapped() -> list[str]:
    """Return the files in this process, in the order of their addresses, each once."""
    found = {}
    with open("/proc/self/maps") as maps:  # noqa: PTH123 - pathlib is more than is needed
        for line in maps:
            path = line.rstrip("\n").split(None, 5)[5:]
            if path and path[0].startswith("/"):
                found[path[0]] = True
    return list(found)


def run(step: Callable[[], object]) -> dict[str, Any]:
    """Return the last line that a person would see, None where the step succeeds, and what it answered."""
    try:
        answer = step()
    except Told as line:
        return {"error": str(line), "text": str(line), "answer": None}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the outcome
        lines = "".join(traceback.format_exception_only(type(error), error)).strip().split("\n")
        return {"error": lines[-1], "text": "\n".join(lines), "answer": None}
    return {"error": None, "text": "", "answer": None if answer is None else str(answer)}


def main() -> None:
    """Run the phases until one fails."""
    result, package = sys.argv[1:3]
    phases = {}
    for name, step in (("import", lambda: import_package(package)), ("use", USES.get(package, use_nothing))):
        phases[name] = run(step)
        phases[name]["mapped"] = mapped()
        with open(result, "w") as file:  # noqa: PTH123
            json.dump(phases, file)
        if phases[name]["error"]:
            return


if __name__ == "__main__":
    main()
