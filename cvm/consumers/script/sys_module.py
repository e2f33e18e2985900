"""`sys` and `platform` of the Python under examination."""

from __future__ import annotations

import sys as own
from typing import TYPE_CHECKING

from cvm.consumers.script.finder import MACHINES
from cvm.consumers.script.signals import Thrown
from cvm.consumers.script.values import Known, Native, Unknown, VersionInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.script.interpreter import Interpreter
    from cvm.consumers.script.values import Value

_ABSENT = object()


def sys_modules(run: Interpreter) -> Mapping[str, dict[str, Value]]:
    """Return the names of `sys` and `platform`."""
    machine = MACHINES.get(run.session.world.runtime.machine, "")
    return {
        "sys": _sys(run),
        "platform": {
            "system": Native("system", lambda *_: "Linux"),
            "machine": Native("machine", lambda *_: machine or Unknown),
            "processor": Unknown,
            "python_implementation": Native("python_implementation", lambda *_: "CPython"),
            "architecture": Native("architecture", lambda *_: ("64bit", "ELF")),
        },
    }


def _sys(run: Interpreter) -> dict[str, Value]:
    python = run.session.world.python
    names: dict[str, Value] = {
        "platform": "linux",
        "path": [one.path for one in python.search] if python else Unknown,
        "executable": python.executable if python else Unknown,
        "prefix": python.prefix if python else Unknown,
        "exec_prefix": python.prefix if python else Unknown,
        "version_info": VersionInfo(*python.version) if python else Unknown,
        "maxsize": 2**63 - 1,
        "byteorder": "little",
        "modules": Loaded(run).known(),
        "getdlopenflags": Native("getdlopenflags", lambda *_: run.flags),
        "setdlopenflags": Native("setdlopenflags", lambda arguments, _: _set_flags(run, arguments[0])),
        "implementation": Known("sys.implementation", {"name": "cpython"}),
    }
    return names


def _set_flags(run: Interpreter, flags: Value) -> Value:
    if isinstance(flags, int):
        run.flags = flags
    return None


class Loaded:
    """`sys.modules`: what the code imported; about other packages' modules nothing is known."""

    def __init__(self, run: Interpreter) -> None:
        self.run = run

    def known(self) -> Value:
        """Return the value that stands for it."""
        names: dict[str, Value] = {
            "get": Native("get", lambda arguments, _: self.get(*arguments)),
            "__contains__": Native("__contains__", lambda arguments, _: self.holds(arguments[0])),
            "__getitem__": Native("__getitem__", lambda arguments, _: self.item(arguments[0])),
        }
        return Known("sys.modules", names)

    def find(self, name: Value) -> Value:
        """Return a module, Unknown, or what stands for one that isn't there."""
        if not isinstance(name, str):
            return Unknown
        if name in self.run.modules:
            return self.run.modules[name]
        if self.run.is_own(name):
            return _ABSENT
        if self.run.others or name.partition(".")[0] in own.stdlib_module_names:
            return self.run.known.get(name, Unknown)
        return _ABSENT

    def get(self, name: Value, default: Value = None) -> Value:
        """Follow `sys.modules.get`."""
        found = self.find(name)
        return default if found is _ABSENT else found

    def holds(self, name: Value) -> Value:
        """Follow `in sys.modules`."""
        found = self.find(name)
        return found is not _ABSENT if found is not Unknown else Unknown

    def item(self, name: Value) -> Value:
        """Follow `sys.modules[…]`; raises Thrown."""
        found = self.find(name)
        if found is _ABSENT:
            raise Thrown(KeyError(name))
        return found
