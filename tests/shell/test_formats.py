"""What `cvm env --format` writes, read back by the rules of whoever reads it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvm.core.environment import Activation, joined
from cvm.errors import UsageError
from cvm.shell import dockerfile, dotenv, github
from cvm.shell.formats import FORMATS, Exported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOME = "/home/person/.local/share/cvm/toolchains/12.1.1-cudnn8.9.4.25"
PLAIN = Activation(
    {"CUDA_HOME": HOME, "CVM_TOOLCHAIN": "12.1.1-cudnn8.9.4.25"},
    {"PATH": (f"{HOME}/bin",), "LIBRARY_PATH": (f"{HOME}/lib64", f"{HOME}/lib64/stubs")},
)
ENVIRONMENT = {"PATH": f"/usr/bin::/bin:{HOME}/bin:/usr/bin", "SECRET": "not ours"}
WHOLE = {
    **PLAIN.values,
    "PATH": f"{HOME}/bin:/usr/bin:/bin",
    "LIBRARY_PATH": f"{HOME}/lib64:{HOME}/lib64/stubs",
}


def written(form: str, activation: Activation = PLAIN, environment: Mapping[str, str] = ENVIRONMENT) -> str:
    return FORMATS[form](Exported(activation, environment, "12.1.1-cudnn8.9.4.25"))


class TestTable:
    def test_it_has_the_formats(self):
        assert set(FORMATS) == {"dotenv", "dockerfile", "github", "modulefile"}

    @pytest.mark.parametrize("form", FORMATS)
    def test_the_same_comes_out_twice_and_ends_with_a_newline(self, form: str):
        text = written(form)
        assert text == written(form)
        assert text.endswith("\n")
        assert "SECRET" not in text

    @pytest.mark.parametrize("form", FORMATS)
    def test_bytes_that_are_no_text_are_refused(self, form: str):
        with pytest.raises(UsageError, match="CUDA_HOME"):
            written(form, Activation({"CUDA_HOME": "/opt/\udcff"}, {}))
        with pytest.raises(UsageError, match="PATH"):
            written(form, Activation({}, {"PATH": ("/opt/\udcff",)}))

    @pytest.mark.parametrize("form", ["dotenv", "dockerfile", "modulefile"])
    def test_a_newline_is_refused(self, form: str):
        with pytest.raises(UsageError, match="CUDA_HOME"):
            written(form, Activation({"CUDA_HOME": "/opt/a\nb"}, {}))

    def test_the_module_file_names_the_toolchain(self):
        assert written("modulefile").startswith("#%Module1.0\n")
        assert "12.1.1-cudnn8.9.4.25:\\ CUDA\\ toolchain" in written("modulefile")

    @pytest.mark.parametrize(
        ("value", "after"),
        [("", "/p:/q"), (":", "/p:/q"), ("/a", "/p:/q:/a"), (":/a::/q:/a:", "/p:/q:/a"), ("/q:/p", "/p:/q")],
    )
    def test_elements_are_joined_once_and_without_empty_ones(self, value: str, after: str):
        assert joined(("/p", "/q"), value) == after


def literally(text: str) -> dict[str, str]:
    """Read a file as `docker run --env-file` does: all after the first `=`, and a line that starts with # is none."""
    lines = (line.lstrip() for line in text.splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


QUOTED = (
    *("a b", " a ", "a\tb", "#a", "a #b", "!x", "~/a", "/a:~", "=ls", "/a:=ls", "*?[a]", "{a,b}", "ü x"),
    *("$HOME", "$(id)", "`id`", "a;b&c|d", "(a)", "<a>", 'say "a"', "it's", "\\'", 'it\'s "a\\"'),
    *("a\\b", "a\\\\b", "a\\"),
)


class TestDotenv:
    def in_sh(self, text: str, folder: Path, shell: str) -> dict[str, str]:
        (folder / "file.env").write_text(text)
        script = 'set -eua; . "$1"; exec /usr/bin/env -0'
        command = [shell, "-c", script, "sh", str(folder / "file.env")]
        done = subprocess.run(command, env={"PATH": "/usr/bin"}, capture_output=True, check=True)
        assert done.stderr == b""
        pairs = (line.split("=", 1) for line in os.fsdecode(done.stdout).split("\0") if line)
        return {name: value for name, value in pairs if re.fullmatch(r"A\d+", name)}

    def test_docker_reads_whole_values(self):
        assert literally(written("dotenv")) == WHOLE

    @pytest.mark.parametrize("value", ["", "/opt/jürgen/a-b_c.d+e", "/a=b:/c,d@e%f", "12.1.1"])
    def test_an_ordinary_value_stands_bare(self, value: str):
        assert dotenv.render({"A": value}) == f"A={value}\n"

    @pytest.mark.parametrize("shell", ["sh", "bash", "zsh", "busybox"])
    def test_shells_read_what_needs_quotes(self, tmp_path: Path, shell: str):
        if not shutil.which(shell):
            pytest.skip(f"no {shell}")
        command = shutil.which(shell) or ""
        if shell == "busybox":
            (tmp_path / "sh").symlink_to(command)
            command = str(tmp_path / "sh")
        values = {f"A{number}": value for number, value in enumerate(QUOTED)}
        assert self.in_sh(dotenv.render(values), tmp_path, command) == values

    @given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20))
    def test_every_value_is_read_back_or_refused(self, value: str):
        try:
            text = dotenv.render({"A": value}).removesuffix("\n")
        except UsageError:
            assert re.search(r"[\n\r]|\$\{|[$`]", value)
        else:
            assert unquoted(text.removeprefix("A=")) == value

    @pytest.mark.parametrize("value", ["a\nB=c", "a\r", "${HOME}", "it's $5", "it's `a`", "\\\\$"])
    def test_what_readers_disagree_on_is_refused(self, value: str):
        with pytest.raises(UsageError, match="A holds"):
            dotenv.render({"A": value})


