"""`os`, as far as it is modelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.builtin import path_text
from cvm.consumers.script.values import Known, Native, Unknown
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.script.interpreter import Interpreter
    from cvm.consumers.script.values import Value


def os_modules(run: Interpreter) -> Mapping[str, dict[str, Value]]:
    """Return the names of `os`; the variables are a copy, which the code may change."""
    environment: dict[Value, Value] = {}
    environment.update(run.session.world.environment.items())
    path = run.paths.os_path()
    names: dict[str, Value] = {
        "name": "posix",
        "sep": "/",
        "altsep": None,
        "pathsep": ":",
        "curdir": ".",
        "pardir": "..",
        "linesep": "\n",
        "devnull": "/dev/null",
        "environ": environment,
        "getenv": Native("getenv", lambda arguments, named: _getenv(environment, arguments, named)),
        "getcwd": Native("getcwd", lambda *_: run.paths.folder),
        "fspath": Native("fspath", lambda arguments, _: path_text(arguments[0])),
        "fsdecode": Native("fsdecode", lambda arguments, _: path_text(arguments[0])),
        "listdir": Native(
            "listdir", lambda arguments, _: run.paths.listed(path_text(arguments[0] if arguments else "."))
        ),
        "path": Known("os.path", path),
        "PathLike": Unknown,
        # The loader has read its variables when the process started: setting one changes nothing.
        "putenv": Native("putenv", lambda *_: None),
        "RTLD_NOLOAD": int(Mode.NOLOAD),
        "RTLD_LOCAL": int(Mode.LOCAL),
        "RTLD_LAZY": int(Mode.LAZY),
        "RTLD_NOW": int(Mode.NOW),
        "RTLD_GLOBAL": int(Mode.GLOBAL),
        "RTLD_DEEPBIND": 8,
        "RTLD_NODELETE": 0x1000,
        "error": OSError,
    }
    return {"os": names, "os.path": path, "posixpath": path}


def _getenv(environment: dict[Value, Value], arguments: list[Value], named: dict[str, Value]) -> Value:
    default = named.get("default", arguments[1] if len(arguments) > 1 else None)
    if not isinstance(arguments[0], str):
        return Unknown
    return environment.get(arguments[0], default)
