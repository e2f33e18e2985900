"""use, unuse, global, local, current, which, exec, env, rehash: what they answer and what they leave on disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.toolkit import merged, nccl, script, write_tree
from tests.fakes.torch import RUNTIME, make_torch
from tests.functional import processes

if TYPE_CHECKING:
    from tests.functional.conftest import World

PATH = "/usr/bin:/bin"


@pytest.fixture
def ready(world: World, tmp_path: Path) -> World:
    """99.1.0, 99.1.1 with cuDNN, 99.10.0, and a linked toolkit; the person is in an empty folder, in sh with cvm."""
    world.ok("install", "99.1.0", "99.1.1-cudnn", "99.10")
    site = write_tree({**merged("99.1.1"), **nccl("2.18.3"), "bin/sed": script("")}, tmp_path / "site tree")
    world.ok("link", "site", site)
    (tmp_path / "work").mkdir()
    world.monkeypatch.chdir(tmp_path / "work")
    world.monkeypatch.setenv("PATH", PATH)
    world.monkeypatch.setenv("PWD", str(tmp_path / "work"))
    world.monkeypatch.setenv("_CVM_SHELL", "sh")
    return world


def evaluated(world: World, code: str) -> dict[str, str]:
    """The environment of sh after it evaluates what a command printed."""
    code = code.replace("$CVM_HOME", str(world.home))
    done = subprocess.run(["/bin/sh", "-c", f"{code}\nexec /usr/bin/env -0"], capture_output=True, check=True)
    pairs = (item.split("=", 1) for item in os.fsdecode(done.stdout).split("\0") if item)
    return {name: value for name, value in pairs if name != "_"}


def enter(world: World, *arguments: str) -> dict[str, str]:
    """Run a command such as `use`, and let the rest of the test live in the environment afterwards."""
    after = evaluated(world, world.ok(*arguments).out)
    for name in set(os.environ) - set(after):
        world.monkeypatch.delenv(name)
    for name, value in after.items():
        world.monkeypatch.setenv(name, value)
    return after


def test_use_sets_what_build_systems_read(ready: World) -> None:
    after = enter(ready, "use", "99.1")
    prefix = str(ready.toolchain("99.1.1-cudnn99.8.9.25"))
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDNN_PATH", "CUDNN_ROOT"):
        assert after[name] == prefix
    assert after["CUDACXX"] == f"{prefix}/bin/nvcc"
    assert after["PATH"] == f"{prefix}/bin:{PATH}"
    assert after["LIBRARY_PATH"] == f"{prefix}/lib64:{prefix}/lib64/stubs"
    assert after["LD_LIBRARY_PATH"] == f"{prefix}/lib64"
    assert after["CVM_TOOLCHAIN"] == "99.1.1-cudnn99.8.9.25"
    assert "NCCL_HOME" not in after


def test_use_of_a_linked_toolkit_names_its_folders(ready: World, tmp_path: Path) -> None:
    after = enter(ready, "use", "site")
    assert after["CUDA_HOME"] == after["NCCL_HOME"] == str(tmp_path / "site tree")
    assert after["LD_LIBRARY_PATH"] == f"{tmp_path}/site tree/lib"
    assert ready.ok("current").out == "site (set by CVM_TOOLCHAIN)\n"


def test_unuse_brings_everything_back(ready: World) -> None:
    before = {name: value for name, value in os.environ.items() if name != "_"}
    enter(ready, "use", "99.1")
    enter(ready, "use", "99.10")
    after = enter(ready, "unuse")
    assert {name: value for name, value in after.items() if name != "_CVM_PREVIOUS"} == before


def test_use_dash_goes_back_and_forth(ready: World) -> None:
    outcome = ready.run("use", "-")
    assert (outcome.code, outcome.err) == (
        3,
        "error: no toolchain was in use before in this shell\nhint: cvm use 12.1\n",
    )
    enter(ready, "use", "99.1.0")
    enter(ready, "use", "99.10")
    assert enter(ready, "use", "-")["CVM_TOOLCHAIN"] == "99.1.0"
    assert enter(ready, "use", "-")["CVM_TOOLCHAIN"] == "99.10.0"
    assert "CVM_TOOLCHAIN" not in enter(ready, "unuse")
    assert enter(ready, "use", "-")["CVM_TOOLCHAIN"] == "99.10.0"
    assert "CVM_TOOLCHAIN" not in enter(ready, "use", "-")


def test_use_system_masks_the_global_default(ready: World) -> None:
    ready.ok("global", "99.1")
    after = enter(ready, "use", "system")
    assert (after["CVM_TOOLCHAIN"], after["PATH"]) == ("system", PATH)
    assert ready.ok("current").out == "system (set by CVM_TOOLCHAIN)\n"
    assert ready.run("exec", "--", "true").err == (
        "error: system (set by CVM_TOOLCHAIN): no toolchain is selected\nhint: cvm list\n"
    )


def test_use_without_a_request_takes_what_the_folder_selects(ready: World) -> None:
    Path(".cuda-version").write_text("99.1.0\n")
    assert enter(ready, "use")["CVM_TOOLCHAIN"] == "99.1.0"


def test_use_of_what_is_missing_changes_nothing_and_says_how_to_get_it(ready: World) -> None:
    outcome = ready.run("use", "99.2")
    assert (outcome.code, outcome.out) == (3, "")
    assert "hint: cvm install 99.2\n" in outcome.err


def test_use_install_installs_and_prints_only_code(ready: World) -> None:
    ready.ok("uninstall", "99.10")
    after = enter(ready, "use", "99.10", "--install")
    assert after["CVM_TOOLCHAIN"] == "99.10.0"
    assert not ready.ok("use", "99.10", "--install").out.replace("\n", "")
    ready.ok("uninstall", "99.10")
    lines = ready.ok("use", "99.10", "--install").out.splitlines()
    assert all(line.startswith(("export ", "unset ")) for line in lines), lines


def test_use_without_the_integration_says_how_to_get_it(ready: World) -> None:
    ready.monkeypatch.delenv("_CVM_SHELL")
    outcome = ready.run("use", "99.1")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: this shell does not know cvm yet")


def test_a_torch_that_would_break_keeps_its_libraries_unless_told_otherwise(ready: World, tmp_path: Path) -> None:
    python = make_torch(tmp_path / "venv")
    ready.monkeypatch.setenv("PATH", f"{python.parent}:{PATH}")
    outcome = ready.ok("use", "99.1")
    assert "LD_LIBRARY_PATH" not in outcome.out
    assert "LD_LIBRARY_PATH stays as it is, for otherwise torch 2.99.0 won't import: " in outcome.err
    assert f"{RUNTIME} of cvm toolchain 99.1.1-cudnn99.8.9.25" in outcome.err
    assert "LD_LIBRARY_PATH=" in ready.ok("use", "99.1", "--ld-library-path", "always").out
    ready.monkeypatch.setenv("CVM_LD_LIBRARY_PATH", "always")
    assert "LD_LIBRARY_PATH=" in ready.ok("use", "99.1").out
    assert "LD_LIBRARY_PATH=" not in ready.ok("use", "99.1", "--ld-library-path", "never").out
    ready.monkeypatch.setenv("CVM_LD_LIBRARY_PATH", "perhaps")
    outcome = ready.run("use", "99.1")
    assert (outcome.code, outcome.err) == (
        2,
        "error: CVM_LD_LIBRARY_PATH is perhaps\nhint: set it to one of auto, always, never\n",
    )


def test_an_install_says_what_use_would(ready: World, tmp_path: Path) -> None:
    python = make_torch(tmp_path / "venv")
    ready.monkeypatch.setenv("PATH", f"{python.parent}:{PATH}")
    told = ready.ok("install", "99.1.0", "--reinstall").err.splitlines()[-1]
    assert told.startswith("with `cvm use 99.1.0` here, LD_LIBRARY_PATH stays as it is, for otherwise torch 2.99.0 ")
    assert f"{told.partition(' here, ')[2]}\n" in ready.ok("use", "99.1.0").err
    ready.monkeypatch.setenv("PATH", PATH)
    assert "LD_LIBRARY_PATH" not in ready.ok("install", "99.1.0", "--reinstall").err


def test_a_linked_toolkit_that_is_gone_is_named(ready: World, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "site tree")
    outcome = ready.run("use", "site")
    assert (outcome.code, outcome.err) == (
        3,
        f"error: site is linked to {tmp_path}/site tree, which is not there\nhint: cvm uninstall site\n",
    )


def test_current_says_who_selected(ready: World, tmp_path: Path) -> None:
    assert ready.ok("current").out == "system (nothing is selected)\n"
    ready.ok("global", "99")
    assert ready.ok("current").out == "99.10.0 (set by $CVM_HOME/global:1)\n"
    (tmp_path / ".cuda-version").write_text("# of the team\n99.1\n")
    assert ready.ok("current").out == f"99.1.1-cudnn99.8.9.25 (set by {tmp_path}/.cuda-version:2)\n"
    enter(ready, "use", "99.1.0")
    assert ready.ok("current").out == "99.1.0 (set by CVM_TOOLCHAIN)\n"
    assert ready.ok("current", "--json").json | {"schema": 1} == {
        "schema": 1,
        "command": "current",
        "status": "ok",
        "toolchain": "99.1.0",
        "prefix": "$CVM_HOME/toolchains/99.1.0",
        "request": "99.1.0",
        "origin": "CVM_TOOLCHAIN",
    }


def test_current_of_what_is_missing_fails_with_its_origin(ready: World, tmp_path: Path) -> None:
    Path(".cuda-version").write_text("98.1\n")
    outcome = ready.run("current")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.endswith(f"(set by {tmp_path}/work/.cuda-version:1)\nhint: cvm install 98.1\n")
    assert ready.run("current", "--json").json["error"]["exit_code"] == 3


def test_a_newer_patch_release_is_current_at_once(ready: World) -> None:
    ready.ok("uninstall", "99.1.1-cudnn")
    ready.ok("global", "99.1")
    assert ready.ok("current").out.startswith("99.1.0 ")
    ready.ok("install", "99.1.1")
    assert ready.ok("current").out.startswith("99.1.1 ")
    ready.ok("uninstall", "99.1.1")
    assert ready.ok("current").out.startswith("99.1.0 ")


def test_which_answers_with_the_path_alone(ready: World) -> None:
    ready.ok("global", "99.1.0")
    outcome = ready.ok("which", "nvcc")
    assert outcome.out == "$CVM_HOME/toolchains/99.1.0/bin/nvcc\n"
    assert outcome.err == "99.1.0 (set by $CVM_HOME/global:1)\n"
    assert ready.ok("which", "nvcc", "--json").json["origin"] == "$CVM_HOME/global:1"


def test_which_names_the_toolchains_that_have_a_tool(ready: World) -> None:
    ready.toolchain("99.10.0").joinpath("bin/nsys").write_text("#!/bin/sh\n")
    ready.toolchain("99.10.0").joinpath("bin/nsys").chmod(0o755)
    ready.ok("global", "99.1.0")
    outcome = ready.run("which", "nsys")
    assert (outcome.code, outcome.out) == (127, "")
    assert outcome.err == (
        "error: nsys is not in 99.1.0 (set by $CVM_HOME/global:1)\n"
        "hint: cvm exec NAME -- nsys, where NAME is one of 99.10.0\n"
    )


def test_which_without_a_selection_looks_past_the_shims(ready: World, tmp_path: Path) -> None:
    write_tree({"nvcc": script("")}, tmp_path / "other")
    ready.monkeypatch.setenv("PATH", f"{ready.home}/shims::{tmp_path}/other:/usr/bin")
    outcome = ready.ok("which", "nvcc")
    assert (outcome.out, outcome.err) == (f"{tmp_path}/other/nvcc\n", "system (nothing is selected)\n")
    assert ready.run("which", "no-such-tool").code == 127
    assert ready.run("which", "../nvcc").code == 2


def run_cvm(world: World, *arguments: str, **environment: str | None) -> tuple[int, str, str]:
    return processes.run(*arguments, env={"CVM_HOME": str(world.home), **environment})


def test_exec_runs_a_command_with_a_toolchain(ready: World) -> None:
    code, out, err = run_cvm(ready, "exec", "99.10", "--", "sh", "-c", 'nvcc; echo "$CUDA_HOME" "$@"; exit 7', "x", "--json", "a b", "")  # fmt: skip
    prefix = ready.toolchain("99.10.0")
    assert (code, err) == (7, "")
    assert out == f"Cuda compilation tools, release 99.10, V99.10.100\n{prefix} --json a b \n"


def test_exec_takes_what_the_folder_selects(ready: World) -> None:
    Path(".cuda-version").write_text("99.1.0\n")
    assert run_cvm(ready, "exec", "--", "nvcc")[1] == "Cuda compilation tools, release 99.1, V99.1.100\n"


def test_exec_becomes_the_command(ready: World) -> None:
    running = processes.start(
        "exec", "99.1", "--", "sh", "-c", "echo $$; kill -TERM $$", env={"CVM_HOME": str(ready.home)}
    )
    code, out, _ = processes.finish(running)
    assert (code, out) == (-15, f"{running.pid}\n")


def test_exec_leaves_signals_as_programs_expect_them(ready: World) -> None:
    code, out, _ = run_cvm(ready, "exec", "99.1", "--", "grep", "^SigIgn", "/proc/self/status")
    assert code == 0
    ignored = int(out.split()[1], 16)
    assert not ignored & (1 << 12)  # SIGPIPE is 13.


def test_exec_of_what_is_not_there_or_no_program(ready: World, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    assert run_cvm(ready, "exec", "99.1", "--", "no-such-program")[0] == 127
    assert run_cvm(ready, "exec", "99.1", "--", str(tmp_path / "data"))[0] == 126
    code, _, err = run_cvm(ready, "exec", "99.1")
    assert (code, err) == (2, "error: there is no command to run\nhint: cvm exec 99.1 -- nvcc --version\n")


def test_env_is_evaluated_by_each_shell(ready: World) -> None:
    prefix = str(ready.toolchain("99.1.0"))
    assert evaluated(ready, ready.ok("env", "99.1.0").out)["CUDA_HOME"] == prefix
    fish = ready.ok("env", "99.1.0", "--shell", "fish").out
    assert "set -gx CUDA_HOME '$CVM_HOME/toolchains/99.1.0'\n" in fish


def test_env_as_json_holds_what_is_asked_for(ready: World) -> None:
    document = ready.ok("env", "99.1.0", "--format", "json").json
    prefix = "$CVM_HOME/toolchains/99.1.0"
    assert document["set"]["CUDA_HOME"] == prefix
    assert document["prepend"]["PATH"] == [f"{prefix}/bin"]
    assert document["unset"] == []
    assert document["variables"]["PATH"].startswith(f"{prefix}/bin:/usr/local/sbin:")
    enter(ready, "use", "99.1-cudnn")
    assert ready.ok("env", "99.1.0", "--format", "json").json["unset"] == ["CUDNN_PATH", "CUDNN_ROOT"]


def test_env_as_json_refuses_what_is_not_utf8(ready: World) -> None:
    home = ready.home.with_name(os.fsdecode(b"home\xff"))
    ready.home.rename(home)
    ready.monkeypatch.setenv("CVM_HOME", str(home))
    outcome = ready.run("env", "99.1.0", "--format", "json")
    assert (outcome.code, outcome.err.count("\n")) == (2, 2)
    assert "is not UTF-8, which JSON needs" in outcome.err


@pytest.mark.parametrize("form", ["dotenv", "dockerfile", "github", "modulefile"])
def test_env_has_other_forms(ready: World, form: str) -> None:
    assert "toolchains/99.1.0/bin" in ready.ok("env", "99.1.0", "--format", form).out
    assert ready.run("env", "99.1.0", "--format", form, "--shell", "sh").code == 2


def test_global_keeps_what_was_typed(ready: World) -> None:
    assert ready.ok("global", "99").out == "99 (set by $CVM_HOME/global:1)\n"
    assert (ready.home / "global").read_text() == "99\n"
    assert ready.ok("global").out == "99 (set by $CVM_HOME/global:1)\n"
    assert ready.ok("global", "--json").json["request"] == "99"
    assert ready.ok("global", "--unset", "--json").json["request"] is None
    assert not (ready.home / "global").exists()
    assert (ready.run("global").code, ready.run("global", "--unset", "99").code) == (3, 2)


@pytest.mark.parametrize(("spec", "code"), [("98", 3), ("x y", 2), ("../99", 2), ("", 2), ("99.1-cudnn99.9", 3)])
def test_global_refuses_what_nothing_answers(ready: World, spec: str, code: int) -> None:
    assert ready.run("global", spec).code == code
    assert not (ready.home / "global").exists()


def test_local_writes_the_folders_file_and_keeps_its_comments(ready: World, tmp_path: Path) -> None:
    file = Path(".cuda-version")
    assert ready.ok("local", "99.1").out == f"99.1 (set by {tmp_path}/work/.cuda-version:1)\n"
    file.write_text("# for torch\n99.1 # sic\ncudnn = 99.8\n")
    ready.ok("local", "99.10")
    assert file.read_text() == "# for torch\n99.10\n"
    assert ready.ok("local").out == f"99.10 (set by {tmp_path}/work/.cuda-version:2)\n"
    assert ready.run("local", "98").code == 3
    ready.ok("local", "98", "--force")
    assert file.read_text() == "# for torch\n98\n"
    assert ready.ok("local", "--json").json["origin"] == f"{tmp_path}/work/.cuda-version:2"
    ready.ok("local", "--unset")
    assert not file.exists()
    assert ready.run("local").code == 3


def test_local_follows_a_link_and_keeps_modes(ready: World, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.write_text("99.1\n")
    shared.chmod(0o640)
    Path(".cuda-version").symlink_to(shared)
    ready.ok("local", "99.10")
    assert shared.read_text() == "99.10\n"
    assert shared.stat().st_mode & 0o777 == 0o640
    assert Path(".cuda-version").is_symlink()


def test_links_and_shims_follow_what_is_installed(ready: World, tmp_path: Path) -> None:
    shims, links = ready.home / "shims", ready.home / "resolved"
    assert sorted(path.name for path in shims.iterdir()) == ["compute-sanitizer", "nvcc", "ptxas"]
    assert (links / "99.1").readlink() == Path("../toolchains/99.1.1-cudnn99.8.9.25")
    assert (links / "latest").readlink() == Path("../toolchains/99.10.0")
    assert (links / "99.1-cudnn99.8").readlink() == Path("../toolchains/99.1.1-cudnn99.8.9.25")
    assert (links / "site").readlink() == tmp_path / "site tree"
    ready.ok("uninstall", "99.1.0", "99.1-cudnn", "99.10")
    assert [path.name for path in links.iterdir()] == ["site"]
    assert sorted(path.name for path in shims.iterdir()) == ["nvcc", "ptxas"]
    ready.ok("uninstall", "site")
    assert list(links.iterdir()) == list(shims.iterdir()) == []


def test_rehash_mends_a_moved_home(ready: World) -> None:
    ready.home.rename(ready.home.with_name("moved"))
    moved = ready.home.with_name("moved")
    ready.monkeypatch.setenv("CVM_HOME", str(moved))
    assert ready.ok("rehash").out == f"3 shims in {moved}/shims\n"
    for name in ("shims/nvcc", "toolchains/99.1.0/.cvm/env.sh"):
        text = (moved / name).read_text()
        assert str(moved) in text
        assert str(ready.home) not in text
    done = subprocess.run(
        [moved / "shims/nvcc"], env={"CVM_TOOLCHAIN": "99.10"}, capture_output=True, check=True, text=True
    )
    assert done.stdout == "Cuda compilation tools, release 99.10, V99.10.100\n"


def test_rehash_twice_writes_nothing(ready: World) -> None:
    def stamps() -> dict[Path, int]:
        return {path: path.lstat().st_mtime_ns for path in ready.home.rglob("*") if path.parent.name != "locks"}

    before = stamps()
    ready.ok("rehash", "--json")
    assert stamps() == before


def test_env_sh_activates_and_unuse_takes_it_back(ready: World) -> None:
    file = ready.toolchain("99.10.0") / ".cvm/env.sh"
    after = evaluated(ready, f". '{file}'")
    assert after["CUDA_HOME"] == str(ready.toolchain("99.10.0"))
    for name, value in after.items():
        ready.monkeypatch.setenv(name, value)
    assert ready.ok("verify").code == 0
    back = enter(ready, "unuse")
    assert not {"CUDA_HOME", "CUDACXX", "LIBRARY_PATH", "CVM_TOOLCHAIN"} & set(back)
    assert back["PATH"] == PATH


def test_a_home_that_path_cannot_hold_is_refused(ready: World) -> None:
    home = ready.home.with_name("a:b")
    ready.home.rename(home)
    ready.monkeypatch.setenv("CVM_HOME", str(home))
    outcome = ready.run("use", "99.1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "it has a colon" in outcome.err


def test_the_sites_default_and_toolchains_answer_after_ones_own(ready: World, tmp_path: Path) -> None:
    ready.ok("global", "99.1")
    ready.monkeypatch.setenv("CVM_SITE_HOME", str(ready.home))
    own = tmp_path / "own home"
    ready.monkeypatch.setenv("CVM_HOME", str(own))
    assert ready.ok("current").out == f"99.1.1-cudnn99.8.9.25 (set by {ready.home}/global:1)\n".replace(str(ready.home), "$CVM_HOME")  # fmt: skip
    ready.ok("link", "mine", tmp_path / "site tree")
    ready.ok("global", "mine")
    assert ready.ok("current").out == f"mine (set by {own}/global:1)\n"


@pytest.mark.parametrize("content", ["garbage here", "", "# nothing\n", "12.1\n13.0\n", "cudnn = 8\n", "12.1-foo8"])
def test_a_file_that_cannot_be_read_is_never_passed_over(ready: World, tmp_path: Path, content: str) -> None:
    ready.ok("global", "99.1")
    Path(".cuda-version").write_text(content)
    for command in (["current"], ["which", "nvcc"], ["use"], ["exec", "--", "true"], ["env"]):
        outcome = ready.run(*command)
        assert (outcome.code, outcome.out) == (2, ""), command
        assert outcome.err.startswith(f"error: {tmp_path}/work/.cuda-version")


def test_a_folder_that_is_gone_selects_nothing(ready: World, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ready.monkeypatch.chdir(gone)
    ready.monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()
    assert ready.ok("current").out == "system (nothing is selected)\n"
    assert ready.run("local", "99.1").code == 8


@pytest.mark.parametrize("pwd", [".", "/nowhere", "", None])
def test_a_pwd_that_lies_is_not_believed(ready: World, tmp_path: Path, pwd: str | None) -> None:
    Path(".cuda-version").write_text("99.10")
    if pwd is None:
        ready.monkeypatch.delenv("PWD")
    else:
        ready.monkeypatch.setenv("PWD", pwd)
    assert ready.ok("current").out == f"99.10.0 (set by {tmp_path}/work/.cuda-version:1)\n"


def test_the_folder_has_the_name_that_the_shell_knows(ready: World, tmp_path: Path) -> None:
    (tmp_path / "by another name").symlink_to(tmp_path / "work")
    Path(".cuda-version").write_text("99.10")
    ready.monkeypatch.setenv("PWD", f"{tmp_path}/by another name")
    assert ready.ok("current").out == f"99.10.0 (set by {tmp_path}/by another name/.cuda-version:1)\n"


def test_list_marks_what_is_selected_and_what_cannot_compile(ready: World) -> None:
    ready.ok("global", "99.1.0")
    (ready.toolchain("99.10.0") / "bin/nvcc").unlink()
    lines = ready.ok("list").out.splitlines()
    assert [line.split("  ", 1)[1].strip() for line in lines if line.startswith(("99.1.0", "99.10.0"))] == [
        "$CVM_HOME/toolchains/99.1.0 (selected by $CVM_HOME/global:1)",
        "$CVM_HOME/toolchains/99.10.0 (no nvcc)",
    ]
    Path(".cuda-version").write_text("garbage here")
    assert ready.ok("list").out.count("selected") == 0


def test_current_tells_of_a_toolkit_that_is_none_of_cvms(ready: World) -> None:
    ready.monkeypatch.setenv("CUDA_HOME", "/opt/cuda-12.4")
    outcome = ready.ok("current")
    assert (outcome.out, outcome.err) == (
        "system (nothing is selected)\n",
        "CUDA_HOME is /opt/cuda-12.4, which is none of cvm's\n",
    )


@pytest.mark.parametrize(
    "arguments", [["current"], ["which", "nvcc"], ["use", "99.1"], ["env", "99.1"], ["init", "sh"]]
)
def test_switching_waits_for_no_lock(ready: World, arguments: list[str]) -> None:
    from cvm.layout import Layout
    from cvm.lock import changing

    ready.ok("global", "99.1")
    with changing(Layout(ready.home), lambda _: None):
        ready.ok(*arguments)


def test_shims_are_there_at_every_moment(ready: World) -> None:
    shim = ready.home / "shims" / "nvcc"
    rehashes = [processes.start("rehash", env={"CVM_HOME": str(ready.home)}) for _ in range(12)]
    while any(running.poll() is None for running in rehashes):
        # Each of them finds something to mend.
        shim.write_bytes(b"#!/bin/sh\nexec true\n")
        done = subprocess.run([shim], env={"CVM_TOOLCHAIN": "99.1"}, capture_output=True, check=False)
        assert done.returncode == 0, done
    assert [processes.finish(running)[0] for running in rehashes] == [0] * 12
    ready.ok("rehash")
    assert b"V99" in subprocess.run([shim], env={"CVM_TOOLCHAIN": "99.1"}, capture_output=True, check=True).stdout
    assert sorted(path.name for path in shim.parent.iterdir()) == ["compute-sanitizer", "nvcc", "ptxas"]


def test_a_rehash_that_was_killed_holds_nobody_up(ready: World) -> None:
    script = "import cvm.actions.rehash as r, os; r.refresh_shims = lambda *a: os.kill(os.getpid(), 9)"
    assert processes.run("rehash", script=script, env={"CVM_HOME": str(ready.home)})[0] == -9
    ready.ok("rehash")


def test_a_tool_that_two_toolchains_have_keeps_its_shim_while_one_goes(ready: World) -> None:
    shim = ready.home / "shims" / "nvcc"
    commands = [processes.start(*words, env={"CVM_HOME": str(ready.home)}) for words in (["uninstall", "99.1.0"], ["link", "again", str(ready.toolchain("99.10.0"))])]  # fmt: skip
    while any(running.poll() is None for running in commands):
        done = subprocess.run([shim], env={"CVM_TOOLCHAIN": "99.10"}, capture_output=True, check=False)
        assert b"release 99.10" in done.stdout, done
    assert [processes.finish(running)[0] for running in commands] == [0, 0]


def test_what_is_not_ours_in_the_folders_is_let_alone(ready: World) -> None:
    for folder in ("shims", "resolved"):
        (ready.home / folder / "a folder").mkdir()
        (ready.home / folder / "a file").touch()
    (ready.home / "resolved" / "98.7").symlink_to("../toolchains/98.7.0")
    ready.ok("rehash")
    assert (ready.home / "shims" / "a folder").is_dir()
    assert (ready.home / "resolved" / "a file").is_file()
    assert not (ready.home / "resolved" / "98.7").is_symlink()


def test_the_global_default_can_be_read_by_all(ready: World) -> None:
    before = os.umask(0o077)
    try:
        ready.ok("global", "99.1")
    finally:
        os.umask(before)
    assert (ready.home / "global").stat().st_mode & 0o777 == 0o644


def test_which_tells_what_could_be_used_where_nothing_is_selected(ready: World) -> None:
    ready.monkeypatch.setenv("PATH", "/usr/bin:/bin")
    outcome = ready.run("which", "ptxas")
    assert outcome.code == 127
    assert outcome.err.endswith(
        "hint: cvm use NAME, where NAME is one of 99.1.0, site, 99.1.1-cudnn99.8.9.25, 99.10.0\n"
    )


def test_exec_of_system_takes_the_toolchain_out(ready: World) -> None:
    enter(ready, "use", "99.1")
    code, out, _ = run_cvm(ready, "exec", "system", "--", "sh", "-c", 'echo "$CVM_TOOLCHAIN ${CUDA_HOME-none}"')
    assert (code, out) == (0, "system none\n")


def test_exec_tells_what_is_missing(ready: World, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/no/such/interpreter\n")
    (tmp_path / "script").chmod(0o755)
    assert "its interpreter is not there" in run_cvm(ready, "exec", "99.1", "--", str(tmp_path / "script"))[2]
    assert "`./nothing` is not there" in run_cvm(ready, "exec", "99.1", "--", "./nothing")[2]


@pytest.mark.parametrize("spec", ["12.", "1x", "12.1-cudnn8."])
def test_local_writes_nothing_that_install_could_not_read(ready: World, spec: str) -> None:
    assert ready.run("local", "--force", spec).code == 2
    assert not Path(".cuda-version").exists()


def test_local_survives_what_stands_in_its_place(ready: World) -> None:
    file = Path(".cuda-version")
    file.symlink_to(file)
    ready.ok("local", "99.1")
    assert file.read_text() == "99.1\n"
    file.unlink()
    os.mkfifo(file)
    ready.ok("local", "99.1")
    assert file.read_text() == "99.1\n"


def test_an_endless_file_is_named(ready: World, tmp_path: Path) -> None:
    Path(".cuda-version").write_text("#" * 70_000)
    outcome = ready.run("current")
    assert (outcome.code, outcome.err.splitlines()[0]) == (
        2,
        f"error: {tmp_path}/work/.cuda-version is too long to name a CUDA version",
    )


def test_a_path_that_no_program_could_be_started_with_is_refused(ready: World) -> None:
    ready.monkeypatch.setenv("PATH", ":".join(f"/{os.urandom(50).hex()}" for _ in range(1400)))
    outcome = ready.run("use", "99.1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "would be longer than the 128 KB that a program takes" in outcome.err


def test_a_failure_of_env_in_json_is_json(ready: World) -> None:
    assert ready.run("env", "98", "--format", "json").json["error"]["exit_code"] == 3


def test_an_empty_request_is_none(ready: World) -> None:
    assert [ready.run(command, "").code for command in ("local", "global")] == [2, 2]
