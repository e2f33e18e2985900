"""Preloaded libraries, and the start of a program. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from cvm.elf.process import Mode
from tests.loader.world import Cases

LAZY = Mode.LAZY
case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


@case
def a_preloaded_soname_wins(world):
    world.lib("pre/libx.so", soname="libx.so")
    world.lib("own/libx.so", soname="libx.so")
    world.program("prog", needs=["own/libx.so"], rpath="$ORIGIN/own")
    world.environment["LD_PRELOAD"] = "%/pre/libx.so"
    world.loads("%/pre/libx.so", "LD_PRELOAD, by path")


@case
def a_preload_without_a_slash_is_searched(world):
    world.lib("pre/libx.so")
    world.environment |= {"LD_PRELOAD": "libx.so libgcc_s.so.1", "LD_LIBRARY_PATH": "%/pre"}
    world.loads("%/pre/libx.so", "LD_PRELOAD, LD_LIBRARY_PATH[0]=%/pre")


@case
def a_missing_preload_is_only_a_warning(world):
    world.environment["LD_PRELOAD"] = "libnone.so:%/none.so"


@case
def a_bad_preload_is_only_a_warning(world):
    world.write("bad.so", b"")
    world.lib("good.so")
    world.environment["LD_PRELOAD"] = "%/bad.so %/good.so"
    world.loads("%/good.so")


@case
def a_preload_fills_in_for_what_is_missing(world):
    world.lib("pre.so", "int f(void) { return 1; }")
    world.lib("liba.so", "int f(void); int g(void) { return f(); }")
    world.environment["LD_PRELOAD"] = "%/pre.so"
    world.open("%/liba.so")


@case
def a_program_without_its_library_does_not_start(world):
    world.program("prog", needs=["libnone.so"])
    world.fails(
        "%/prog: error while loading shared libraries: libnone.so: cannot open shared object file: No such file or directory"
    )


@case
def a_program_without_its_variable_does_not_start(world):
    world.lib("liba.so", "extern int v; int *p = &v;")
    world.program("prog", needs=["liba.so"], runpath="$ORIGIN")
    world.fails("%/prog: symbol lookup error: %/liba.so: undefined symbol: v")


@case
def a_program_without_its_version_does_not_start(world):
    world.lib("link/libv.so", "int f(void) { return 1; }", soname="libv.so", script="V2 { f; };")
    world.lib("run/libv.so", "int f(void) { return 1; }", soname="libv.so", script="V1 { f; };")
    world.program("prog", ["link/libv.so"], code="int f(void); int g(void) { return f(); }", rpath="$ORIGIN/run")
    world.fails("%/prog: %/run/libv.so: version `V2' not found (required by %/prog)")


@case
def a_program_whose_library_lost_its_versions_is_warned(world):
    world.lib("link/libv.so", "int f(void) { return 1; }", soname="libv.so", script="V1 { f; };")
    world.lib("run/libv.so", "int f(void) { return 1; }", soname="libv.so", libc=True, needs=["libc.so.6"])
    world.program("prog", ["link/libv.so"], code="int f(void); int g(void) { return f(); }", rpath="$ORIGIN/run")


@case
def a_program_lends_its_symbols(world):
    world.program("prog", code="int given = 1;")
    world.lib("liba.so", "extern int given; int *p = &given;")
    world.open("%/liba.so")


@case
def binding_at_once_is_the_environments_choice(world):
    world.lib("liba.so", "int none(void); int f(void) { return none(); }")
    world.environment["LD_BIND_NOW"] = "1"
    world.open("%/liba.so", LAZY)
    world.fails("%/liba.so: undefined symbol: none")


@case
def an_empty_wish_to_bind_at_once_is_none(world):
    world.lib("liba.so", "int none(void); int f(void) { return none(); }")
    world.environment["LD_BIND_NOW"] = ""
    world.open("%/liba.so", LAZY)
    world.loads("%/liba.so")
