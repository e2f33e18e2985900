"""Files that are no library, or not for this machine. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from tests.loader.damage import erase_dynamic, other_class, other_machine
from tests.loader.world import Cases

case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


@case
def a_file_of_another_class_is_skipped(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", other_class(world, "good/libx.so"))
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.loads("%/good/libx.so")


@case
def only_a_file_of_another_class_is_an_error_of_its_own(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", other_class(world, "good/libx.so"))
    world.environment["LD_LIBRARY_PATH"] = "%/bad"
    world.open("libx.so")
    world.fails("libx.so: wrong ELF class: ELFCLASS32")


@case
def a_path_to_another_class_is_an_error(world):
    world.lib("libx.so")
    world.write("libx.so", other_class(world, "libx.so"))
    world.open("%/libx.so")
    world.fails("%/libx.so: wrong ELF class: ELFCLASS32")


@case
def a_file_of_another_machine_is_skipped(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", other_machine(world, "good/libx.so"))
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.loads("%/good/libx.so")


@case
def a_path_to_another_machine_is_not_found(world):
    world.lib("libx.so")
    world.write("libx.so", other_machine(world, "libx.so"))
    world.open("%/libx.so")
    world.fails("%/libx.so: cannot open shared object file: No such file or directory")


@case
def an_empty_file_ends_the_search(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", b"")
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.fails("%/bad/libx.so: file too short")


@case
def a_text_ends_the_search(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", "INPUT(-lx) /* a script for the linker */" * 4)
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.fails("%/bad/libx.so: invalid ELF header")


@case
def half_a_header_ends_the_search(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", (world.root / "good/libx.so").read_bytes()[:40])
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.fails("%/bad/libx.so: file too short")


@case
def a_header_without_its_table_ends_the_search(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so", (world.root / "good/libx.so").read_bytes()[:100])
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.fails("%/bad/libx.so: cannot read file data")


@case
def a_folder_by_that_name_ends_the_search(world):
    world.lib("good/libx.so")
    world.write("bad/libx.so/file", b"")
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.fails("%/bad/libx.so: cannot read file data: Is a directory")


@case
def a_dangling_link_is_skipped(world):
    world.lib("good/libx.so")
    world.symlink("bad/libx.so", "%/gone")
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("libx.so")
    world.loads("%/good/libx.so")


@case
def a_loop_of_links_gives_up_the_rest_of_its_list(world):
    world.lib("good/libb.so")
    world.lib("own/libb.so")
    world.symlink("bad/libb.so", "libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="$ORIGIN/own")
    world.environment["LD_LIBRARY_PATH"] = "%/bad:%/good"
    world.open("%/liba.so")
    world.loads("%/own/libb.so")


@case
def other_faults_of_a_header_have_their_words(world):
    world.lib("libx.so")
    data = (world.root / "libx.so").read_bytes()
    faults = {"order": (5, 2), "version": (6, 9), "abi": (7, 9), "abiversion": (8, 7), "padding": (12, 1)}
    faults |= {"type": (16, 1), "entry": (54, 57), "late": (20, 2), "osversion": (8, 1)}
    for name, (offset, value) in faults.items():
        world.write(f"lib{name}.so", data[:offset] + bytes([value]) + data[offset + 1 :])
        world.open(f"%/lib{name}.so")


@case
def a_program_is_no_library(world):
    world.open(world.binary)
    world.fails(f"{world.binary}: cannot dynamically load position-independent executable")


@case
def a_program_at_a_fixed_place_is_no_library(world):
    world.program("fixed", options=["-no-pie"])
    world.binary = str(world.tools.program)
    world.open("%/fixed")
    world.fails("%/fixed: cannot dynamically load executable")


@case
def debugging_information_is_no_library(world):
    world.lib("libx.so", "int f(void) { return 1; }")
    data = bytearray((world.root / "libx.so").read_bytes())
    erase_dynamic(data)
    world.write("libx.so", bytes(data))
    world.open("%/libx.so")
    world.fails("%/libx.so: object file has no dynamic section")


@case
def a_library_may_refuse_to_be_opened(world):
    world.lib("libx.so", options=["-Wl,-z,nodlopen"])
    world.open("%/libx.so")
    world.fails("%/libx.so: shared object cannot be dlopen()ed")


@case
def a_library_that_ends_early_kills(world):
    world.lib("libx.so", "int data[4096] = {1};", libc=True)
    world.write("libx.so", (world.root / "libx.so").read_bytes()[:5000])
    world.open("%/libx.so")
