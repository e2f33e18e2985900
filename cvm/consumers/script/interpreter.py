"""The interpreter: a package's import played through a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.builtin import builtins
from cvm.consumers.script.core import causes
from cvm.consumers.script.ctypes_module import ctypes_modules
from cvm.consumers.script.finder import Finder
from cvm.consumers.script.importlib_module import importlib_modules
from cvm.consumers.script.imports import Imports
from cvm.consumers.script.os_module import os_modules
from cvm.consumers.script.paths import Paths, path_modules
from cvm.consumers.script.plain_modules import plain_modules
from cvm.consumers.script.signals import Ended, Exhausted, Reached, Thrown
from cvm.consumers.script.sys_module import sys_modules
from cvm.consumers.script.values import Known, Unknown
from cvm.consumers.session import LoadError
from cvm.elf.outcome import Kind
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from cvm.consumers.script.values import Module, PosixPath, Value
    from cvm.consumers.session import Session

_LOAD = 150  # steps take about as long as a load, and as all that is asked of it later
_DEADLY = (Kind.ABORT, Kind.DAMAGED)


class Interpreter(Imports):
    """Plays the import of one package; `folder` is where it lies if the session has no Python to ask."""

    def __init__(self, package: str, session: Session, folder: str | None = None) -> None:
        world = session.world
        python = world.python
        search = [one.path for one in python.search] if python else []
        version = python.version if python else None
        known = folder is None or folder in search
        finder = Finder(world.files, search if known else [*search, str(folder)], version, world.runtime.machine)
        super().__init__(package, finder)
        self.certain = python is not None
        self.session = session
        self.flags = int(Mode.NOW)
        self.paths = Paths(self, world.folder)
        self.builtins = builtins(self)
        for modules in (os_modules, path_modules, sys_modules, ctypes_modules, importlib_modules, plain_modules):
            self.known.update({name: Known(name, names) for name, names in modules(self).items()})
        self._failures: list[tuple[int, BaseException]] = []
        self._ctypes: str | None = None

    def play(self, until: str | None = None) -> bool:
        """Import the package, or as much as it takes to load the module `until`; return whether that was reached.

        Raises LoadError where the import fails. What can't be followed is noted in the session; where `until` wasn't
        reached for that, it is loaded all the same.
        """
        self.until = until
        if self._locate(self.package) is None and not self._absent(self.package):
            self.cannot_tell(f"`{self.package}` is in no folder that an import looks in")
            return False
        if self._load(self.package) or until is None:
            return True
        self.cannot_tell(f"the code of `{self.package}` was followed without coming to `import {until}`")
        self.steps = self.depth = 0
        self.frames.clear()
        return self._load(until)

    def _load(self, name: str) -> bool:
        """Import a module; return whether `until` was reached; raises LoadError."""
        try:
            self.load_module(name)
        except Reached:
            return True
        except Thrown as thrown:
            self._blame(thrown.error)
            raise LoadError(last_line(thrown.error)) from None
        except Ended as ended:
            raise LoadError(ended.text) from None
        except (Exhausted, RecursionError):
            self.cannot_tell(f"{self.place}: the code of `{self.package}` takes too long to follow")
        except Exception as error:  # noqa: BLE001 - whatever code does here, it is unknown and no crash
            self.cannot_tell(f"{self.place}: the code of `{self.package}` can't be followed ({error!r})")
        return False

    def cannot_tell(self, sentence: str) -> None:
        """Note what could not be followed."""
        self.session.cannot_tell(sentence)

    # -- loads

    def open(self, name: str, call: str, mode: int, caller: str | None) -> str | None:
        """Open a library; return the text of the error, None where there is none; raises Ended."""
        for frame in self.frames:
            if frame.doubt:
                self.cannot_tell(frame.doubt)
        self.spend(_LOAD)
        outcome = self.session.open(name, call, self.place, mode=Mode(mode), caller=caller, handled=True)
        if outcome.failure is None:
            return None
        if outcome.failure.kind in _DEADLY:
            self._not_handled(len(self.session.steps) - 1)
            raise Ended(outcome.failure.text)
        return outcome.failure.text

    def failed(self, error: BaseException) -> Thrown:
        """Return what raises the error of the load that was just tried."""
        self._failures.append((len(self.session.steps) - 1, error))
        return self.sure(error)

    def open_extension(self, module: Module) -> None:
        """Open an extension module of the package; raises Thrown, Reached, Ended."""
        text = self.open(str(module.file), f"import {module.name}", self.flags, None)
        if text is not None:
            raise self.failed(ImportError(text, name=module.name, path=module.file))
        if module.name == self.until:
            raise Reached

    def ctypes_caller(self) -> str | None:
        """Return the extension module that ctypes opens libraries from: its RPATH counts."""
        if self._ctypes is None:
            source = self.finder.find("_ctypes", self.finder.search)
            path = source.file if source and source.is_extension else None
            opened = path is not None and self.session.process.dlopen(path).ok
            self._ctypes = path if path and opened else ""
        return self._ctypes or None

    def open_file(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Follow the built-in `open`; raises Thrown."""
        return self.paths.open_file(arguments, named)

    def path_attribute(self, path: PosixPath, name: str) -> Value:
        """Return an attribute of a path; raises Thrown."""
        return self.paths.attribute(path, name)

    # -- other packages

    def foreign(self, name: str) -> Value:
        """Import a module of another package; raises Thrown where it is absent."""
        if name in ("ctypes", "ctypes.util"):
            self.ctypes_caller()
        if name in self.known:
            return self.known[name]
        top = name.partition(".")[0]
        if self._absent(top):
            raise self.sure(ModuleNotFoundError(f"No module named '{top}'", name=top))
        self.others.add(top)
        return Unknown

    def _absent(self, top: str) -> bool:
        """Whether it is certain that nothing of this name can be imported."""
        return self.certain and self.finder.is_elsewhere(top) is False

    def unbound(self, name: str) -> BaseException:
        """Return the error for a local that has no value yet."""
        python = self.session.world.python
        if python and python.version < (3, 11):
            return UnboundLocalError(f"local variable '{name}' referenced before assignment")
        return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")

    # -- the end

    def _blame(self, error: BaseException) -> None:
        """Mark the load whose failure led to the last error: nobody dealt with that one."""
        for cause in causes(error):
            for step, failure in self._failures:
                if failure is cause:
                    self._not_handled(step)
                    return

    def _not_handled(self, number: int) -> None:
        self.session.steps[number] = self.session.steps[number]._replace(handled=False)


def last_line(error: BaseException) -> str:
    """Return what Python prints of an exception at the end of a traceback."""
    kind = type(error)
    name = (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )
    text = str(error)
    return f"{name}: {text}" if text else name