def unquoted(text: str) -> str:
    """Read a value as python-dotenv documents it."""
    if text.startswith("'"):
        return re.sub(r"\\([\\'])", r"\1", text[1:-1])
    if text.startswith('"'):
        return re.sub(r'\\([\\"])', r"\1", text[1:-1])
    return text


def built(text: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Apply ENV lines to an image's environment by the rules that Docker documents."""
    after = dict(environment)
    for line in text.splitlines():
        name, value = re.fullmatch(r'ENV (\w+)="((?:[^"\\]|\\.)*)"', line).groups()  # type: ignore[union-attr]
        after[name] = _expanded(value, after)
    return after


def _expanded(text: str, environment: Mapping[str, str]) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found["escaped"]:
            return found["escaped"]
        if found["word"] is not None:
            return _expanded(found["word"], environment) if environment.get(found["name"]) else ""
        return environment.get(found["name"] or found["bare"], "")

    pattern = r'\\(?P<escaped>["$\\])|\$\{(?P<name>\w+)(?::\+(?P<word>[^}]*))?\}|\$(?P<bare>\w+)'
    return re.sub(pattern, replaced, text)


class TestDockerfile:
    def test_lists_come_before_what_the_image_has(self):
        assert built(written("dockerfile"), {"PATH": "/usr/bin:/bin", "LIBRARY_PATH": "/a"}) == {
            **PLAIN.values,
            "PATH": f"{HOME}/bin:/usr/bin:/bin",
            "LIBRARY_PATH": f"{HOME}/lib64:{HOME}/lib64/stubs:/a",
        }

    @pytest.mark.parametrize("environment", [{}, {"LIBRARY_PATH": ""}])
    def test_an_unset_list_gets_no_empty_element(self, environment: dict[str, str]):
        assert built(written("dockerfile"), environment)["LIBRARY_PATH"] == WHOLE["LIBRARY_PATH"]

    def test_nothing_of_this_machine_gets_in(self):
        assert "/usr/bin" not in written("dockerfile")

    @given(st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")))
    def test_every_value_comes_out_as_it_went_in(self, value: str):
        text = dockerfile.render(Activation({"A": value}, {"B": (value,)}))
        assert built(text, {"B": "$A"}) == {"A": value, "B": f"{value}:$A"}


def runner_reads(text: str) -> dict[str, str]:
    """Read the file as the runner of GitHub Actions does: `NAME=value`, or `NAME<<DELIMITER` and lines up to it."""
    values: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if "<<" in line and line.find("<<") < (line.find("=") if "=" in line else len(line)):
            name, end = line.split("<<", 1)
            content = []
            while (inner := next(lines)) != end:
                content.append(inner)
            values[name] = "\n".join(content)
        elif line:
            name, values[name] = line.split("=", 1)[0], line.split("=", 1)[1]
    return values


class TestGithub:
    def test_whole_values(self):
        assert runner_reads(written("github")) == WHOLE

    @pytest.mark.parametrize("value", ["a\nb", "\n", "a\n", "END\nEND_\nB=c", "B<<END\nx\nEND\n", "<<END", "=", ""])
    def test_lines_and_delimiters(self, value: str):
        assert runner_reads(github.render({"A": value, "B": "last"})) == {"A": value, "B": "last"}

    @given(
        st.dictionaries(st.from_regex(r"[A-Z]{1,3}", fullmatch=True), st.text("END_<=\n a", max_size=20), max_size=3)
    )
    def test_every_value_comes_out_as_it_went_in(self, values: dict[str, str]):
        assert runner_reads(github.render(values)) == values
