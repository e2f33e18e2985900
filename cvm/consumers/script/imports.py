"""Imports: the package's own modules are interpreted, its extension modules opened; nothing else is followed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.script.calls import Calls
from cvm.consumers.script.finder import Source
from cvm.consumers.script.mentions import Definitions
from cvm.consumers.script.reach import last_load
from cvm.consumers.script.scope import Scope
from cvm.consumers.script.signals import Thrown
from cvm.consumers.script.text import Unreadable, imports, names_load, statements, text_of
from cvm.consumers.script.values import Deferred, Known, Module, Unknown

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from cvm.consumers.script.finder import Finder
    from cvm.consumers.script.values import Value


_CHARACTERS = 50  # of a text cost about as much time as a step
_HOOKS = re.compile(r"\bmeta_path\b|\bsys\.modules\[|\b__path__\b")


class Imports(Calls):
    """The import system, for one package."""

    def __init__(self, package: str, finder: Finder) -> None:
        super().__init__()
        self.package = package
        self.finder = finder
        self.until: str | None = None
        self.modules: dict[str, Value] = {}
        # Packages that were imported and not followed.
        self.others: set[str] = set()
        self.known: dict[str, Known] = {}
        self._reach: dict[str, bool] = {}
        self._texts: dict[str, str | None] = {}
        self._definitions = Definitions(self._loads_by_import)

    # -- whether something may load

    def may_load(self, *nodes: ast.AST) -> bool:
        """Whether code may load something, by itself or by what it calls."""
        return self._definitions.may_load(nodes)

    def define(self, name: str, node: ast.AST) -> None:
        """Remember a definition."""
        self._definitions.add(name, node)

    def _loads_by_import(self, dots: int, module: str, names: tuple[str, ...]) -> bool:
        base = self._absolute(dots, module, self.module)
        return base is not None and any(
            one not in self.modules and self._reaches(one) for one in (base, *(f"{base}.{name}" for name in names))
        )

    def _reaches(self, name: str) -> bool:
        """Whether the import of one of the package's modules may load something, by its text and what that imports."""
        if name in self._reach:
            return self._reach[name]
        self._reach[name] = False
        source = self._locate(name) if self.is_own(name) else None
        self._reach[name] = source is not None and (source.is_extension or self._text_reaches(name, source))
        return self._reach[name]

    def _text_reaches(self, name: str, source: Source) -> bool:
        text = self._text(source)
        if text is None:
            return False
        if names_load(text):
            return True
        here = Module(name, source.file, source.folder)
        for dots, module, names in imports(text):
            base = self._absolute(dots, module, here)
            if base is not None and any(self._reaches(one) for one in (base, *(f"{base}.{each}" for each in names))):
                return True
        return False

    def is_own(self, name: str) -> bool:
        """Whether a module belongs to the package that is imported."""
        return name == self.package or name.startswith(self.package + ".")

    def _absolute(self, dots: int, module: str, here: Module | None) -> str | None:
        """Return the full name of an import, None for one that leads out of its package."""
        if not dots:
            return module
        if here is None:
            return None
        parts = here.name.split(".") if here.folder else here.name.split(".")[:-1]
        if dots - 1 >= len(parts):
            return None
        return ".".join([*parts[: len(parts) - dots + 1], *([module] if module else [])])

    # -- modules

    def load_module(self, name: str) -> Value:
        """Import a module by its full name, its packages first; raises Thrown."""
        if not self.is_own(name):
            return self.foreign(name)
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            self._load_one(".".join(parts[:count]))
        return self.modules[name]

    def _load_one(self, name: str) -> None:
        if name in self.modules:
            return
        source = self._locate(name)
        if source is None:
            error = ModuleNotFoundError(f"No module named '{name}'", name=name)
            raise Thrown(error) if self._has_hooks() else self.sure(error)
        module = Module(name, source.file, source.folder)
        self.modules[name] = module
        try:
            self._fill(module, source)
        except Thrown:
            self.modules.pop(name, None)
            raise
        parent = self.modules.get(name.rpartition(".")[0])
        if isinstance(parent, Module):
            parent.names.setdefault(name.rpartition(".")[2], module)

    def _fill(self, module: Module, source: Source) -> None:
        if source.is_extension:
            module.open = module.complete = True
            self.open_extension(module)
        elif source.file is None:
            module.complete = True
        else:
            module.names["__path__"] = [source.folder] if source.folder else Unknown
            module.rest = self._runner(module, self._text(source))
            if module.name == self.package or self._reaches(module.name):
                self._run(module, first=True)

    def _runner(self, module: Module, text: str | None) -> Iterator[bool]:
        """Run a module in two parts: up to its last load, then what is behind it."""
        if text is None:
            module.open = True
            return
        scope = Scope(module, module.names)
        # Where one module is to be reached, that ends the import.
        everything = self.until is not None and module.name == self.package
        end = text.count("\n") + 1 if everything else last_load(text, self.package)
        body = statements(text)
        behind = False
        try:
            for one in body:
                if not behind and one.lineno > end:
                    behind = True
                    yield True
                self._top(one, scope)
        except Unreadable as error:
            module.open = True
            if names_load(text):
                self.line = 1
                self.cannot_tell(f"{module.file} can't be parsed by this Python ({error})")
        module.complete = True

    def _top(self, node: ast.stmt, scope: Scope) -> None:
        """Execute a statement of a module; leave it out if it fails for no good reason and loads nothing."""
        try:
            self.execute(node, scope)
        except Thrown as thrown:
            if self._definitions.may_load([node], imports=False):
                self.ground(thrown.error)
            if self.is_sure(thrown.error) or self.is_caught(thrown.error):
                raise
            if any(thrown.error is one for one in self.raised):
                words = f"{type(thrown.error).__name__}: {thrown.error}"
                self.cannot_tell(f"{self.place}: whether `{words}` is raised")
            self.forget([node], scope)

    def _run(self, module: Module, *, first: bool) -> None:
        """Run the first part of a module, or all that is left of it."""
        rest = module.rest
        module.rest = None
        if rest is None:
            return
        before = self.module, self.line
        self.enter()
        self.module = module
        try:
            for _ in rest:
                if first:
                    module.rest = rest
                    return
        finally:
            self.depth -= 1
            self.module, self.line = before

    def foreign(self, name: str) -> Value:
        """Import a module of another package; raises Thrown where it is absent."""
        raise NotImplementedError

    def open_file(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Follow the built-in `open`."""
        raise NotImplementedError

    def open_extension(self, module: Module) -> None:
        """Open an extension module of the package; raises Thrown."""
        raise NotImplementedError

    def _locate(self, name: str) -> Source | None:
        parent, _, _ = name.rpartition(".")
        if not parent:
            return self.finder.find(name, self.finder.search)
        known = self.modules.get(parent)
        folder = known.folder if isinstance(known, Module) else None
        if folder is None:
            source = self._locate(parent)
            folder = source.folder if source else None
        return None if folder is None else self.finder.find(name, [folder])

    def _text(self, source: Source) -> str | None:
        if source.file is None:
            return None
        if source.file not in self._texts:
            self._texts[source.file] = text = text_of(self.finder.files, source.file)
            self.spend(len(text or "") // _CHARACTERS)
        return self._texts[source.file]

    # -- names of modules

    def module_attribute(self, module: Module, name: str) -> Value:
        """Return a name of a module, which runs what of it was put off."""
        if name not in module.names and module.rest is not None and module.name != self.package:
            try:
                self._run(module, first=False)
            except Thrown:
                # What was put off loads nothing: that it fails is more likely a fault of the interpretation.
                module.open = True
        value = module.names.get(name, Unknown)
        if type(value) is Deferred:
            value = module.names[name] = self.module_attribute(value.module, value.name)
        return value

    # -- statements

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for one in node.names:
            self.line = node.lineno
            module = self.load_module(one.name)
            if one.asname:
                scope.set(one.asname, module)
            else:
                top = one.name.partition(".")[0]
                scope.set(top, self.modules.get(top, self.known.get(top, Unknown)))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        base = self._absolute(node.level, node.module or "", scope.module)
        if base is None:
            words = "attempted relative import with no known parent package"
            raise Thrown(ImportError(words))
        if base == "__future__":
            return
        module = self.load_module(base)
        for one in node.names:
            self.line = node.lineno
            if one.name == "*":
                self._import_all(module, scope)
            else:
                scope.set(one.asname or one.name, self._imported(module, one.name))

    def _imported(self, module: Value, name: str) -> Value:
        if not isinstance(module, Module):
            return self.attribute(module, name)
        if name in module.names:
            return module.names[name]
        inner = f"{module.name}.{name}"
        if module.folder is not None and self._locate(inner) is not None:
            return self.load_module(inner)
        if module.rest is not None and module.name != self.package:
            if self._mentions(module, name):
                return Deferred(module, name)
            self._run(module, first=False)
        if module.open or not module.complete or "__getattr__" in module.names:
            return Unknown
        where = module.file or "unknown location"
        error = ImportError(f"cannot import name '{name}' from '{module.name}' ({where})")
        raise Thrown(error) if self._has_hooks() else self.sure(error)

    def ground(self, error: BaseException) -> None:
        """Take an error for sure, but for a module that an import system of the package's own may have."""
        if not (isinstance(error, ModuleNotFoundError) and self._has_hooks()):
            super().ground(error)

    def _has_hooks(self) -> bool:
        """Whether the package brings an import system of its own, or puts modules in place itself."""
        return any(text is not None and _HOOKS.search(text) for text in self._texts.values())

    def _mentions(self, module: Module, name: str) -> bool:
        """Whether a name stands in the text of a module, or may come with all names of another."""
        text = self._text(Source(module.file)) or ""
        return re.search(rf"\b(?:{re.escape(name)}|__getattr__|globals|exec)\b|import \*", text) is not None

    def _import_all(self, module: Value, scope: Scope) -> None:
        if not isinstance(module, Module):
            scope.module.open = True
            return
        self._run(module, first=False)
        listed = module.names.get("__all__")
        if isinstance(listed, (list, tuple)):
            names = [one for one in listed if isinstance(one, str)]
        else:
            names = [one for one in module.names if not one.startswith("_")]
        for one in names:
            scope.set(one, module.names.get(one, Unknown))
        scope.module.open = scope.module.open or module.open
