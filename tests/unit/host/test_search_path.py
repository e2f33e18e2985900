"""The search path, judged by the interpreters themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from cvm.elf.files import Disk
from cvm.host.environment import read_environment
from tests.unit.host.pythons import asked, make_venv, pythons


@pytest.fixture(scope="module", params=pythons())
def interpreters(request, tmp_path_factory):
    """An installed Python, and three virtual environments of it."""
    folder = tmp_path_factory.mktemp("venvs")
    return {
        "base": request.param,
        "venv": make_venv(request.param, folder / "venv"),
        "system": make_venv(request.param, folder / "system", "--system-site-packages"),
        "copies": make_venv(request.param, folder / "copies", "--copies"),
    }


@pytest.fixture
def variables(tmp_path):
    """A home with packages of the user's own for every version, and `.pth` files in them."""
    for number in range(6, 20):
        for base in ("home/.local", "other"):
            site = tmp_path / base / f"lib/python3.{number}/site-packages"
            (site / "inside").mkdir(parents=True)
            (site / "b.pth").write_text("inside\n\n  \n# a comment\n./inside/\nmissing\ninside")
            (site / "a.pth").write_bytes(f"import os\nimport\tsys\r\n{tmp_path}/work/../work \r\n".encode())
            (site / ".c.pth").write_text(f"{tmp_path}/hidden")
            (site / "d.pth.txt").write_text("inside/..")
            (site / "zip.pth").write_text("a.egg")
            (site / "a.egg").touch()
    for name in ("work/rel", "hidden", "extra"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "extra/x.pth").write_text(f"{tmp_path}/hidden")
    return {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}


def check(interpreter, variables, folder):
    read = read_environment(interpreter, variables, Disk(), str(folder))
    said = asked(interpreter, variables, folder)
    assert (read.executable, read.prefix, read.version, [one.path for one in read.search]) == said
    assert read.program == str(Path(interpreter).resolve())
    return read


@pytest.mark.parametrize("which", ["base", "venv", "system", "copies"])
def test_plain(interpreters, which, variables, tmp_path):
    origins = [one.origin for one in check(interpreters[which], variables, tmp_path / "work").search]
    assert ("user site" in origins) == (which in ("base", "system"))


@pytest.mark.parametrize("which", ["base", "venv", "system"])
def test_pythonpath(interpreters, which, variables, tmp_path):
    folder = tmp_path / "work"
    for text in (f"{tmp_path}/extra::rel:/nowhere/../gone:{tmp_path}/extra/", ":", "", "~:rel:rel"):
        read = check(interpreters[which], variables | {"PYTHONPATH": text}, folder)
    assert [one.origin for one in read.search][:2] == ["PYTHONPATH[0]", "PYTHONPATH[1]"]


@pytest.mark.parametrize("which", ["base", "venv", "system"])
def test_the_users_packages(interpreters, which, variables, tmp_path):
    check(interpreters[which], variables | {"PYTHONNOUSERSITE": "1"}, tmp_path)
    check(interpreters[which], variables | {"PYTHONNOUSERSITE": ""}, tmp_path)
    check(interpreters[which], variables | {"PYTHONUSERBASE": str(tmp_path / "other")}, tmp_path)
    check(interpreters[which], variables | {"PYTHONUSERBASE": "other"}, tmp_path)
    check(interpreters[which], variables | {"PYTHONUSERBASE": "gone"}, tmp_path)
    check(interpreters[which], variables | {"PYTHONUSERBASE": "", "HOME": f"{tmp_path}/home/"}, tmp_path)


def test_pth_files_of_a_venv(interpreters, variables, tmp_path):
    for which in ("venv", "system"):
        site = next(iter(Path(interpreters[which]).parents[1].glob("lib/python3*/site-packages")))
        (site / "x.pth").write_text(f"{tmp_path}/extra\n../../../..\n../x\n")
        read = check(interpreters[which], variables, tmp_path)
        assert next(one.path for one in read.search if one.origin == str(site / "x.pth")) == f"{tmp_path}/extra"
        # A folder of packages in PYTHONPATH has its .pth files read all the same.
        check(interpreters[which], variables | {"PYTHONPATH": f"{tmp_path}/work:{site}"}, tmp_path)
        (site / "x.pth").unlink()


def test_pythonhome(interpreters, variables, tmp_path):
    prefix = Path(asked(interpreters["base"], variables, tmp_path)[1])
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()
        for library in prefix.glob("lib*"):
            (home / library.name).symlink_to(library)
    for which in ("base", "venv", "system"):
        for home in (prefix, homes[0], f"{homes[0]}:{homes[1]}"):
            check(interpreters[which], variables | {"PYTHONHOME": str(home)}, tmp_path)


def test_the_settings_of_a_venv_may_lie_beside_its_python(interpreters, variables, tmp_path):
    cfg = Path(interpreters["venv"]).parents[1] / "pyvenv.cfg"
    moved = cfg.rename(cfg.parent / "bin/pyvenv.cfg")
    try:
        check(interpreters["venv"], variables, tmp_path)
    finally:
        moved.rename(cfg)


def test_links_to_an_interpreter(interpreters, variables, tmp_path):
    """A link to the program is followed, one to a folder above is not; neither makes a virtual environment."""
    (tmp_path / "direct").symlink_to(interpreters["base"])
    (tmp_path / "python").symlink_to(interpreters["venv"])
    (tmp_path / "prefix").symlink_to(Path(interpreters["base"]).parents[1])
    (tmp_path / "env").symlink_to(Path(interpreters["venv"]).parents[1])
    check(str(tmp_path / "direct"), variables, tmp_path)
    check(str(tmp_path / "python"), variables, tmp_path)
    check(str(tmp_path / "env/bin/python"), variables, tmp_path)
    check(str(tmp_path / "prefix/bin/python3"), variables, tmp_path)


@pytest.mark.parametrize("line", ["", "include-system-site-packages = TRUE\n", "include-system-site-packages=no\n"])
def test_settings_of_a_venv(interpreters, line, variables, tmp_path):
    cfg = Path(interpreters["venv"]).parents[1] / "pyvenv.cfg"
    text = cfg.read_text()
    try:
        cfg.write_text(f"HOME = {Path(interpreters['base']).parent} \n{line}")
        check(interpreters["venv"], variables, tmp_path)
    finally:
        cfg.write_text(text)
