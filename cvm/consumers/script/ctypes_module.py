"""`ctypes`: the loads themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.builtin import path_text
from cvm.consumers.script.values import Known, Library, Native, Unknown
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.script.interpreter import Interpreter
    from cvm.consumers.script.values import Value


def ctypes_modules(run: Interpreter) -> Mapping[str, dict[str, Value]]:
    """Return the names of `ctypes`."""

    def loader(kind: str) -> Native:
        return Native(kind, lambda arguments, named: _open(run, kind, arguments, named))

    util = Known("ctypes.util", {"find_library": Native("find_library", lambda *_: Unknown)})
    names: dict[str, Value] = {
        "CDLL": loader("ctypes.CDLL"),
        "PyDLL": loader("ctypes.PyDLL"),
        "cdll": Known("ctypes.cdll", {"LoadLibrary": loader("ctypes.CDLL")}),
        "pydll": Known("ctypes.pydll", {"LoadLibrary": loader("ctypes.PyDLL")}),
        "pythonapi": Unknown,
        "util": util,
        "DEFAULT_MODE": int(Mode.LOCAL),
        "RTLD_LOCAL": int(Mode.LOCAL),
        "RTLD_GLOBAL": int(Mode.GLOBAL),
    }
    # torch opens a library of operators by its path without links.
    operators = Known("torch.ops", {"load_library": Native("load_library", lambda given, _: _operators(run, given[0]))})
    return {"ctypes": names, "ctypes.util": util.names, "torch": {"ops": operators, "classes": operators}}


def _operators(run: Interpreter, path: Value) -> Value:
    path = path_text(path)
    _open(run, "torch.ops.load_library", [run.paths.real(path) if isinstance(path, str) else path], {})
    return None


def _open(run: Interpreter, kind: str, arguments: list[Value], named: dict[str, Value]) -> Value:
    """Open a library as ctypes does: always with RTLD_NOW; raises Thrown with what dlerror says."""
    name = path_text(arguments[0] if arguments else named.get("name", Unknown))
    mode = arguments[1] if len(arguments) > 1 else named.get("mode", int(Mode.LOCAL))
    if name is None or name == "":
        return Library("")
    if isinstance(name, bytes):
        name = name.decode("utf-8", "surrogateescape")
    if not isinstance(name, str):
        run.cannot_tell(f"{run.place}: which library is opened")
        return Unknown
    flags = int(Mode.NOW) | (mode if isinstance(mode, int) else 0)
    text = run.open(name, f"{kind}({name!r})", flags, run.ctypes_caller())
    if text is not None:
        raise run.failed(OSError(text))
    return Library(name)
