"""What a rendering says comes out of real shells as it went in, whatever its bytes."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvm.core.environment import Change
from cvm.shell import SHELLS

# A shell, and the words that let it read commands from stdin.
PROGRAMS = {
    "bash": ["bash", "--norc"],
    "zsh": ["zsh", "-f"],
    "dash": ["dash"],
    "busybox": ["busybox", "sh"],
    "fish": ["fish", "--no-config"],
}
INSTALLED = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(words[0]) is None, reason=f"no {words[0]}"))
    for name, words in PROGRAMS.items()
]
# What means something to one shell or another.
ODD = [
    *"'\"\\$`*?[]{}()<>|&;#~!^=% \t\n:", "''", "\\'", "$(id)", "${HOME}", ":=ls", "=ls", "!!", "\\n", "~root", "-n", "--",
    "ü", "\udcff", "\udcc3(", "\r", "\x01", "\x1b[0m", "\x7f", "é\n", "*/*", "a b", "#x", "\\",
]  # fmt: skip
VALUES = st.lists(
    st.one_of(st.sampled_from(ODD), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3)),
    max_size=8,
).map("".join)


def rendered(shell: str, changes: list[Change], environment: dict[str, str]) -> dict[str, str]:
    """The environment of a shell after it evaluates a rendering as the integration does."""
    module = SHELLS["fish" if shell == "fish" else "sh"]
    code = module.render(changes).removesuffix("\n")
    if shell == "fish":
        script = "set -l code (cat); string join \\n -- $code | source; command env -0"
    else:
        script = 'code=$(cat); eval "$code"; unset code; command env -0'
    done = subprocess.run(
        [*PROGRAMS[shell], "-c", script],
        input=os.fsencode(code),
        env={"PATH": "/usr/bin:/bin", "HOME": "/dev/null", **environment},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return dict(item.split("=", 1) for item in os.fsdecode(done.stdout).split("\0") if item)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("shell", INSTALLED)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values=st.lists(VALUES, min_size=20, max_size=40))
def test_values_survive(shell: str, locale: str, values: list[str]) -> None:
    changes = [Change(f"CVM_TEST_{number}", value) for number, value in enumerate([*values, *ODD])]
    after = rendered(shell, changes, {"LC_ALL": locale})
    assert {change.name: after[change.name] for change in changes} == {change.name: change.value for change in changes}


@pytest.mark.parametrize("shell", INSTALLED)
def test_path_lists_keep_their_colons(shell: str) -> None:
    lists = {"PATH": "/a b:/usr/bin:/bin", "LD_LIBRARY_PATH": "/x'y:/z$", "LIBRARY_PATH": "/only"}
    after = rendered(shell, [Change(name, value) for name, value in lists.items()], {})
    assert {name: after[name] for name in lists} == lists


@pytest.mark.parametrize("shell", INSTALLED)
def test_variables_are_unset(shell: str) -> None:
    after = rendered(shell, [Change("GONE", None), Change("NEVER", None)], {"GONE": "1", "KEPT": "2"})
    assert "GONE" not in after
    assert after["KEPT"] == "2"


@pytest.mark.parametrize("shell", INSTALLED)
def test_elements_come_before_a_path_that_is_not_exported(shell: str) -> None:
    after = rendered(shell, [Change("PATH", "/p q", front="/p q")], {"PATH": "/usr/bin:/bin"})
    assert after["PATH"] == "/p q:/usr/bin:/bin"
