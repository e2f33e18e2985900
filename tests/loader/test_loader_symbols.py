"""Which symbols a load needs, and who lends them. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from cvm.elf.process import Mode
from tests.loader.world import CALLER, Cases

GLOBAL, LAZY, NOW = Mode.GLOBAL, Mode.LAZY, Mode.NOW
case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


@case
def a_missing_function_stops_an_eager_load(world):
    world.lib("liba.so", "int none(void); int f(void) { return none(); }")
    world.open("%/liba.so", NOW)
    world.fails("%/liba.so: undefined symbol: none")


@case
def a_missing_function_stops_a_lazy_call(world):
    world.lib("liba.so", "int none(void); int f(void) { return none(); }")
    world.open("%/liba.so", LAZY)
    world.call("%/liba.so", "f")


@case
def a_missing_variable_stops_a_lazy_load(world):
    world.lib("liba.so", "extern int none; int *f = &none;")
    world.open("%/liba.so", LAZY)
    world.fails("%/liba.so: undefined symbol: none")


@case
def a_function_whose_address_is_taken_stops_a_lazy_load(world):
    world.lib("liba.so", "int none(void); int (*f)(void) = none; int g(void) { return none(); }")
    world.open("%/liba.so", LAZY)
    world.fails("%/liba.so: undefined symbol: none")


@case
def a_library_linked_to_bind_at_once_stops_a_lazy_load(world):
    world.lib("liba.so", "int none(void); int f(void) { return none(); }", options=["-Wl,-z,now"])
    world.open("%/liba.so", LAZY)
    world.fails("%/liba.so: undefined symbol: none")


@case
def a_weak_symbol_may_be_missing(world):
    world.lib("liba.so", "__attribute__((weak)) int none(void); int f(void) { return none ? none() : 0; }")
    world.open("%/liba.so")


@case
def a_weak_definition_is_one(world):
    world.lib("libb.so", "__attribute__((weak)) int some(void) { return 1; }")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def a_hidden_definition_is_none(world):
    world.lib("libb.so", '__attribute__((visibility("hidden"))) int some(void) { return 1; }')
    world.lib("liba.so", "int some(void); int f(void) { return some(); }", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")
    world.fails("%/liba.so: undefined symbol: some")


@case
def a_local_load_lends_nothing(world):
    world.lib("libb.so", "int some(void) { return 1; }")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }")
    world.open("%/libb.so", NOW)
    world.open("%/liba.so")
    world.fails("%/liba.so: undefined symbol: some")


@case
def a_global_load_lends_its_symbols(world):
    world.lib("libb.so", "int some(void) { return 1; }")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }")
    world.open("%/libb.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def a_global_load_lends_its_dependencies_too(world):
    world.lib("libc1.so", "int some(void) { return 1; }")
    world.lib("libb.so", needs=["libc1.so"], runpath="$ORIGIN")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }")
    world.open("%/libb.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def a_second_global_load_promotes(world):
    world.lib("libb.so", "int some(void) { return 1; }")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }")
    world.open("%/libb.so", NOW)
    world.open("%/libb.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def a_promoted_dependency_brings_its_own(world):
    world.lib("libd.so", "int some(void) { return 1; }")
    world.lib("libc1.so", needs=["libd.so"], runpath="$ORIGIN")
    world.lib("libb.so", needs=["libc1.so"], runpath="$ORIGIN")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }")
    world.open("%/libb.so", NOW)
    world.open("%/libc1.so", NOW | GLOBAL)
    world.open("%/liba.so")


@case
def siblings_see_each_other_through_their_root(world):
    world.lib("libc1.so", "int some(void) { return 1; }")
    world.lib("libb.so", "int some(void); int f(void) { return some(); }")
    world.lib("liba.so", needs=["libb.so", "libc1.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def a_dependency_loaded_before_is_in_scope(world):
    world.lib("libc1.so", "int some(void) { return 1; }", soname="libc1.so")
    world.lib("liba.so", "int some(void); int f(void) { return some(); }", needs=["libc1.so"], runpath="$ORIGIN")
    world.open("%/libc1.so")
    world.open("%/liba.so")


@case
def the_callers_scope_is_not_lent(world):
    world.lib("caller.so", CALLER + "\nint some(void) { return 1; }", libc=True)
    world.lib("liba.so", "int some(void); int f(void) { return some(); }")
    world.open("%/caller.so")
    world.open("%/liba.so", caller="%/caller.so")
    world.fails("%/liba.so: undefined symbol: some")


@case
def a_dependency_is_relocated_before_what_needs_it(world):
    world.lib("libb.so", "int in_b(void); int f(void) { return in_b(); }")
    world.lib("liba.so", "int in_a(void); int g(void) { return in_a(); }", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")
    world.fails("%/libb.so: undefined symbol: in_b")


@case
def a_file_is_relocated_in_the_order_of_its_tables(world):
    code = "int call1(void); int call2(void); extern int data1, data2; int *p = &data2, *q = &data1;"
    world.lib("liba.so", code + " int f(void) { return call2() + call1(); }")
    world.open("%/liba.so")


@case
def relocation_follows_depth_not_the_order_of_loading(world):
    world.lib("libe.so", "int in_e(void); int e(void) { return in_e(); }")
    world.lib("libd.so", "int in_d(void); int d(void) { return in_d(); }", needs=["libe.so"], runpath="$ORIGIN")
    world.lib("libc1.so", "int in_c(void); int c(void) { return in_c(); }")
    world.lib("libb.so", "int in_b(void); int b(void) { return in_b(); }", needs=["libd.so"], runpath="$ORIGIN")
    world.lib("liba.so", needs=["libe.so", "libb.so", "libc1.so", "libd.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def a_symbol_nothing_refers_to_may_be_missing(world):
    world.lib("liba.so", options=["-Wl,-u,none"])
    world.open("%/liba.so")
    world.loads("%/liba.so")


@case
def an_absolute_symbol_is_a_definition(world):
    world.lib("libb.so", '__asm__(".globl zero; zero = 0");')
    world.lib("liba.so", "extern int zero; int *p = &zero;", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def a_thread_local_variable_is_a_definition(world):
    world.lib("libb.so", "__thread int some = 1;")
    world.lib("liba.so", "extern __thread int some; int f(void) { return some; }", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def a_missing_thread_local_variable_is_missing(world):
    world.lib("liba.so", "extern __thread int some; int f(void) { return some; }")
    world.open("%/liba.so", LAZY)
    world.fails("%/liba.so: undefined symbol: some")


@case
def an_indirect_function_is_a_definition(world):
    code = "static int real(void) { return 1; } static void *pick(void) { return real; }"
    world.lib("libb.so", code + ' int some(void) __attribute__((ifunc("pick")));')
    world.lib("liba.so", "int some(void); int f(void) { return some(); }", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def the_older_hash_table_serves_as_well(world):
    world.lib("libb.so", "int some(void) { return 1; }", options=["-Wl,--hash-style=sysv"])
    code = "int some(void); int none(void); int f(void) { return some() + none(); }"
    world.lib("liba.so", code, needs=["libb.so"], runpath="$ORIGIN", options=["-Wl,--hash-style=sysv"])
    world.open("%/liba.so")
    world.fails("%/liba.so: undefined symbol: none")


@case
def both_hash_tables_serve_as_well(world):
    world.lib("libb.so", "int some(void) { return 1; }", options=["-Wl,--hash-style=both"])
    world.lib("liba.so", "int some(void); int f(void) { return some(); }", needs=["libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def packed_relocations_are_no_hindrance(world):
    code = "int none(void); static int x; int *p = &x, *q = &x; int f(void) { return none(); }"
    world.lib("liba.so", code, options=["-Wl,-z,pack-relative-relocs"])
    world.open("%/liba.so")


@case
def symbolic_libraries_resolve_alike(world):
    world.lib("libb.so", "int some(void) { return 1; } int f(void) { return some(); }", options=["-Wl,-Bsymbolic"])
    world.lib("liba.so", "int some(void); int none(void); int g(void) { return some() + none(); }", needs=["%/libb.so"])
    world.open("%/liba.so")
    world.fails("%/liba.so: undefined symbol: none")
