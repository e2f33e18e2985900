"""Where the loader looks for a name. The machine's own loader is the judge of each rule and of the model."""

from __future__ import annotations

import pytest

from tests.loader.world import CALLER, Cases

case = Cases()


@pytest.mark.parametrize("rule", case.parameters)
def test_model_agrees_with_the_loader(rule, world):
    rule(world)
    world.verify()


@case
def a_path_is_opened_as_it_stands(world):
    world.lib("a/liba.so")
    world.open("%/a/liba.so")
    world.loads("%/a/liba.so", "by path")


@case
def a_missing_path_says_so(world):
    world.open("%/none/liba.so")
    world.fails("%/none/liba.so: cannot open shared object file: No such file or directory")


@case
def a_path_through_a_file_says_not_a_directory(world):
    world.lib("liba.so")
    world.open("%/liba.so/libb.so")
    world.fails("%/liba.so/libb.so: cannot open shared object file: Not a directory")


@case
def a_path_in_a_loop_of_links_says_so(world):
    world.symlink("liba.so", "libb.so")
    world.symlink("libb.so", "liba.so")
    world.open("%/liba.so")
    world.fails("%/liba.so: cannot open shared object file: Too many levels of symbolic links")


@case
def a_missing_name_says_so(world):
    world.open("libnowhere_at_all.so")
    world.fails("libnowhere_at_all.so: cannot open shared object file: No such file or directory")


@case
def the_environment_finds_a_bare_name(world):
    world.lib("a/liba.so")
    world.environment["LD_LIBRARY_PATH"] = "%/a"
    world.open("liba.so")
    world.loads("%/a/liba.so", "LD_LIBRARY_PATH[0]=%/a")


