"""Module files, loaded and unloaded by the real programs that sites have."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from cvm.core.environment import Activation
from cvm.errors import UsageError
from cvm.shell import modulefile
from tests.shell.modules import TOOLS, ModuleTool, UnavailableError, module_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# All that the shell, Tcl or Lua might take for its own, but for what is refused.
ODD = "/opt/a b  c/$HOME $(id)/{x}}[y]];z #n/'q' *?/~&|<>()!^%/=,@+"

BASE = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


@pytest.fixture(scope="session", params=TOOLS)
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModuleTool:
    try:
        return module_tool(request.param, tmp_path_factory.mktemp(request.param))
    except UnavailableError as error:
        pytest.skip(str(error))


def toolchain(name: str, prefix: str) -> Activation:
    values = {"CUDA_HOME": prefix, "CUDACXX": f"{prefix}/bin/nvcc", "CVM_TOOLCHAIN": name}
    lists = {"PATH": (f"{prefix}/bin",), "LIBRARY_PATH": (f"{prefix}/lib64", f"{prefix}/lib64/stubs")}
    return Activation(values, lists)


def written(wanted: Activation, path: Path) -> Activation:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.fsencode(modulefile.render(wanted, wanted.values["CVM_TOOLCHAIN"], "CUDA toolchain")))
    return wanted


def with_it(environment: dict[str, str], wanted: Activation) -> dict[str, str]:
    lists = {
        name: ":".join([*front, *filter(None, [environment.get(name)])]) for name, front in wanted.elements.items()
    }
    return {**environment, **wanted.values, **lists}


@pytest.mark.network
class TestLoading:
    @pytest.mark.parametrize("language", ["C.UTF-8", "C"])
    @pytest.mark.parametrize("prefix", ["/opt/cvm/toolchains/12.1.1", ODD], ids=["plain", "odd"])
    def test_a_load_gives_what_is_asked_and_an_unload_takes_it_back(
        self, tool: ModuleTool, tmp_path: Path, prefix: str, language: str
    ):
        wanted = written(toolchain("12.1.1", prefix), tmp_path / "cvm/12.1.1")
        before = BASE | {"LANG": language, "LIBRARY_PATH": "/b c:/d"}

        done = tool.session(["load cvm/12.1.1", "load cvm/12.1.1", "unload cvm/12.1.1"], tmp_path, before)

        assert done.environments == (with_it(before, wanted), with_it(before, wanted), before), done.said

    def test_lists_that_were_not_set_are_unset_again(self, tool: ModuleTool, tmp_path: Path):
        wanted = written(toolchain("12.1.1", "/opt/12.1.1"), tmp_path / "cvm/12.1.1")

        done = tool.session(["load cvm", "unload cvm"], tmp_path, BASE)

        assert done.environments == (with_it(BASE, wanted), BASE), done.said

    def test_foreign_values_are_put_back(self, tool: ModuleTool, tmp_path: Path):
        written(toolchain("12.1.1", "/opt/12.1.1"), tmp_path / "cvm/12.1.1")
        before = BASE | {"CUDA_HOME": "/usr/local/my cuda"}

        done = tool.session(["load cvm", "unload cvm"], tmp_path, before)

        loaded, unloaded = done.environments
        assert loaded["CUDA_HOME"] == "/opt/12.1.1"
        assert unloaded == (before if recent(tool) else BASE)

    @pytest.mark.parametrize("names", [("cvm/11.8.0", "cvm/12.1.1"), ("cuda11", "cuda12"), ("a/cuda11", "b/cuda12")])
    def test_two_are_never_loaded_together(self, tool: ModuleTool, tmp_path: Path, names: tuple[str, str]):
        if names[0] != "cvm/11.8.0" and tool.name != "lmod" and not recent(tool):
            pytest.skip("before it had families, it only knew the modules of one folder to exclude each other")
        first = written(toolchain("11.8.0", "/opt/11.8.0"), tmp_path / names[0])
        second = written(toolchain("12.1.1", "/opt/12.1.1"), tmp_path / names[1])

        done = tool.session([f"load {name}" for name in names], tmp_path, BASE)

        # Lmod replaces what is there, environment-modules refuses what is new.
        kept = second if tool.name == "lmod" else first
        assert done.environments == (with_it(BASE, first), with_it(BASE, kept)), done.said
        assert names[1] in done.said

    def test_one_is_switched_for_another(self, tool: ModuleTool, tmp_path: Path):
        written(toolchain("11.8.0", "/opt/11.8.0"), tmp_path / "cvm/11.8.0")
        second = written(toolchain("12.1.1", "/opt/12.1.1"), tmp_path / "cvm/12.1.1")

        commands = ["load cvm/11.8.0", "switch cvm/11.8.0 cvm/12.1.1", "unload cvm"]
        _, switched, unloaded = tool.session(commands, tmp_path, BASE).environments

        assert switched == with_it(BASE, second)
        assert unloaded == BASE

    def test_it_says_what_it_is(self, tool: ModuleTool, tmp_path: Path):
        written(toolchain("12.1.1", "/opt/12.1.1"), tmp_path / "cvm/12.1.1")

        done = tool.session(["whatis cvm/12.1.1", "help cvm/12.1.1"], tmp_path, BASE)

        assert done.said.count("12.1.1: CUDA toolchain") == 2


def recent(tool: ModuleTool) -> bool:
    """Say whether the program has all that a module file uses: families, and values that are put back."""
    done = subprocess.run([*tool.command, "bash", "--version"], capture_output=True, text=True, check=True)
    words = done.stderr.replace("Release", "Version").split()
    numbers = tuple(int(part) for part in words[words.index("Version") + 1].split("+")[0].split("."))
    return numbers >= ((8, 7, 10) if tool.name == "lmod" else (5, 1))


class TestRefusal:
    def refused(self, prefix: str) -> str:
        with pytest.raises(UsageError) as caught:
            modulefile.render(toolchain("12.1.1", prefix), "12.1.1", "CUDA toolchain")
        return caught.value.message

    def test_an_element_with_a_colon(self):
        wanted = Activation({}, {"PATH": ("/opt/a:b/bin",)})
        with pytest.raises(UsageError, match=r"PATH can't hold /opt/a:b/bin"):
            modulefile.render(wanted, "12.1.1", "")

    @pytest.mark.parametrize("character", ['"', "\\", "`", "\n", "\t", "\x7f", "ü", "\udcff"])
    def test_what_lmod_reads_as_lua(self, character: str):
        assert self.refused(f"/opt/a{character}b").startswith("CUDA_HOME holds")

    def test_a_blank_at_the_end(self):
        assert self.refused("/opt/a ").startswith("CUDA_HOME holds ' '")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#a",
        "a b",
        'a"b',
        "a\\b",
        "a\\",
        "{",
        "}",
        "{}",
        "[id]",
        "$HOME",
        "${HOME}",
        "a;b",
        "a`b",
        "a\nb\r\tc",
        "ü",
        ODD,
    ],
)
def test_words_come_out_of_tcl_as_they_went_in(text: str, tclsh: Callable[[str], str]):
    assert tclsh(f"puts -nonewline {modulefile.quote(text)}") == text
    assert tclsh(f"proc p {{}} {{ puts -nonewline {modulefile.quote(text)} }}\np") == text


@pytest.fixture
def tclsh(tmp_path: Path) -> Callable[[str], str]:
    def run(script: str) -> str:
        (tmp_path / "script.tcl").write_text("fconfigure stdout -translation lf -encoding utf-8\n" + script)
        try:
            done = subprocess.run(
                ["tclsh", "-encoding", "utf-8", tmp_path / "script.tcl"], capture_output=True, check=True
            )
        except FileNotFoundError:
            pytest.skip("no tclsh")
        return done.stdout.decode()

    return run
