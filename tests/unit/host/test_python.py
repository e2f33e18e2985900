from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cvm.host.python import active_python, bundled_cuda

if TYPE_CHECKING:
    from pathlib import Path


def library(folder: Path, name: str = "nvidia/cublas/lib/libcublas.so.12") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """An interpreter such as a distribution's, with a folder of packages."""
    program(tmp_path / "usr/bin/python3.11")
    (tmp_path / "usr/bin/python3").symlink_to("python3.11")
    (tmp_path / "usr/lib/python3.11/site-packages").mkdir(parents=True)
    return tmp_path / "usr"


@pytest.fixture
def venv(tmp_path: Path, base: Path) -> Path:
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python3").symlink_to(base / "bin/python3")
    (tmp_path / "venv/pyvenv.cfg").write_text("include-system-site-packages = false\n")
    return tmp_path / "venv"


def test_the_first_python3_on_path_is_active(base: Path, venv: Path) -> None:
    assert active_python({"PATH": f"{venv}/bin:{base}/bin"}) == venv / "bin/python3"
    assert active_python({"PATH": "/nowhere"}) is None
    assert active_python({}) is None


@pytest.mark.parametrize("name", ["nvidia/cublas/lib/libcublas.so.12", "nvidia/cu13/lib/libcublas.so.13", "torch/lib/libtorch_cuda.so"])  # fmt: skip
def test_wheels_in_a_venv_count(venv: Path, name: str) -> None:
    path = library(venv / "lib/python3.11/site-packages", name)
    assert bundled_cuda(venv / "bin/python3", {}) == path


@pytest.mark.parametrize("name", ["torch/lib/libtorch_cpu.so", "nvidia/__init__.py", "nvidia/dali/libx.so"])
def test_other_packages_do_not(venv: Path, name: str) -> None:
    library(venv / "lib/python3.11/site-packages", name)
    assert bundled_cuda(venv / "bin/python3", {}) is None


def test_a_venv_hides_the_packages_of_its_base(base: Path, venv: Path) -> None:
    path = library(base / "lib/python3.11/site-packages")
    assert bundled_cuda(venv / "bin/python3", {}) is None
    (venv / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    assert bundled_cuda(venv / "bin/python3", {}) == path
    assert bundled_cuda(base / "bin/python3", {}) == path


def test_another_versions_packages_do_not_count(base: Path) -> None:
    library(base / "lib/python3.12/site-packages")
    assert bundled_cuda(base / "bin/python3", {}) is None


@pytest.mark.parametrize("where", ["lib/python3/dist-packages", "local/lib/python3.11/dist-packages"])
def test_debian_has_folders_of_its_own(base: Path, where: str) -> None:
    path = library(base / where)
    assert bundled_cuda(base / "bin/python3", {}) == path


def test_the_users_own_packages_count_outside_venvs(base: Path, venv: Path, tmp_path: Path) -> None:
    path = library(tmp_path / "home/.local/lib/python3.11/site-packages")
    environment = {"HOME": str(tmp_path / "home")}
    assert bundled_cuda(base / "bin/python3", environment) == path
    assert bundled_cuda(base / "bin/python3", environment | {"PYTHONNOUSERSITE": "1"}) is None
    assert bundled_cuda(venv / "bin/python3", environment) is None


def test_pythonpath_counts(venv: Path, tmp_path: Path) -> None:
    path = library(tmp_path / "extra")
    assert bundled_cuda(venv / "bin/python3", {"PYTHONPATH": f":/nowhere:{tmp_path}/extra"}) == path


def test_a_wrapper_says_what_it_starts(venv: Path, tmp_path: Path) -> None:
    path = library(venv / "lib/python3.11/site-packages")
    wrapper = tmp_path / "shims/python3"
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\necho {venv}/bin/python3\n")
    wrapper.chmod(0o755)
    assert bundled_cuda(wrapper, {}) == path


@pytest.mark.parametrize("script", ["exit 1", "echo no path", ""])
def test_a_wrapper_that_does_not_say_is_taken_as_it_is(tmp_path: Path, script: str) -> None:
    wrapper = tmp_path / "shims/python3"
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\n{script}\n")
    wrapper.chmod(0o755)
    assert bundled_cuda(wrapper, {}) is None


def test_one_program_under_many_names_is_asked(venv: Path, tmp_path: Path) -> None:
    path = library(venv / "lib/python3.11/site-packages")
    real = tmp_path / "bin/mise"
    real.parent.mkdir()
    real.write_text(f"#!/bin/sh\necho {venv}/bin/python3\n")
    real.chmod(0o755)
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims/python3").symlink_to(real)
    assert bundled_cuda(tmp_path / "shims/python3", {}) == path
