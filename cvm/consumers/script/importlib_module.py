"""`importlib`: modules that are looked for or imported by name, and what is known of distributions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.script.signals import Thrown
from cvm.consumers.script.values import Known, Native, PosixPath, Spec, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.script.interpreter import Interpreter
    from cvm.consumers.script.values import Value


class PackageNotFoundError(ModuleNotFoundError):
    """That of `importlib.metadata`, which takes as long to import as torch's code takes to follow."""

    __module__ = "importlib.metadata"

    def __str__(self) -> str:
        return f"No package metadata was found for {self.args[0]}"


def importlib_modules(run: Interpreter) -> Mapping[str, dict[str, Value]]:
    """Return the names of `importlib` and of what is in it."""
    import_module = Native("import_module", lambda arguments, named: _import(run, arguments, named))
    find_spec = Native("find_spec", lambda arguments, _: _find_spec(run, arguments[0]))
    version = Native("version", lambda arguments, _: _version(run, arguments[0]))
    util: dict[str, Value] = {"find_spec": find_spec}
    metadata: dict[str, Value] = {"version": version, "PackageNotFoundError": PackageNotFoundError}
    resources: dict[str, Value] = {"files": Native("files", lambda arguments, _: _files(run, arguments[0]))}
    machinery: dict[str, Value] = {"FileFinder": Native("FileFinder", lambda arguments, _: _finder(run, arguments[0]))}
    whole: dict[str, Value] = {
        "import_module": import_module,
        "util": Known("importlib.util", util),
        "metadata": Known("importlib.metadata", metadata),
        "resources": Known("importlib.resources", resources),
        "machinery": Known("importlib.machinery", machinery),
    }
    return {
        "importlib": whole,
        "importlib.util": util,
        "importlib.metadata": metadata,
        "importlib_metadata": metadata,
        "importlib.resources": resources,
        "importlib.machinery": machinery,
    }


def _import(run: Interpreter, arguments: list[Value], named: dict[str, Value]) -> Value:
    name, package = [*arguments, named.get("package")][:2]
    if not isinstance(name, str):
        run.cannot_tell(f"{run.place}: which module is imported")
        return Unknown
    dots = len(name) - len(name.lstrip("."))
    if dots:
        if not isinstance(package, str):
            return Unknown
        parts = package.split(".")
        name = ".".join([*parts[: len(parts) - dots + 1], name[dots:]])
    return run.load_module(name)


def _find_spec(run: Interpreter, name: Value) -> Value:
    if not isinstance(name, str) or run.session.world.python is None:
        return Unknown
    folders = list(run.finder.search)
    parts = name.split(".")
    source = None
    for count in range(1, len(parts) + 1):
        source = run.finder.find(".".join(parts[:count]), folders)
        if source is None:
            there = run.finder.is_elsewhere(parts[0])
            return None if there is False or (there and count > 1) else Unknown
        folders = [source.folder] if source.folder else []
    return None if source is None else Spec(name, source.file, [source.folder] if source.folder else None)


def _finder(run: Interpreter, folder: Value) -> Value:
    """Return a finder for one folder, as it is used to look for libraries that are named like extension modules."""

    def find_spec(arguments: list[Value], _: dict[str, Value]) -> Value:
        name = arguments[0]
        if not isinstance(name, str) or not isinstance(folder, str):
            return Unknown
        source = run.finder.find(name, [folder])
        if source is not None and source.file is None:
            return Spec(name, None, [str(source.folder)])
        return Spec(name, source.file, None) if source is not None and source.is_extension else None

    return Known("FileFinder", {"find_spec": Native("find_spec", find_spec)})


def _version(run: Interpreter, name: Value) -> Value:
    """Return a distribution's version; raises Thrown."""
    python = run.session.world.python
    if not isinstance(name, str) or python is None:
        return Unknown
    found = python.distribution(re.sub(r"[-_.]+", "-", name).lower())
    if found is None:
        raise Thrown(PackageNotFoundError(name))
    return found.version


def _files(run: Interpreter, package: Value) -> Value:
    spec = _find_spec(run, package)
    if isinstance(spec, Spec) and spec.submodule_search_locations:
        return PosixPath(spec.submodule_search_locations[0])
    return Unknown
