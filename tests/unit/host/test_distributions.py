"""The distributions, judged by importlib.metadata where there are real ones."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cvm.core.packages import Distribution, SearchFolder
from cvm.elf.files import Disk
from cvm.host.distributions import distributions, normalized
from cvm.host.environment import read_environment
from tests.unit.host.pythons import pythons

_FACTS = """
import json
from importlib import metadata
print(json.dumps([
    [one.metadata["Name"], one.version or "", one.metadata.get_all("Requires-Dist") or [], str(one._path)]
    for one in metadata.distributions()
]))
"""


@pytest.mark.parametrize("python", [sys.executable, *pythons()])
def test_a_real_environment_has_what_importlib_says(python, tmp_path):
    variables = {"HOME": str(tmp_path)}
    run = subprocess.run(
        [python, "-c", _FACTS], env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if run.returncode and "metadata" in run.stderr:
        pytest.skip("a Python before 3.8")
    said = sorted(
        (normalized(name), version, tuple(requires), info) for name, version, requires, info in json.loads(run.stdout)
    )
    read = read_environment(python, variables, Disk(), str(tmp_path))
    assert sorted((one.name, one.version, one.requires, one.info) for one in read.distributions) == said
    order = [one.path for one in read.search]
    places = [order.index(one.folder) for one in read.distributions]
    assert places == sorted(places)


def in_site(root, **files):
    """Read a site-packages with these metadata, by the name of the folder and file."""
    for name, content in files.items():
        path = root / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return distributions((SearchFolder("/site", "site-packages"), SearchFolder("/none", "x")), "/", Disk(str(root)))


def test_a_wheel(tmp_path):
    metadata = (
        "Metadata-Version: 2.1\nName: nvidia_cublas.cu12\nVersion: 12.1.3.1\nVersion: 13\nRequires-Dist: a (>=1) ; extra == 'x'\r\n"
        "requires-dist : b\nLicense: a\n        Name: inside\nX-Name: no\n\nName: body\nRequires-Dist: body\n"
    )
    (found,) = in_site(tmp_path, **{"nvidia_cublas_cu12-12.1.3.1.dist-info/METADATA": metadata})
    info = "/site/nvidia_cublas_cu12-12.1.3.1.dist-info"
    assert found == Distribution("nvidia-cublas-cu12", "12.1.3.1", "/site", info, ("a (>=1) ; extra == 'x'", "b"))


def test_the_older_forms(tmp_path):
    found = in_site(
        tmp_path,
        **{
            "b.egg-info/PKG-INFO": "Name: B__b\r\nVersion: 2\r\n\r\nName: body",
            "a-1.egg-info": "Name: A\nVersion: 1\n",
        },
    )
    assert [(one.name, one.version, one.info) for one in found] == [("a", "1", "/site/a-1.egg-info"), ("b-b", "2", "/site/b.egg-info")]  # fmt: skip


def test_an_egg_is_a_folder_of_the_search_path(tmp_path):
    (tmp_path / "c-3.egg/EGG-INFO").mkdir(parents=True)
    (tmp_path / "c-3.egg/EGG-INFO/PKG-INFO").write_text("Name: c\nVersion: 3\n")
    found = distributions((SearchFolder("/c-3.egg", "easy-install.pth"),), "/", Disk(str(tmp_path)))
    assert found == (Distribution("c", "3", "/c-3.egg", "/c-3.egg"),)


def test_broken_metadata_is_passed_over(tmp_path):
    found = in_site(
        tmp_path,
        **{
            "a-1.dist-info/METADATA": "Version: 1\n",
            "b-1.dist-info/RECORD": "",
            "c-1.dist-info/METADATA": b"Name: \xff\n",
            "d-1.dist-info/METADATA": "Name: d",
            "e-1.dist-info/METADATA": b"\0" * 100,
            "f-1.dist-info/METADATA/x": "",
            "~orch-1.dist-info/METADATA": "Name: torch\nVersion: 1\n",
        },
    )
    assert [(one.name, one.version) for one in found] == [("\udcff", ""), ("d", "")]


def test_conda_packages_that_are_no_python_packages(tmp_path):
    meta = tmp_path / "site/conda-meta"
    meta.mkdir(parents=True)
    packages = {
        "pytorch-cuda-12.1-ha16c6d3_5": ["lib/x"],
        "_libgcc_mutex-0.1-main": [],
        "cudnn-8.9.2.26-cuda12_0": ["lib/libcudnn.so.8"],
        "pytorch-2.1.0-py3.10_cuda12.1_cudnn8.9.2_0": [
            "lib/python3.10/site-packages/torch-2.1.0-py3.10.egg-info/PKG-INFO"
        ],
        "numpy-1.26.0-py310_0": ["lib/python3.10/site-packages/numpy-1.26.0.dist-info/METADATA"],
        "six-1.16.0-pyh_0": ["lib/python3.10/site-packages/six-1.16.0.egg-info"],
        "known-2-0": [],
    }
    for name, files in packages.items():
        (meta / f"{name}.json").write_text(json.dumps({"name": name.rsplit("-", 2)[0], "files": files}))
    (meta / "history").touch()
    (meta / "odd.json").touch()
    (tmp_path / "site/known-2.dist-info").mkdir()
    (tmp_path / "site/known-2.dist-info/METADATA").write_text("Name: known\nVersion: 2")
    found = distributions((SearchFolder("/site", "site-packages"),), "/site", Disk(str(tmp_path)))
    assert [(one.name, one.version, one.folder) for one in found] == [
        ("known", "2", "/site"),
        ("_libgcc_mutex", "0.1", "/site"),
        ("cudnn", "8.9.2.26", "/site"),
        ("pytorch-cuda", "12.1", "/site"),
    ]
    assert found[2].info == "/site/conda-meta/cudnn-8.9.2.26-cuda12_0.json"


def test_the_first_on_the_path_is_the_one_imported(tmp_path):
    for folder, version in (("z", "1"), ("a", "2")):
        info = tmp_path / folder / "torch.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: torch\nVersion: {version}")
    search = tuple(SearchFolder(f"/{name}", "PYTHONPATH") for name in ("z", "a"))
    assert [one.version for one in distributions(search, "/", Disk(str(tmp_path)))] == ["1", "2"]
