"""`os.path`, `glob`, `pathlib` and `open` on the files of the world under examination."""

from __future__ import annotations

import fnmatch
import posixpath
from typing import TYPE_CHECKING

from cvm.consumers.script.builtin import path_text
from cvm.consumers.script.operators import pure
from cvm.consumers.script.text import text_of
from cvm.consumers.script.values import Native, PosixPath, TextFile, Unknown, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cvm.consumers.script.interpreter import Interpreter
    from cvm.consumers.script.values import Value

_MAGIC = frozenset("*?[")
_MAPS = "/proc/self/maps"
_OF_TEXT = ("basename", "commonpath", "commonprefix", "dirname", "isabs", "join", "normpath", "split", "splitext")
_OF_PATH = (
    "is_absolute",
    "is_relative_to",
    "joinpath",
    "match",
    "relative_to",
    "with_name",
    "with_stem",
    "with_suffix",
)
_PARTS = ("name", "parent", "parents", "parts", "stem", "suffix", "suffixes", "root", "anchor")


class Paths:
    """Questions about files, from a current folder."""

    def __init__(self, run: Interpreter, folder: str) -> None:
        self.run = run
        self.folder = folder
        self.files = run.finder.files

    def absolute(self, path: str) -> str:
        """Return the path from the root."""
        return posixpath.normpath(posixpath.join(self.folder, path))

    def exists(self, path: str) -> bool:
        """Whether a path leads to something."""
        self.run.spend(5)
        return not isinstance(self.files.identity(posixpath.join(self.folder, path)), int)

    def is_folder(self, path: str) -> bool:
        """Whether a path leads to a folder."""
        self.run.spend(5)
        return self.files.is_folder(posixpath.join(self.folder, path))

    def is_file(self, path: str) -> bool:
        """Whether a path leads to something that is no folder."""
        return self.exists(path) and not self.is_folder(path)

    def real(self, path: str) -> str:
        """Return the path without links."""
        return self.files.real(posixpath.join(self.folder, path))

    def listed(self, path: Value) -> Value:
        """Return what `os.listdir` does; raises Thrown."""
        if not isinstance(path, str):
            return Unknown
        if not self.is_folder(path):
            raise self.run.sure(FileNotFoundError(2, "No such file or directory", path))
        return list(self._names(path))

    def _names(self, path: str) -> list[str]:
        names = list(self.files.names(posixpath.join(self.folder, path)))
        self.run.spend(1 + len(names))
        return names

    # -- os.path

    def os_path(self) -> dict[str, Value]:
        """Return the names of `os.path`."""
        names: dict[str, Value] = {"sep": "/", "pathsep": ":", "curdir": ".", "pardir": ".."}
        for name in _OF_TEXT:
            names[name] = Native(name, _on_texts(getattr(posixpath, name)))
        asking: dict[str, Callable[..., Value]] = {
            "exists": self.exists,
            "lexists": self.exists,
            "isfile": self.is_file,
            "isdir": self.is_folder,
            "realpath": self.real,
            "abspath": self.absolute,
            "expanduser": self.home,
            "normcase": str,
        }
        names.update({name: Native(name, _on_texts(function)) for name, function in asking.items()})
        names["relpath"] = Native("relpath", _on_texts(self._relative))
        return names

    def home(self, path: str) -> str:
        """Return a path with `~` replaced."""
        home = self.run.session.world.environment.get("HOME", "/")
        return home + path[1:] if path == "~" or path.startswith("~/") else path

    def _relative(self, path: str, start: str = ".") -> str:
        return posixpath.relpath(self.absolute(path), self.absolute(start))

    # -- glob

    def glob(self, pattern: str, *, recursive: bool = False) -> list[str]:
        """Return what `glob.glob` does, in the order of the folders."""
        folder, base = posixpath.split(pattern)
        if not _MAGIC & set(pattern):
            there = self.exists(pattern) if base else self.is_folder(folder)
            return [pattern] if there else []
        folders = self.glob(folder, recursive=recursive) if folder != pattern and _MAGIC & set(folder) else [folder]
        return [posixpath.join(one, name) for one in folders for name in self._matching(one, base, recursive=recursive)]

    def _matching(self, folder: str, base: str, *, recursive: bool) -> list[str]:
        if recursive and base == "**":
            return ["", *self._below(folder)]
        if not _MAGIC & set(base):
            there = self.exists(posixpath.join(folder, base)) if base else self.is_folder(folder)
            return [base] if there else []
        names = [one for one in self._names(folder or ".") if base.startswith(".") or not one.startswith(".")]
        return fnmatch.filter(names, base)

    def _below(self, folder: str) -> Iterator[str]:
        for name in self._names(folder or "."):
            if not name.startswith("."):
                yield name
                inner = posixpath.join(folder, name)
                if self.is_folder(inner):
                    yield from (posixpath.join(name, one) for one in self._below(inner))

    def glob_call(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Follow a call of `glob.glob`."""
        pattern = path_text(arguments[0] if arguments else named.get("pathname"))
        if not isinstance(pattern, str) or "root_dir" in named or "dir_fd" in named:
            return Unknown
        return self.glob(pattern, recursive=named.get("recursive") is True)

    # -- pathlib

    def attribute(self, path: PosixPath, name: str) -> Value:
        """Return an attribute of a path."""
        if name in _PARTS:
            value = getattr(path, name)
            return tuple(value) if name == "parents" else value
        if name in _OF_PATH:
            return Native(name, lambda arguments, _: pure(getattr(path, name), *arguments))
        method = self._methods(path).get(name)
        return Unknown if method is None else Native(name, method)

    def _methods(self, path: PosixPath) -> Mapping[str, Callable[[list[Value], dict[str, Value]], Value]]:
        text = str(path)
        return {
            "exists": lambda *_: self.exists(text),
            "is_file": lambda *_: self.is_file(text),
            "is_dir": lambda *_: self.is_folder(text),
            "resolve": lambda *_: PosixPath(self.real(text)),
            "absolute": lambda *_: PosixPath(posixpath.join(self.folder, text)),
            "expanduser": lambda *_: PosixPath(self.home(text)),
            "as_posix": lambda *_: text,
            "__str__": lambda *_: text,
            "__fspath__": lambda *_: text,
            "iterdir": lambda *_: iter([path / one for one in self._names(text)]),
            "glob": lambda arguments, _: self._path_glob(path, arguments[0], below=False),
            "rglob": lambda arguments, _: self._path_glob(path, arguments[0], below=True),
            "read_text": lambda *_: self._text(text),
            "open": lambda arguments, named: self.open_file([path, *arguments], named),
        }

    def _path_glob(self, path: PosixPath, pattern: Value, *, below: bool) -> Value:
        if not isinstance(pattern, str):
            return Unknown
        whole = posixpath.join(str(path), "**", pattern) if below else posixpath.join(str(path), pattern)
        return iter([PosixPath(one) for one in self.glob(whole, recursive=True)])

    # -- open

    def open_file(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Follow `open`, for reading text; raises Thrown."""
        path = path_text(arguments[0] if arguments else named.get("file"))
        mode = arguments[1] if len(arguments) > 1 else named.get("mode", "r")
        if not isinstance(path, str) or mode not in ("r", "rt"):
            return Unknown
        text = self._text(path)
        return TextFile(text) if isinstance(text, str) else Unknown

    def _text(self, path: str) -> Value:
        if path == _MAPS:
            return self._maps()
        if path.startswith(("/proc/", "/sys/", "/dev/")):
            return Unknown
        if not self.is_file(path):
            raise self.run.sure(FileNotFoundError(2, "No such file or directory", path))
        self.run.spend(100)
        text = text_of(self.files, posixpath.join(self.folder, path))
        return Unknown if text is None else text

    def _maps(self) -> str:
        """Return the process's map: the kernel names files by their path without links."""
        line = "7f0000000000-7f0000001000 r-xp 00000000 00:00 0".ljust(73)
        return "".join(f"{line}{self.files.real(one.path)}\n" for one in self.run.session.process.loaded)


def path_modules(run: Interpreter) -> Mapping[str, dict[str, Value]]:
    """Return the names of `glob` and `pathlib`."""
    paths = run.paths
    return {
        "glob": {
            "glob": Native("glob", paths.glob_call),
            "iglob": Native("iglob", lambda arguments, named: _iterator(paths.glob_call(arguments, named))),
            "escape": Unknown,
        },
        "pathlib": {"Path": PosixPath, "PurePath": PosixPath, "PosixPath": PosixPath, "PurePosixPath": PosixPath},
    }


def _iterator(value: Value) -> Value:
    return iter(value) if isinstance(value, list) else value


def _on_texts(function: Callable[..., Value]) -> Callable[[list[Value], dict[str, Value]], Value]:
    """Call a function on texts and paths; Unknown where it gets anything else."""

    def call(arguments: list[Value], named: dict[str, Value]) -> Value:
        values = [path_text(one) for one in arguments]
        if not all(plain(one) for one in values) or named:
            return Unknown
        return function(*values)

    return call
