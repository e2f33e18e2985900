"""What is loaded already, and in which order the rest follows. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from cvm.elf.process import Mode
from tests.loader.world import Cases

NOLOAD, NOW = Mode.NOLOAD, Mode.NOW
case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


@case
def a_loaded_soname_wins(world):
    world.lib("first/libx.so", soname="libx.so.1")
    world.lib("second/libx.so.1", soname="libx.so.1")
    world.lib("liba.so", needs=["libx.so.1"], runpath="$ORIGIN/second")
    world.open("%/first/libx.so")
    world.open("%/liba.so")
    world.loads_not("%/second/libx.so.1")


@case
def a_name_that_is_no_soname_is_searched(world):
    world.lib("first/libx.so", soname="libx.so.1")
    world.lib("second/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/second"
    world.open("%/first/libx.so")
    world.open("libx.so")
    world.loads("%/second/libx.so")


@case
def a_requested_name_is_remembered(world):
    world.lib("first/libx.so", soname="libother.so")
    world.lib("second/libx.so")
    world.lib("liba.so", needs=["libx.so"], runpath="$ORIGIN/second")
    world.environment["LD_LIBRARY_PATH"] = "%/first"
    world.open("libx.so")
    world.open("%/liba.so")
    world.loads_not("%/second/libx.so")


@case
def a_path_past_a_loaded_soname_loads_a_second_copy(world):
    world.lib("first/libx.so", soname="libx.so")
    world.copy("second/libx.so", "first/libx.so")
    world.open("%/first/libx.so")
    world.open("%/second/libx.so")
    world.loads("%/second/libx.so")


@case
def the_same_file_by_another_path_is_the_same(world):
    world.lib("first/libx.so")
    world.symlink("second/liby.so", "%/first/libx.so")
    world.open("%/first/libx.so")
    world.open("%/second/liby.so")
    world.loads_not("%/second/liby.so")


@case
def the_earlier_of_two_equal_sonames_answers(world):
    world.lib("first/libx.so", soname="libx.so.1")
    world.lib("second/libx.so", soname="libx.so.1", code="int only_here(void) { return 1; }")
    world.lib("liba.so", "int only_here(void); int f(void) { return only_here(); }", needs=["libx.so.1"])
    world.open("%/first/libx.so")
    world.open("%/second/libx.so")
    world.open("%/liba.so")
    world.fails("%/liba.so: undefined symbol: only_here")


@case
def a_name_learnt_in_a_failed_load_is_kept_or_lost_alike(world):
    world.lib("first/libx.so")
    world.symlink("second/liby.so", "%/first/libx.so")
    world.lib("third/liby.so")
    world.lib("liba.so", needs=["liby.so", "libnone.so"], runpath="$ORIGIN/second")
    world.open("%/first/libx.so")
    world.open("%/liba.so")
    world.environment["LD_LIBRARY_PATH"] = "%/third"
    world.open("liby.so")


@case
def noload_finds_only_what_is_there(world):
    world.lib("libx.so", soname="libx.so.1")
    world.open("%/libx.so")
    world.open("libx.so.1", NOW | NOLOAD)


@case
def a_failed_load_leaves_nothing(world):
    world.lib("libb.so", soname="libb.so")
    world.lib("liba.so", needs=["%/libb.so", "libnone.so"])
    world.open("%/liba.so")
    world.open("libb.so")
    world.fails("libb.so: cannot open shared object file: No such file or directory")


@case
def loading_is_breadth_first(world):
    world.lib("libd.so")
    world.lib("libc1.so")
    world.lib("libb.so", needs=["libd.so"], runpath="$ORIGIN")
    world.lib("liba.so", needs=["libb.so", "libc1.so"], runpath="$ORIGIN")
    world.open("%/liba.so")


@case
def the_first_requester_decides_for_all(world):
    world.lib("one/libx.so")
    world.lib("two/libx.so")
    world.lib("libb.so", needs=["libx.so"], runpath="$ORIGIN/one")
    world.lib("libc1.so", needs=["libx.so"], runpath="$ORIGIN/two")
    world.lib("liba.so", needs=["libc1.so", "libb.so"], runpath="$ORIGIN")
    world.open("%/liba.so")
    world.loads("%/two/libx.so")


@case
def a_circle_of_needs_is_no_problem(world):
    world.lib("libb.so", "int a(void); int b(void) { return a(); }", needs=["liba.so"], runpath="$ORIGIN")
    world.lib(
        "liba.so", "int b(void); int a(void) { return b(); }", needs=["libb.so"], runpath="$ORIGIN", soname="liba.so"
    )
    world.open("%/liba.so")


@case
def the_first_missing_library_is_reported(world):
    world.lib("libb.so", needs=["libdeep.so"])
    world.lib("liba.so", needs=["%/libb.so", "libnear.so"])
    world.open("%/liba.so")
    world.fails("libnear.so: cannot open shared object file: No such file or directory")
