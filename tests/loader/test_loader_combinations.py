"""Random libraries in random folders: whatever the loader makes of them, the model must say the same."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvm.elf.process import Mode
from tests.loader.world import World, run

FOLDERS = ("a", "b", "c/d")
NAMES = ("libw.so", "libx.so", "liby.so", "libz.so")
SYMBOLS = ("f", "g", "h")
ELEMENTS = ("$ORIGIN", "$ORIGIN/../a", "%/b", "${ORIGIN}/d", "%/c/d", "", "/nowhere")
ORIGINS = ("%/a", "%/b", "%/c/d", "%/none")


class Library(NamedTuple):
    """A library to be made: what it defines has the version `node`, what it needs was linked with the version `wants`."""

    folder: str
    name: str
    soname: str | None
    needs: tuple[str, ...]
    path: tuple[str, ...] | None
    is_rpath: bool
    defines: frozenset[str]
    calls: frozenset[str]
    points: frozenset[str]
    now: bool
    node: str | None
    wants: str | None


def few(choices, most):
    return st.lists(st.sampled_from(choices), max_size=most, unique=True)


libraries = st.builds(
    Library,
    st.sampled_from(FOLDERS),
    st.sampled_from(NAMES),
    st.sampled_from((None, *NAMES)),
    few(NAMES, 3).map(tuple),
    st.none() | few(ELEMENTS, 3).map(tuple),
    st.booleans(),
    few(SYMBOLS, 3).map(frozenset),
    few(SYMBOLS, 1).map(frozenset),
    few(SYMBOLS, 1).map(frozenset),
    st.booleans(),
    st.sampled_from((None, None, "V1", "V2")),
    st.sampled_from((None, None, "V1")),
)
modes = st.sampled_from([Mode.NOW, Mode.LAZY, Mode.NOW | Mode.GLOBAL, Mode.LAZY | Mode.GLOBAL])
opened = st.one_of(
    st.sampled_from(NAMES),
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map(lambda pair: f"%/{pair[0]}/{pair[1]}"),
)


@settings(
    max_examples=400, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(
    made=st.lists(libraries, min_size=3, max_size=7, unique_by=lambda one: (one.folder, one.name)),
    environment=few((*ORIGINS, "", "a"), 3),
    preload=few((*NAMES, "%/a/libx.so"), 1),
    opens=st.lists(st.tuples(opened, modes), min_size=1, max_size=4),
)
def test_model_agrees_on_combinations(tools, made, environment, preload, opens):
    folder = Path(tempfile.mkdtemp(dir=tools.folder))
    try:
        world = World(folder, tools)
        for library in made:
            build(world, library)
        world.environment["LD_LIBRARY_PATH"] = ":".join(environment)
        world.environment["LD_PRELOAD"] = " ".join(preload)
        for name, mode in opens:
            world.open(name, mode)
        world.verify()
    finally:
        shutil.rmtree(folder)


def build(world, library):
    """Link a library; equal objects and stand-ins for what is needed are made once."""
    target = world.root / library.folder / library.name
    target.parent.mkdir(parents=True, exist_ok=True)
    words = ["ld", "-shared", "--no-as-needed", "-o", str(target), compiled(world.tools, library)]
    words += [stand_in(world, name, library.wants) for name in library.needs]
    if library.node:
        words += ["--version-script", script(world.tools, library.node)]
    if library.soname:
        words += ["-soname", library.soname]
    if library.path is not None:
        words.append("--disable-new-dtags" if library.is_rpath else "--enable-new-dtags")
        words += ["-rpath", world.text(":".join(library.path))]
    if library.now:
        words += ["-z", "now"]
    run(*words)


def stand_in(world, name, node):
    """Return a library to link against: one with every symbol, at a version, or one that has only a name."""
    if node is None:
        return world._stub(name)
    target = world.tools.folder / f"{name}.{node}"
    if not target.exists():
        everything = Library(
            "", "", None, (), None, False, frozenset(SYMBOLS), frozenset(), frozenset(), False, None, None
        )
        words = ["ld", "-shared", "-soname", name, "--version-script", script(world.tools, node)]
        run(*words, "-o", str(target), compiled(world.tools, everything))
    return str(target)


def script(tools, node):
    target = tools.folder / f"{node}.map"
    target.write_text(f"{node} {{ *; }};")
    return str(target)


def compiled(tools, library):
    folder = tools.folder / "objects"
    folder.mkdir(exist_ok=True)
    defined, called, pointed = (sorted(part) for part in (library.defines, library.calls, library.points))
    target = folder / f"{''.join(defined)}_{''.join(called)}_{''.join(pointed)}.o"
    if not target.exists():
        lines = [".text"]
        lines += [f".globl {name}\n.type {name}, @function\n{name}: ret" for name in defined]
        lines += [f"call {name}@PLT" for name in called if name not in defined]
        lines += [".data", *(f".quad {name}" for name in pointed)]
        run("as", "-o", str(target), text="\n".join([*lines, ".section .note.GNU-stack", ""]))
    return str(target)
