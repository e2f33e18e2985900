"""Versions of symbols. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from cvm.elf.process import Mode
from tests.loader.damage import rename_needed
from tests.loader.world import Cases

GLOBAL, NOW = Mode.GLOBAL, Mode.NOW
case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


V1, V2, BOTH = "V1 { f; };", "V2 { f; };", "V1 { f; g; }; V2 { h; } V1;"
USES_F = "int f(void); int use(void) { return f(); }"
F = "int f(void) { return 1; }"


def versioned(world, run, *, script, uses=USES_F, link=F, link_script=V1):
    world.lib("link/libv.so", link, soname="libv.so", script=link_script)
    world.lib("run/libv.so", run, soname="libv.so", script=script)
    world.lib("liba.so", uses, needs=["link/libv.so"], runpath="$ORIGIN/run")
    world.open("%/liba.so")


@case
def a_version_that_is_there_is_found(world):
    versioned(world, F, script=V1)


@case
def a_missing_version_is_reported_before_any_symbol(world):
    world.lib("libother.so", "int none(void); int o(void) { return none(); }")
    world.lib("link/libv.so", F, soname="libv.so", script=V2)
    world.lib("run/libv.so", F, soname="libv.so", script=V1)
    world.lib("liba.so", USES_F, needs=["%/libother.so", "link/libv.so"], runpath="$ORIGIN/run")
    world.open("%/liba.so")
    world.fails("%/run/libv.so: version `V2' not found (required by %/liba.so)")


@case
def a_node_without_the_symbol_is_an_undefined_symbol(world):
    versioned(world, "int g(void) { return 1; }", script="V1 { g; };")
    world.fails("%/liba.so: undefined symbol: f, version V1")


@case
def a_node_named_like_the_library_says_nothing(world):
    # NVIDIA's libraries: the one node has the name of the library.
    node = "libv.so { f; };"
    versioned(world, "int g(void) { return 1; }", script="libv.so { g; };", link_script=node)
    world.fails("%/liba.so: undefined symbol: f, version libv.so")


@case
def the_base_node_counts_as_a_version(world):
    versioned(world, F, script="W { f; };", link_script="libv.so { f; };")
    world.fails("%/liba.so: undefined symbol: f, version libv.so")


@case
def a_symbol_under_another_node_does_not_fit(world):
    versioned(world, F, script="V1 { none; }; V2 { f; } V1;")
    world.fails("%/liba.so: undefined symbol: f, version V1")


@case
def a_symbol_without_a_version_fits_any(world):
    versioned(world, F, script="V1 { none; };")


@case
def a_hidden_version_answers_its_own_name(world):
    code = '__asm__(".symver f1, f@V1"); int f1(void) { return 1; }'
    versioned(world, code, script=V1)


@case
def a_plain_reference_takes_the_only_version(world):
    world.lib("libv.so", F, script="V1 { none; }; V2 { f; } V1;", soname="libv.so")
    world.lib("liba.so", USES_F, needs=["%/libv.so"])
    world.open("%/liba.so")


@case
def a_plain_reference_takes_the_first_node_though_hidden(world):
    world.lib("libv.so", '__asm__(".symver f1, f@V1"); int f1(void) { return 1; }', script=V1, soname="libv.so")
    world.lib("liba.so", USES_F, needs=["%/libv.so.none"][:0], runpath="$ORIGIN")
    world.open("%/libv.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def a_plain_reference_takes_no_hidden_later_version(world):
    code = '__asm__(".symver f1, f@V2"); int f1(void) { return 1; } int g(void) { return 1; }'
    world.lib("libv.so", code, script="V1 { g; }; V2 { f; } V1;", soname="libv.so")
    world.lib("liba.so", USES_F)
    world.open("%/libv.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def a_plain_reference_takes_none_of_two_later_versions(world):
    code = (
        '__asm__(".symver f2, f@V2"); __asm__(".symver f3, f@@V3");'
        " int f2(void) { return 2; } int f3(void) { return 3; } int g(void) { return 1; }"
    )
    world.lib("libv.so", code, script="V1 { g; }; V2 { f2; } V1; V3 { f3; } V2;", soname="libv.so")
    world.lib("liba.so", USES_F)
    world.open("%/libv.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def a_weak_version_may_be_missing(world):
    uses = "__attribute__((weak)) int f(void); int use(void) { return f ? f() : 0; }"
    versioned(world, "int g(void) { return 1; }", script="W { g; };", uses=uses)


@case
def a_version_answered_by_another_library_counts(world):
    world.lib("liba0.so", F, script=V1, soname="liba0.so")
    world.open("%/liba0.so", NOW | GLOBAL)
    versioned(world, "int g(void) { return 1; }", script="V1 { g; };")


@case
def a_library_that_lost_its_versions_still_answers(world):
    world.lib("link/libv.so", F, soname="libv.so", script=V1)
    # It needs versions itself, so the loader sees a version table.
    world.lib("run/libv.so", F + " int puts(const char *); void g(void) { puts(0); }", soname="libv.so", libc=True)
    world.lib("liba.so", USES_F, needs=["link/libv.so"], runpath="$ORIGIN/run")
    world.open("%/liba.so")


@case
def a_library_without_any_version_table_is_an_inconsistency(world):
    world.lib("link/libv.so", F, soname="libv.so", script=V1)
    world.lib("run/libv.so", F, soname="libv.so")
    world.lib("liba.so", USES_F, needs=["link/libv.so"], runpath="$ORIGIN/run")
    world.open("%/liba.so")


@case
def a_renamed_need_with_old_versions_is_an_inconsistency(world):
    world.lib("link/libv.so", F, soname="libv.so", script=V1)
    world.lib("liba.so", USES_F, needs=["link/libv.so"])
    # Only the entry of NEEDED changes, as when a tool renames it and forgets the versions.
    rename_needed(world, "liba.so", "libv.so", "bv.so")
    world.lib("bv.so", F, soname="bv.so", script=V1)
    world.environment["LD_LIBRARY_PATH"] = "%"
    world.open("%/liba.so")


@case
def several_versions_of_one_name_are_told_apart(world):
    link = (
        '__asm__(".symver f1, f@V1"); __asm__(".symver f2, f@@V2");'
        " int f1(void) { return 1; } int f2(void) { return 2; }"
    )
    script = "V1 { f1; }; V2 { f2; } V1;"
    versioned(
        world, '__asm__(".symver f1, f@V1"); int f1(void) { return 1; }', script=script, link=link, link_script=script
    )
    world.fails("%/liba.so: undefined symbol: f, version V2")
