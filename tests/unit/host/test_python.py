from __future__ import annotations

from pathlib import Path

import pytest

from cvm.host.python import active_python, behind_wrapper


def program(path: Path, content: bytes = b"\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter such as a distribution's."""
    program(tmp_path / "usr/bin/python3.11")
    (tmp_path / "usr/bin/python3").symlink_to("python3.11")
    return tmp_path / "usr/bin/python3"


def test_the_first_python3_on_path_is_active(python: Path, tmp_path: Path) -> None:
    first = program(tmp_path / "first/python3")
    assert active_python({"PATH": f"{first.parent}:{python.parent}"}) == first
    assert active_python({"PATH": "/nowhere"}) is None
    assert active_python({}) is None


def test_an_interpreter_hides_nothing(python: Path) -> None:
    assert behind_wrapper(python, {}) == python


def test_a_wrapper_says_what_it_starts(python: Path, tmp_path: Path) -> None:
    wrapper = program(tmp_path / "shims/python3", f"#!/bin/sh\necho {python}\n".encode())
    assert behind_wrapper(wrapper, {}) == python


@pytest.mark.parametrize("script", ["exit 1", "echo no path", "", "exec yes /bin/python3", "exec cat"])
def test_a_wrapper_that_does_not_say_is_taken_as_it_is(tmp_path: Path, script: str) -> None:
    wrapper = program(tmp_path / "shims/python3", f"#!/bin/sh\n{script}\n".encode())
    assert behind_wrapper(wrapper, {}) == wrapper


def test_a_wrapper_is_asked_where_it_would_be_started(tmp_path: Path) -> None:
    wrapper = program(tmp_path / "python3", b"#!/bin/sh\necho $PWD/python3\n")
    assert behind_wrapper(wrapper, {}, Path("/usr")) == Path("/usr/python3")


def test_one_program_under_many_names_is_asked(python: Path, tmp_path: Path) -> None:
    real = program(tmp_path / "bin/mise", f"#!/bin/sh\necho {python}\n".encode())
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims/python3").symlink_to(real)
    assert behind_wrapper(tmp_path / "shims/python3", {}) == python
