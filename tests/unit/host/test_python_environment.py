"""Layouts that this machine lacks, made of files below a root; and which interpreter a target means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cvm.elf.files import Disk
from cvm.errors import UsageError
from cvm.host.environment import find_environment, read_environment
from tests.unit.elf.tiny import tiny
from tests.unit.host.pythons import asked, make_venv

HOME = {"HOME": "/home/me"}
DEBIAN = "    # Debian: dist-packages\n"
FEDORA = '        PREFIXES.insert(0, "/usr/local")\n'


def program(root, path, content=b"\x7fELF"):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(0o755)


def link(root, path, target):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(target)


def folders(root, *paths):
    for path in paths:
        (root / path).mkdir(parents=True, exist_ok=True)


def library(root, path, site=""):
    folders(root, path)
    (root / path / "os.py").touch()
    (root / path / "site.py").write_text(site)


def read(root, executable, variables=HOME):
    return read_environment(executable, variables, Disk(str(root)))


def paths(environment):
    return [one.path for one in environment.search]


@pytest.fixture
def debian(tmp_path):
    program(tmp_path, "usr/bin/python3.12")
    link(tmp_path, "usr/bin/python3", "python3.12")
    link(tmp_path, "bin", "usr/bin")
    library(tmp_path, "usr/lib/python3.12", DEBIAN)
    folders(tmp_path, "usr/lib/python3/dist-packages", "usr/local/lib/python3.12/dist-packages")
    folders(tmp_path, "home/me/.local/lib/python3.12/site-packages", "usr/lib/python3.12/site-packages")
    return tmp_path


DEBIANS = ["/usr/local/lib/python3.12/dist-packages", "/usr/lib/python3/dist-packages"]
USERS = "/home/me/.local/lib/python3.12/site-packages"


def test_debian(debian):
    environment = read(debian, "/usr/bin/python3")
    assert paths(environment) == ["/usr/lib/python3.12", USERS, *DEBIANS]
    assert [one.origin for one in environment.search] == ["standard library", "user site", *["dist-packages"] * 2]
    assert environment[:4] == ("/usr/bin/python3", "/usr/bin/python3.12", "/usr", (3, 12))
    assert read(debian, "/bin/python3").prefix == "/usr"


def test_a_venv_on_debian(debian):
    link(debian, "venv/bin/python", "/usr/bin/python3")
    folders(debian, "venv/lib/python3.12/site-packages")
    cfg = debian / "venv/pyvenv.cfg"
    cfg.write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    environment = read(debian, "/venv/bin/python")
    assert (environment.prefix, environment.program) == ("/venv", "/usr/bin/python3.12")
    assert paths(environment) == ["/usr/lib/python3.12", "/venv/lib/python3.12/site-packages"]
    cfg.write_text("home = /usr/bin\ninclude-system-site-packages = true\n")
    expected = ["/usr/lib/python3.12", "/venv/lib/python3.12/site-packages", USERS]
    # In a virtual environment Debian's Python looks in its own site-packages as well.
    expected += ["/usr/lib/python3.12/site-packages", *DEBIANS]
    assert paths(read(debian, "/venv/bin/python")) == expected


def test_fedora(tmp_path):
    program(tmp_path, "usr/bin/python3.13")
    library(tmp_path, "usr/lib64/python3.13", FEDORA)
    sites = [f"usr/{part}/python3.13/site-packages" for part in ("local/lib64", "local/lib", "lib64", "lib")]
    folders(tmp_path, *sites)
    everything = ["/usr/lib64/python3.13", *(f"/{site}" for site in sites)]
    assert paths(read(tmp_path, "/usr/bin/python3.13")) == everything
    for variables in ({"PYTHONNOUSERSITE": "1"}, {"RPM_BUILD_ROOT": "/x"}):
        assert paths(read(tmp_path, "/usr/bin/python3.13", variables)) == [everything[0], *everything[3:]]


def test_one_folder_under_two_names_is_read_once(tmp_path):
    program(tmp_path, "usr/bin/python3.13")
    library(tmp_path, "usr/lib64/python3.13")
    folders(tmp_path, "venv/lib/python3.13/site-packages/x-1.dist-info")
    (tmp_path / "venv/lib/python3.13/site-packages/x-1.dist-info/METADATA").write_text("Name: x\n")
    link(tmp_path, "venv/lib64", "lib")
    link(tmp_path, "venv/bin/python", "/usr/bin/python3.13")
    (tmp_path / "venv/pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    environment = read(tmp_path, "/venv/bin/python")
    assert paths(environment)[1:] == [f"/venv/{part}/python3.13/site-packages" for part in ("lib64", "lib")]
    assert len(environment.distributions) == 1


def test_conda(tmp_path):
    program(tmp_path, "opt/conda/envs/ml/bin/python3.10")
    link(tmp_path, "opt/conda/envs/ml/bin/python", "python3.10")
    link(tmp_path, "conda", "opt/conda")
    library(tmp_path, "opt/conda/envs/ml/lib/python3.10")
    library(tmp_path, "opt/conda/lib/python3.12")
    folders(tmp_path, "opt/conda/envs/ml/lib/python3.10/site-packages")
    for prefix in ("/opt/conda/envs/ml", "/conda/envs/ml"):
        environment = read(tmp_path, f"{prefix}/bin/python", {})
        assert environment.prefix == prefix
        assert paths(environment) == [f"{prefix}/lib/python3.10", f"{prefix}/lib/python3.10/site-packages"]


@pytest.mark.parametrize(
    ("name", "content", "cfg", "version"),
    [
        ("python3.11", b"\x7fELF", "version = 3.10.1", (3, 11)),
        ("python", b"\x7fELF", "version = 3.9.1", (3, 9)),
        ("python", b"\x7fELF", "version_info = 3.10.14.final.0", (3, 10)),
        ("python", tiny((b"libc.so.6", b"libpython3.9.so.1.0")), "", (3, 9)),
        ("python", b"\x7fELF", "", (3, 10)),
        ("python3", b"", "", (3, 10)),
    ],
)
def test_the_version_is_told_by_the_best_witness(tmp_path, name, content, cfg, version):
    program(tmp_path, f"usr/bin/{name}", content)
    library(tmp_path, "usr/lib/python3.9")
    library(tmp_path, "usr/lib/python3.10")
    folders(tmp_path, "usr/lib/python3.99")
    if cfg:
        (tmp_path / "usr/pyvenv.cfg").write_text(cfg)
    assert read(tmp_path, f"/usr/bin/{name}").version == version


def test_a_python_without_the_lock_has_a_folder_of_its_own(tmp_path):
    program(tmp_path, "usr/bin/python3.13t")
    library(tmp_path, "usr/lib/python3.13")
    library(tmp_path, "usr/lib/python3.13t")
    folders(tmp_path, "usr/lib/python3.13t/site-packages", "home/me/.local/lib/python3.13t/site-packages")
    expected = ["/usr/lib/python3.13t", "/home/me/.local/lib/python3.13t/site-packages"]
    environment = read(tmp_path, "/usr/bin/python3.13t")
    assert paths(environment) == [*expected, "/usr/lib/python3.13t/site-packages"]
    assert environment.version == (3, 13)


def test_without_a_standard_library_the_folder_of_packages_is_found(tmp_path):
    program(tmp_path, "app/bin/python3.11")
    folders(tmp_path, "app/lib/python3.11/site-packages")
    environment = read(tmp_path, "/app/bin/python3.11")
    assert environment.prefix == "/app"
    assert paths(environment) == ["/app/lib/python3.11", "/app/lib/python3.11/site-packages"]


def test_a_venv_whose_home_is_gone_falls_back_to_where_its_program_is(debian):
    link(debian, "venv/bin/python", "/usr/bin/python3")
    (debian / "venv/pyvenv.cfg").write_text("home = /gone/bin\ninclude-system-site-packages = false\n")
    assert paths(read(debian, "/venv/bin/python")) == ["/usr/lib/python3.12"]


def test_editable_packages_found_by_code_are_named(debian):
    site = debian / "usr/lib/python3/dist-packages"
    (site / "__editable__.ours-1.0.pth").write_text("import __editable___ours_1_0_finder; …install()")
    (site / "distutils-precedence.pth").write_text("import os; …")
    environment = read(debian, "/usr/bin/python3")
    assert environment.unfollowed == ("/usr/lib/python3/dist-packages/__editable__.ours-1.0.pth",)


def test_a_pth_file_of_odd_bytes_does_no_harm(debian):
    site = debian / "usr/lib/python3/dist-packages"
    (site / "a.pth").write_bytes(b"\0\n\xff\xfe\n\xef\xbb\xbf/usr\n")
    (site / "b.pth").write_bytes(b"\xef\xbb\xbf/usr/local\n")
    (site / "c.pth").mkdir()
    assert paths(read(debian, "/usr/bin/python3"))[-1] == "/usr/local"


@pytest.mark.parametrize(
    ("path", "content", "sentence"),
    [
        ("/usr/bin/python3", b"#!/bin/sh\n", "is a script that does not tell which Python it starts"),
        ("/usr/bin/python", b"\x7fELF", "does not tell which version of Python it is"),
        ("/usr/bin/gone", None, "No such file"),
    ],
)
def test_what_is_no_interpreter_is_said(tmp_path, path, content, sentence):
    if content:
        program(tmp_path, path[1:], content)
    with pytest.raises(UsageError, match=sentence) as caught:
        read(tmp_path, path)
    assert caught.value.hint


def test_behind_a_wrapper(tmp_path):
    """The wrapper is a script that no file explains: it is asked."""
    venv = make_venv(sys.executable, tmp_path / "venv")
    wrapper = tmp_path / "python3"
    wrapper.write_text(f'#!/bin/sh\nexec {venv} "$@"\n')
    wrapper.chmod(0o755)
    environment = read_environment("python3", dict(os.environ), Disk(), str(tmp_path))
    assert environment.executable == venv
    assert paths(environment) == asked(venv, os.environ, tmp_path)[3]


def test_behind_a_shim_of_pyenv_the_folder_decides(tmp_path):
    for version in ("3.11.7", "3.12.1"):
        root = tmp_path / "pyenv/versions" / version
        program(root, f"bin/python{version[:4]}")
        link(root, "bin/python3", f"python{version[:4]}")
        folders(root, f"lib/python{version[:4]}/site-packages")
    program(tmp_path, "pyenv/shims/python3", b"#!/bin/sh\nexit 1\n")
    (tmp_path / "pyenv/version").write_text("3.11.7\n")
    folders(tmp_path, "work")
    (tmp_path / "work/.python-version").write_text("3.12.1\n")
    shim = str(tmp_path / "pyenv/shims/python3")
    assert read_environment(shim, {}, Disk(), str(tmp_path / "work")).version == (3, 12)
    assert read_environment(shim, {}, Disk(), str(tmp_path)).version == (3, 11)


# -- targets


@pytest.fixture
def targets(tmp_path):
    program(tmp_path, "usr/bin/python3.11")
    program(tmp_path, "usr/bin/gcc")
    link(tmp_path, "usr/bin/py", "python3.11")
    link(tmp_path, "venv/bin/python3", "/usr/bin/python3.11")
    link(tmp_path, "venv/bin/python", "python3")
    link(tmp_path, "conda/bin/python", "/usr/bin/python3.11")
    link(tmp_path, "dead/bin/python", "/usr/bin/python3.8")
    link(tmp_path, "project/.venv/bin/python3", "/usr/bin/python3.11")
    return Disk(str(tmp_path))


@pytest.mark.parametrize(
    ("target", "interpreter"),
    [
        ("/venv", "/venv/bin/python3"),
        ("venv/", "/venv/bin/python3"),
        ("/project/../conda", "/conda/bin/python"),
        ("/venv/bin/python", "/venv/bin/python"),
        ("/usr/bin/py", "/usr/bin/py"),
    ],
)
def test_a_target_means_an_interpreter(targets, target, interpreter):
    assert find_environment(target, targets) == interpreter


def test_a_relative_target_starts_at_the_folder(targets):
    assert find_environment(".venv", targets, "/project") == "/project/.venv/bin/python3"


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        ("/nowhere", "there is no `/nowhere`", "name a Python interpreter or the folder of an environment"),
        ("/usr/bin/gcc", "`/usr/bin/gcc` is not a Python interpreter", "name a file such as `…/bin/python3`"),
        ("/dead", "`/dead/bin/python` is a link to a file that is gone", "make the environment anew with a Python"),
        ("/project", "there is no Python in `/project`: no `bin/python3`", "did you mean `/project/.venv`?"),
        ("venv/bin", "there is no Python in `venv/bin`: no `bin/python3`", "did you mean `/venv`?"),
        (
            "/usr/bin/..",
            "there is no Python in `/usr/bin/..`: no `bin/python3`",
            "name the folder that holds `bin/python3`",
        ),
    ],
)
def test_what_is_no_target_is_said_with_a_hint(targets, target, message, hint):
    with pytest.raises(UsageError) as caught:
        find_environment(target, targets)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_what_is_found_is_read(tmp_path):
    venv = make_venv(sys.executable, tmp_path / "venv")
    found = find_environment("venv", Disk(), str(tmp_path))
    assert read_environment(found, {}, Disk()).prefix == str(tmp_path / "venv")
    assert subprocess.run([found, "-c", "print(1)"], capture_output=True, check=True).stdout == b"1\n"
    assert Path(found).samefile(venv)
