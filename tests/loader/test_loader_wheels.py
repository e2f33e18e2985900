"""A library of another release in front of a wheel. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from cvm.elf.process import Mode
from tests.loader.world import Cases

GLOBAL, NOW = Mode.GLOBAL, Mode.NOW
case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


@case
def an_older_library_in_front_breaks_a_wheel(world):
    old, new = "int complete_12_1(void) { return 1; }", "int complete_12_4(void) { return 1; }"
    node = "libjit.so.12 { global: *; };"
    world.lib("toolkit/libjit.so.12", old, soname="libjit.so.12", script=node)
    world.lib("wheel/jit/libjit.so.12", old + new, soname="libjit.so.12", script=node)
    uses = "int complete_12_4(void); int use(void) { return complete_12_4(); }"
    world.lib("wheel/sparse/libsparse.so", uses, needs=["wheel/jit/libjit.so.12"], runpath="$ORIGIN/../jit")
    world.environment["LD_LIBRARY_PATH"] = "%/toolkit"
    world.open("%/wheel/sparse/libsparse.so")
    world.fails("%/wheel/sparse/libsparse.so: undefined symbol: complete_12_4, version libjit.so.12")


@case
def a_preloaded_library_saves_the_wheel(world):
    code = "int complete_12_4(void) { return 1; }"
    world.lib("toolkit/libjit.so.12", "int other(void) { return 1; }", soname="libjit.so.12")
    world.lib("wheel/jit/libjit.so.12", code, soname="libjit.so.12")
    uses = "int complete_12_4(void); int use(void) { return complete_12_4(); }"
    world.lib("wheel/sparse/libsparse.so", uses, needs=["wheel/jit/libjit.so.12"], runpath="$ORIGIN/../jit")
    world.environment["LD_LIBRARY_PATH"] = "%/toolkit"
    world.open("%/wheel/jit/libjit.so.12", NOW | GLOBAL)
    world.open("%/wheel/sparse/libsparse.so")
    world.loads_not("%/toolkit/libjit.so.12")
