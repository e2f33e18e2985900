"""The activation file, sourced by real shells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cvm.core.environment import Activation
from cvm.shell import env_sh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SHELLS = {
    "dash": ("dash",),
    "bash": ("bash", "--norc", "--noprofile"),
    "bash-posix": ("bash", "--posix"),
    "zsh": ("zsh", "-f"),
    "busybox": ("busybox", "sh"),
}
FOUND = [name for name, command in SHELLS.items() if shutil.which(command[0])]

LISTS = ("PATH", "LIBRARY_PATH")
OWN = ("/p/bin",)
TWO = ("/p/lib64", "/p/lib64/stubs")


@dataclass(frozen=True)
class Case:
    """An environment, and the activations that are sourced in it, one after the other."""

    before: Mapping[str, str]
    sourced: tuple[Activation, ...]
    setup: str = ""
    watched: tuple[str, ...] = field(default=(*LISTS, "CUDA_HOME", "CVM_TOOLCHAIN"))


def activation(
    name: str = "12.1.1", home: str = "/p", path: Sequence[str] = OWN, library: Sequence[str] = TWO
) -> Activation:
    values = {"CUDA_HOME": home, "CVM_TOOLCHAIN": name}
    return Activation(values, {"PATH": tuple(path), "LIBRARY_PATH": tuple(library)})


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def sourced(shell: str, cases: Sequence[Case], folder: Path, language: str = "C.UTF-8") -> list[dict[str, str]]:
    """Source files in one process of a shell, each case in a subshell of its own, and return what is exported there."""
    script = "set -eu\n"
    for number, case in enumerate(cases):
        files = [folder / f"{number}-{index}.sh" for index in range(len(case.sourced))]
        for file, wanted in zip(files, case.sourced, strict=True):
            file.write_bytes(os.fsencode(env_sh.render(wanted)))
        script += "(\n" + "".join(f"export {name}={quoted(value)}\n" for name, value in case.before.items())
        script += "".join(f"unset {name}\n" for name in LISTS if name not in case.before)
        script += f"{case.setup}\n" + "".join(f". {quoted(str(file))}\n" for file in files)
        script += "".join(f"printf '%s=%s\\0' {name} \"${{{name}-<unset>}}\"\n" for name in case.watched)
        script += "printf '\\0'\n)\n"
    (folder / "script.sh").write_bytes(os.fsencode(script))
    command = [shutil.which(SHELLS[shell][0]) or "", *SHELLS[shell][1:], str(folder / "script.sh")]
    done = subprocess.run(command, env={"LC_ALL": language}, capture_output=True, check=False)
    assert (done.returncode, os.fsdecode(done.stderr)) == (0, "")
    dumps = os.fsdecode(done.stdout).split("\0\0")[:-1]
    return [dict(line.split("=", 1) for line in dump.split("\0")) for dump in dumps]


def expected(case: Case) -> dict[str, str]:
    """Say in Python what a case must give."""
    after = dict(case.before)
    for wanted in case.sourced:
        after |= wanted.values
        for name, front in wanted.elements.items():
            elements: list[str] = []
            for element in [*front, *after.get(name, "").split(":")]:
                if element and element not in elements:
                    elements.append(element)
            after[name] = ":".join(elements)
    return {name: after.get(name, "<unset>") for name in case.watched}


@pytest.fixture(params=FOUND)
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_there_are_shells_to_ask():
    assert "bash" in FOUND


class TestLists:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (None, "/p/bin"),
            ("", "/p/bin"),
            ("/a", "/p/bin:/a"),
            (":/a", "/p/bin:/a"),
            ("/a:", "/p/bin:/a"),
            ("/a::/b", "/p/bin:/a:/b"),
            (":", "/p/bin"),
            (":::", "/p/bin"),
            ("/p/bin:/a", "/p/bin:/a"),
            ("/a:/p/bin:/b", "/p/bin:/a:/b"),
            ("/a:/p/bin", "/p/bin:/a"),
            ("/p/bin:/a:/p/bin", "/p/bin:/a"),
            ("/a:/p/bin:/p/bin:/b", "/p/bin:/a:/b"),
            ("/p/bin2:/x/p/bin:/p", "/p/bin:/p/bin2:/x/p/bin:/p"),
            ("/b:/a:/b:/c", "/p/bin:/b:/a:/c"),
            ("/*:/[a-z]:/?", "/p/bin:/*:/[a-z]:/?"),
            ("~/a:~:-n:=ls", "/p/bin:~/a:~:-n:=ls"),
        ],
    )
    def test_an_element_comes_first_and_once(self, shell: str, tmp_path: Path, before: str | None, after: str):
        case = Case({} if before is None else {"PATH": before}, (activation(),))
        assert sourced(shell, [case], tmp_path)[0]["PATH"] == after

    def test_several_elements_keep_their_order(self, shell: str, tmp_path: Path):
        case = Case({"LIBRARY_PATH": "/p/lib64/stubs:/a:/p/lib64"}, (activation(),))
        assert sourced(shell, [case], tmp_path)[0]["LIBRARY_PATH"] == "/p/lib64:/p/lib64/stubs:/a"

    def test_again_changes_nothing(self, shell: str, tmp_path: Path):
        once = Case({"PATH": "/a:/b"}, (activation(),))
        twice = Case({"PATH": "/a:/b"}, (activation(), activation()))
        first, second = sourced(shell, [once, twice], tmp_path)
        assert first == second

    def test_of_two_the_last_is_in_front(self, shell: str, tmp_path: Path):
        older = activation("11.8.0", "/11.8", ["/11.8/bin"], ["/11.8/lib64"])
        newer = activation("12.4.1", "/12.4", ["/12.4/bin"], ["/12.4/lib64"])
        after = sourced(shell, [Case({"PATH": "/a"}, (older, newer))], tmp_path)[0]
        assert after == {
            "PATH": "/12.4/bin:/11.8/bin:/a",
            "LIBRARY_PATH": "/12.4/lib64:/11.8/lib64",
            "CUDA_HOME": "/12.4",
            "CVM_TOOLCHAIN": "12.4.1",
        }


class TestManners:
    # Settings that a person may have, and that other scripts trip over.
    SETUPS = (
        "IFS=:/",
        "IFS=",
        "set -f",
        "set -C",
        'if [ -n "${BASH_VERSION-}" ]; then shopt -s nocasematch nullglob failglob extglob; fi',
        'if [ -n "${ZSH_VERSION-}" ]; then setopt sh_word_split glob_subst extended_glob ksh_arrays null_glob; fi',
        'if [ -n "${ZSH_VERSION-}" ]; then setopt warn_create_global no_unset err_exit rc_expand_param; fi',
        "CDPATH=/; unset HOME; readonly unrelated=1",
    )

    @pytest.mark.parametrize("setup", SETUPS)
    def test_settings_of_the_shell_make_no_difference(self, shell: str, tmp_path: Path, setup: str):
        case = Case({"PATH": "/a b:/A B::/*:/a:/[x]:/P/BIN", "LIBRARY_PATH": ""}, (activation(home="/p q"),) * 2, setup)
        assert sourced(shell, [case], tmp_path) == [expected(case)]

    def test_nothing_is_left_behind_and_nothing_is_taken(self, shell: str, tmp_path: Path):
        (tmp_path / "env.sh").write_text(env_sh.render(activation()))
        script = f"""
            set -eu -- one 'two three'
            keep=1; set >{quoted(str(tmp_path / "before"))}
            . {quoted(str(tmp_path / "env.sh"))}
            set >{quoted(str(tmp_path / "after"))}
            printf '%s|' "$#" "$2" "$-"
        """
        command = [shutil.which(SHELLS[shell][0]) or "", *SHELLS[shell][1:], "-c", script]
        done = subprocess.run(command, env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=True)
        before, after = (names((tmp_path / name).read_text()) for name in ("before", "after"))
        # The shells' own, which change with every command.
        moving = {"_", "LINENO", "BASH_LINENO", "PIPESTATUS", "OLDPWD", "SECONDS", "RANDOM", "BASH_EXECUTION_STRING"}
        assert after - before - moving == {"CUDA_HOME", "CVM_TOOLCHAIN", "LIBRARY_PATH"}
        assert before - after - moving == set()
        assert done.stdout.startswith("2|two three|")
        assert {"e", "u"} <= set(done.stdout.split("|")[2])

    def test_it_is_exported(self, shell: str, tmp_path: Path):
        (tmp_path / "env.sh").write_text(env_sh.render(activation()))
        script = f"PATH=/a; . {quoted(str(tmp_path / 'env.sh'))}; /usr/bin/env"
        command = [shutil.which(SHELLS[shell][0]) or "", *SHELLS[shell][1:], "-c", script]
        done = subprocess.run(command, env={}, capture_output=True, text=True, check=True)
        assert {"CUDA_HOME=/p", "PATH=/p/bin:/a", "CVM_TOOLCHAIN=12.1.1"} <= set(done.stdout.splitlines())

    def test_it_may_be_sourced_in_a_function(self, shell: str, tmp_path: Path):
        case = Case({"PATH": "/a"}, ())
        (tmp_path / "env.sh").write_text(env_sh.render(activation()))
        inside = Case({"PATH": "/a"}, (), f"f() {{ . {quoted(str(tmp_path / 'env.sh'))}; }}; f")
        plain, function = sourced(shell, [case, inside], tmp_path)
        assert plain["PATH"] == "/a"
        assert function == expected(Case({"PATH": "/a"}, (activation(),)))


def names(dump: str) -> set[str]:
    return {line.split("=", 1)[0] for line in dump.splitlines() if line.split("=", 1)[0].isidentifier() and "=" in line}


class TestText:
    def test_it_says_what_it_is(self):
        head = env_sh.render(activation()).splitlines()[0]
        assert head == "# The activation of 12.1.1, for `. this-file` in sh; `cvm rehash` writes it anew."

    def test_the_loader_is_left_alone_unless_asked(self):
        assert "LD_LIBRARY_PATH" not in env_sh.render(activation())
        wanted = Activation({"CVM_TOOLCHAIN": "12.1.1"}, {"LD_LIBRARY_PATH": ("/p/lib64",)})
        assert "export LD_LIBRARY_PATH=" in env_sh.render(wanted)

    def test_without_lists_there_is_nothing_to_clear(self):
        assert "_cvm" not in env_sh.render(Activation({"CVM_TOOLCHAIN": "12.1.1"}, {}))


# Bytes that mean something to a shell, to a pattern or to a decoder, more often than others.
_BYTES = st.one_of(
    st.sampled_from(list(b" \t\n'\"\\$`*?[]{}()!#~=:-&;|<>%/^a\x01\x7f\x80\x81\x82\x88\xc3\xbc\xff")),
    st.integers(1, 255),
)
# bash 5.2 takes `%%` of a broken character and a backslash after it for bytes that lie elsewhere in its memory.
_WORDS = st.lists(_BYTES, max_size=12).map(lambda word: re.sub(rb"[\xc2-\xf4][\x80-\xbf]*\\", b"/", bytes(word)))
_TEXTS = _WORDS.map(os.fsdecode)
_ELEMENTS = _WORDS.map(lambda word: os.fsdecode(word.replace(b":", b""))).filter(bool)
_FRONTS = st.lists(_ELEMENTS, min_size=1, max_size=3)


@st.composite
def odd_cases(draw: st.DrawFn) -> Case:
    front = draw(_FRONTS)
    others = st.lists(st.one_of(_ELEMENTS, st.sampled_from(front), st.just("")), max_size=5).map(":".join)
    wanted = activation(home=draw(_TEXTS), path=front, library=draw(_FRONTS))
    before = {name: draw(others) for name in LISTS if draw(st.booleans())}
    return Case(before, (wanted,) * draw(st.integers(1, 2)))


@pytest.mark.parametrize("language", ["C", "C.UTF-8"])
# No shrinking: what failed is one case of a list, and the message names it.
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(cases=st.lists(odd_cases(), min_size=20, max_size=40))
def test_whatever_bytes_there_are(tmp_path_factory: pytest.TempPathFactory, language: str, cases: list[Case]):
    folder = tmp_path_factory.mktemp("cases")
    for shell in FOUND:
        for case, after in zip(cases, sourced(shell, cases, folder, language), strict=True):
            assert after == expected(case), (shell, case)