@case
def the_first_folder_of_the_environment_wins(world):
    world.lib("a/libx.so")
    world.lib("b/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/none:%/b:%/a"
    world.open("libx.so")
    world.loads("%/b/libx.so", "LD_LIBRARY_PATH[1]=%/b")


@case
def a_semicolon_separates_too(world):
    world.lib("b/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/none;%/b"
    world.open("libx.so")
    world.loads("%/b/libx.so", "LD_LIBRARY_PATH[1]=%/b")


@case
def an_empty_element_is_the_current_folder(world):
    world.lib("libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/none::%/other"
    world.open("libx.so")
    world.loads("libx.so", "LD_LIBRARY_PATH[1]=")


@case
def a_lone_colon_is_the_current_folder(world):
    world.lib("libx.so")
    world.environment["LD_LIBRARY_PATH"] = ":"
    world.open("libx.so")
    world.loads("libx.so")


@case
def an_empty_variable_is_nothing(world):
    world.lib("libx.so")
    world.environment["LD_LIBRARY_PATH"] = ""
    world.open("libx.so")
    world.loads_not("libx.so")


@case
def a_relative_element_counts_from_the_current_folder(world):
    world.lib("a/b/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "a/b/"
    world.open("libx.so")
    world.loads("a/b/libx.so")


@case
def the_path_is_not_tidied(world):
    world.lib("a/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%//a/../a///"
    world.open("libx.so")
    world.loads("%//a/../a/libx.so")


@case
def the_environment_knows_the_programs_origin(world):
    world.program("bin/prog")
    world.lib("lib/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "$ORIGIN/../lib"
    world.open("libx.so")
    world.loads("%/bin/../lib/libx.so")


@case
def an_element_with_an_unknown_token_is_taken_literally(world):
    world.lib("$HOME/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/$HOME"
    world.open("libx.so")
    world.loads("%/$HOME/libx.so")


@case
def runpath_finds_what_its_owner_needs(world):
    world.lib("b/libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="$ORIGIN/b")
    world.open("%/liba.so")
    world.loads("%/b/libb.so", "RUNPATH of %/liba.so")


@case
def runpath_is_not_inherited(world):
    world.lib("deep/libc1.so")
    world.lib("deep/libb.so", needs=["libc1.so"])
    world.lib("liba.so", needs=["libb.so"], runpath="$ORIGIN/deep")
    world.open("%/liba.so")
    world.fails("libc1.so: cannot open shared object file: No such file or directory")


@case
def rpath_is_inherited(world):
    world.lib("deep/libc1.so")
    world.lib("deep/libb.so", needs=["libc1.so"])
    world.lib("liba.so", needs=["libb.so"], rpath="$ORIGIN/deep")
    world.open("%/liba.so")
    world.loads("%/deep/libc1.so", "RPATH of %/liba.so")


@case
def the_environment_comes_before_runpath(world):
    world.lib("own/libb.so")
    world.lib("other/libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="$ORIGIN/own")
    world.environment["LD_LIBRARY_PATH"] = "%/other"
    world.open("%/liba.so")
    world.loads("%/other/libb.so", "LD_LIBRARY_PATH[0]=%/other")


@case
def rpath_comes_before_the_environment(world):
    world.lib("own/libb.so")
    world.lib("other/libb.so")
    world.lib("liba.so", needs=["libb.so"], rpath="$ORIGIN/own")
    world.environment["LD_LIBRARY_PATH"] = "%/other"
    world.open("%/liba.so")
    world.loads("%/own/libb.so")


@case
def runpath_switches_the_rpath_of_its_loaders_off(world):
    world.lib("deep/libc1.so")
    world.lib("deep/libb.so", needs=["libc1.so"], runpath="/nowhere")
    world.lib("liba.so", needs=["libb.so"], rpath="$ORIGIN/deep")
    world.open("%/liba.so")
    world.fails("libc1.so: cannot open shared object file: No such file or directory")


@case
def an_object_with_runpath_in_the_chain_is_only_skipped(world):
    world.lib("deep/libd.so")
    world.lib("deep/libc1.so", needs=["libd.so"])
    world.lib("deep/libb.so", needs=["libc1.so"], runpath="$ORIGIN")
    world.lib("liba.so", needs=["libb.so"], rpath="$ORIGIN/deep")
    world.open("%/liba.so")
    world.loads("%/deep/libd.so", "RPATH of %/liba.so")


@case
def the_nearest_rpath_comes_first(world):
    world.lib("near/libc1.so")
    world.lib("far/libc1.so")
    world.lib("far/libb.so", needs=["libc1.so"], rpath="$ORIGIN/../near")
    world.lib("liba.so", needs=["libb.so"], rpath="$ORIGIN/far")
    world.open("%/liba.so")
    world.loads("%/far/../near/libc1.so")


@case
def an_empty_runpath_still_switches_rpath_off(world):
    world.lib("deep/libc1.so")
    world.lib("deep/libb.so", needs=["libc1.so"], runpath="$ORIGIN/gone")
    # The string becomes empty, the entry stays.
    data = (world.root / "deep/libb.so").read_bytes().replace(b"$ORIGIN/gone", b"\0" * 12)
    world.write("deep/libb.so", data)
    world.lib("liba.so", needs=["libb.so"], rpath="$ORIGIN/deep")
    world.open("%/liba.so")
    world.fails("libc1.so: cannot open shared object file: No such file or directory")


@case
def an_empty_element_of_rpath_is_the_current_folder(world):
    world.lib("libb.so")
    world.lib("a/liba.so", needs=["libb.so"], rpath="/nowhere::/none")
    world.open("%/a/liba.so")
    world.loads("libb.so")


@case
def the_programs_rpath_serves_everyone(world):
    world.lib("deep/libb.so")
    world.program("prog", rpath="%/deep")
    world.lib("liba.so", needs=["libb.so"])
    world.open("%/liba.so")
    world.loads("%/deep/libb.so", "RPATH of %/prog")


@case
def the_programs_rpath_serves_no_library_with_runpath(world):
    world.lib("deep/libb.so")
    world.program("prog", rpath="%/deep")
    world.lib("liba.so", needs=["libb.so"], runpath="/nowhere")
    world.open("%/liba.so")
    world.fails("libb.so: cannot open shared object file: No such file or directory")


@case
def the_programs_runpath_serves_its_own_dlopen(world):
    world.lib("deep/libb.so")
    world.program("prog", runpath="$ORIGIN/deep")
    world.open("libb.so")
    world.loads("%/deep/libb.so", "RUNPATH of %/prog")


@case
def the_programs_runpath_serves_no_library(world):
    world.lib("deep/libb.so")
    world.program("prog", runpath="$ORIGIN/deep")
    world.lib("liba.so", needs=["libb.so"])
    world.open("%/liba.so")
    world.fails("libb.so: cannot open shared object file: No such file or directory")


@case
def dlopen_uses_the_callers_runpath(world):
    world.lib("deep/libb.so")
    world.lib("caller.so", CALLER, runpath="$ORIGIN/deep", libc=True)
    world.open("%/caller.so")
    world.open("libb.so", caller="%/caller.so")
    world.loads("%/deep/libb.so", "RUNPATH of %/caller.so")


@case
def dlopen_uses_the_rpath_of_the_callers_loaders(world):
    world.lib("deep/libb.so")
    world.lib("deep/caller.so", CALLER, soname="caller.so", libc=True)
    world.lib("liba.so", needs=["deep/caller.so"], rpath="$ORIGIN/deep")
    world.open("%/liba.so")
    world.open("libb.so", caller="caller.so")
    world.loads("%/deep/libb.so", "RPATH of %/liba.so")


@case
def what_was_dlopened_does_not_inherit_the_callers_rpath(world):
    world.lib("deep/libc1.so")
    world.lib("deep/libb.so", needs=["libc1.so"])
    world.lib("caller.so", CALLER, rpath="$ORIGIN/deep", libc=True)
    world.open("%/caller.so")
    world.open("libb.so", caller="%/caller.so")
    world.fails("libc1.so: cannot open shared object file: No such file or directory")


@case
def origin_is_the_folder_of_a_link_not_of_its_target(world):
    world.lib("real/libb.so")
    world.lib("link/libb.so")
    world.lib("real/liba.so", needs=["libb.so"], runpath="$ORIGIN")
    world.symlink("link/liba.so", "%/real/liba.so")
    world.open("%/link/liba.so")
    world.loads("%/link/libb.so")


@case
def the_programs_origin_is_that_of_its_target(world):
    world.lib("real/libb.so")
    world.program("real/prog", needs=["libb.so"], runpath="$ORIGIN")
    world.symlink("link/prog", "%/real/prog")
    world.binary = world.text("%/link/prog")
    world.loads("%/real/libb.so")


@case
def braces_and_the_library_token_are_expanded(world):
    world.lib(world.tools.runtime.library + "/libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="${ORIGIN}/$LIB")
    world.open("%/liba.so")
    world.loads(f"%/{world.tools.runtime.library}/libb.so")


@case
def the_platform_token_is_expanded(world):
    world.lib(world.tools.runtime.platform + "/libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="$ORIGIN/${PLATFORM}")
    world.open("%/liba.so")
    world.loads(f"%/{world.tools.runtime.platform}/libb.so")


@case
def a_longer_name_is_no_token(world):
    world.lib("$ORIGINAL/libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="%/$ORIGINAL")
    world.open("%/liba.so")
    world.loads("%/$ORIGINAL/libb.so")


@case
def a_needed_path_is_opened_as_a_path(world):
    world.lib("sub/libb.so")
    world.lib("liba.so", needs=["%/sub/libb.so"])
    world.open("%/liba.so")
    world.loads("%/sub/libb.so", "by path")


@case
def a_needed_path_may_have_a_token(world):
    world.lib("sub/libb.so")
    world.lib("liba.so", needs=["$ORIGIN/sub/libb.so"])
    world.open("%/liba.so")
    world.loads("%/sub/libb.so")


@case
def a_relative_needed_path_counts_from_the_current_folder(world):
    world.lib("other/liba.so", needs=["./sub/libb.so"])
    world.lib("sub/libb.so")
    world.open("%/other/liba.so")
    world.loads("./sub/libb.so")


@case
def dlopen_expands_tokens_of_the_caller(world):
    world.lib("sub/libb.so")
    world.lib("sub/caller.so", CALLER, libc=True)
    world.open("%/sub/caller.so")
    world.open("$ORIGIN/libb.so", caller="%/sub/caller.so")
    world.loads("%/sub/libb.so")


@case
def the_cache_comes_after_the_environment(world):
    world.lib("a/libz.so.1")
    world.environment["LD_LIBRARY_PATH"] = "%/a"
    world.open("libz.so.1")
    world.loads("%/a/libz.so.1")


@case
def the_cache_finds_what_nothing_else_does(world):
    world.open("libm.so.6")
    world.open("libgcc_s.so.1")


@case
def without_default_folders_the_cache_is_skipped(world):
    world.lib("liba.so", needs=["libgcc_s.so.1"], options=["-Wl,-z,nodefaultlib"])
    world.open("%/liba.so")
    world.fails("libgcc_s.so.1: cannot open shared object file")


@case
def a_folder_for_a_better_processor_comes_first(world):
    below = world.tools.runtime.subfolders[0]
    world.lib("a/libx.so")
    world.lib(f"a/{below}libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/a"
    world.open("libx.so")
    world.loads(f"%/a/{below}libx.so")


@case
def the_lesser_folders_for_processors_come_in_order(world):
    below = [name for name in world.tools.runtime.subfolders if name]
    for name in below[1::3]:
        world.lib(f"a/{name}libx.so")
    world.lib("a/libx.so")
    world.environment["LD_LIBRARY_PATH"] = "%/a"
    world.open("libx.so")


@case
def a_folder_for_processors_counts_in_runpath_too(world):
    below = [name for name in world.tools.runtime.subfolders if name][-1:]
    for name in below:
        world.lib(f"a/{name}libb.so")
    world.lib("a/libb.so")
    world.lib("liba.so", needs=["libb.so"], runpath="$ORIGIN/a")
    world.open("%/liba.so")
