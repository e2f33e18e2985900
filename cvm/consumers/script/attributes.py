"""Attributes, subscripts and iteration: what is in a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.core import ELEMENTS
from cvm.consumers.script.methods import call_method, error_attribute, has_method, looks_through
from cvm.consumers.script.operators import MOST, pure
from cvm.consumers.script.signals import Opaque, Thrown
from cvm.consumers.script.statements import Statements
from cvm.consumers.script.values import (
    Bound,
    Class,
    Decorated,
    Function,
    Instance,
    Known,
    Library,
    Module,
    Native,
    Parent,
    PosixPath,
    Spec,
    TextFile,
    Unknown,
    VersionInfo,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cvm.consumers.script.values import Value

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class Attributes(Statements):
    """What is in a value, by name, by key and one by one."""

    def __init__(self) -> None:
        super().__init__()
        self._holders: dict[type, Callable[..., Value]] = {
            Module: self.module_attribute,
            Known: lambda value, name: value.names.get(name, Unknown),
            Instance: self._of_instance,
            Class: self._of_class,
            Parent: self._of_parent,
            VersionInfo: lambda value, name: getattr(value, name, Unknown),
            Spec: lambda value, name: getattr(value, name, Unknown),
            Library: lambda value, name: value.name if name == "_name" else Unknown,
            TextFile: lambda value, name: Native(name, lambda *_: self._read(value, name)),
            PosixPath: self.path_attribute,
        }

    def path_attribute(self, path: PosixPath, name: str) -> Value:
        """Return an attribute of a path."""
        raise NotImplementedError

    # -- attributes

    def attribute(self, value: Value, name: str) -> Value:
        """Return an attribute; Unknown where it isn't known; raises Thrown."""
        holder = self._holders.get(type(value))
        if holder is not None:
            return holder(value, name)
        if isinstance(value, BaseException):
            return error_attribute(value, name)
        return self._method(value, name)

    def _of_parent(self, value: Parent, name: str) -> Value:
        found = next((one for base in value.owner.bases if (one := base.find(name)) is not None), None)
        return Unknown if found is None else self._bind(found, value.instance, value.owner)

    def module_attribute(self, module: Module, name: str) -> Value:
        """Return a name of a module."""
        raise NotImplementedError

    def _method(self, value: Value, name: str) -> Value:
        if name == "sort" and isinstance(value, list):
            return Native(name, lambda arguments, named: self._sort(value, arguments, named))
        if name in ("extend", "update") and isinstance(value, (list, dict, set)):
            return Native(name, lambda arguments, named: self._extend(value, arguments, named))
        if not has_method(value, name):
            return self._class_method(value, name)
        return Native(name, lambda arguments, named: self._call_method(value, name, arguments, named))

    def _call_method(self, value: Value, name: str, arguments: list[Value], named: dict[str, Value]) -> Value:
        if looks_through(value, name):
            self.charge(value)
        return call_method(value, name, [*map(self.listed, arguments)], named)

    def _class_method(self, value: Value, name: str) -> Value:
        if name == "fromkeys" and value is dict:
            return Native(name, lambda arguments, _: pure(dict.fromkeys, *map(self.listed, arguments)))
        if name == "__name__" and isinstance(value, (type, Function)):
            return value.__name__ if isinstance(value, type) else value.name
        return Unknown

    def _sort(self, value: list[Value], arguments: list[Value], named: dict[str, Value]) -> Value:
        done = self.call(self.builtins["sorted"], [list(value), *arguments], named)
        if isinstance(done, list):
            value[:] = done
        return None

    def _extend(self, value: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        for one in arguments:
            try:
                if isinstance(value, dict):
                    pairs = one if isinstance(one, dict) else pure(dict, self.listed(one))
                    value.update(pairs if isinstance(pairs, dict) else {})
                elif isinstance(value, list):
                    value.extend([*self.iterate(one)])
                elif isinstance(value, set):
                    value.update([*self.iterate(one)])
            except (Opaque, TypeError):
                return Unknown
        if isinstance(value, dict):
            value.update(named)
        return None

    def _of_instance(self, value: Instance, name: str) -> Value:
        if name in value.names:
            return value.names[name]
        if name == "__class__":
            return value.owner
        found = value.owner.find(name)
        if found is None:
            if value.owner.open or name.startswith("__") or value.owner.find("__getattr__"):
                return Unknown
            raise Thrown(AttributeError(f"'{value.owner.name}' object has no attribute '{name}'"))
        return self._bind(found, value, value.owner)

    def _of_class(self, value: Class, name: str) -> Value:
        found = value.find(name)
        if name == "__name__":
            return value.name
        if isinstance(found, Decorated):
            return Bound(found.function, value) if found.kind == "classmethod" else found.function
        return Unknown if found is None else found

    def _bind(self, found: Value, instance: Value, owner: Class) -> Value:
        if isinstance(found, Function):
            return Bound(found, instance)
        if isinstance(found, Decorated):
            if found.kind == "property":
                return self.call(found.function, [instance], {})
            return Bound(found.function, owner) if found.kind == "classmethod" else found.function
        return found

    # -- iteration

    def iterate(self, value: Value) -> Iterator[Value]:
        """Yield what a loop over a value would; raises Opaque for what is unknown."""
        if isinstance(value, range) and len(value) > MOST:
            raise Opaque
        if isinstance(value, TextFile):
            yield from self._each_spent(value.lines)
        elif isinstance(value, (str, bytes, list, tuple, dict, set, frozenset, range)) or hasattr(value, "__next__"):
            yield from self._each_spent(value)  # type: ignore[arg-type]
        elif type(value) in _VIEWS:
            yield from self._each_spent(list(value))  # type: ignore[call-overload]
        elif plain(value):
            raise Thrown(TypeError(f"'{type(value).__name__}' object is not iterable"))
        else:
            raise Opaque

    def _each_spent(self, values: Iterable[Value]) -> Iterator[Value]:
        for number, one in enumerate(values):
            if number % ELEMENTS == ELEMENTS - 1:
                self.spend()
            yield one

    def subscript(self, value: Value, key: Value) -> Value:
        """Return the value of a subscript that isn't Python's own."""
        if isinstance(value, VersionInfo):
            known = (value.major, value.minor)
            whole = key.stop if isinstance(key, slice) and key.start is None and key.step is None else None
            if whole in (1, 2):
                return known[:whole]
            return known[key] if isinstance(key, int) and key in (0, 1) else Unknown
        if isinstance(value, Known):
            method = value.names.get("__getitem__", Unknown)
            return self.call(method, [key], {})
        if plain(value) and plain(key) and not isinstance(value, type):
            return pure(lambda: value[key])  # type: ignore[index]
        return Unknown

    def entered(self, manager: Value) -> Value:
        """Return what `with manager as …` binds."""
        if isinstance(manager, TextFile):
            return manager
        method = manager.owner.find("__enter__") if isinstance(manager, Instance) else None
        return Unknown if method is None else self.call(method, [manager], {})

    def left(self, manager: Value, error: BaseException | None) -> Value:
        """Return what a context manager makes of leaving it, None where it lets an error pass."""
        method = manager.owner.find("__exit__") if isinstance(manager, Instance) else None
        if method is None:
            return None
        return self.call(method, [manager, None if error is None else type(error), error, Unknown], {})

    def _read(self, file: TextFile, name: str) -> Value:
        if name == "read":
            return "".join(file.lines)
        if name == "readlines":
            return list(file.lines)
        if name == "readline":
            return next(file.lines, "")
        return None if name == "close" else Unknown
