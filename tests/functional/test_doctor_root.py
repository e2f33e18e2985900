"""An image is judged like the machine that it was made from, by its own files alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.torch import RUNTIME, make_torch, old_runtime

if TYPE_CHECKING:
    from tests.functional.conftest import World


@pytest.fixture
def image(bare_world: World, tmp_path: Path) -> Path:
    """A torch with its Python and every library that the loader takes on this machine, below a folder."""
    venv = make_torch(tmp_path / "made" / "venv").parent.parent
    old_runtime(tmp_path / "made" / "cuda")
    root = tmp_path / "image"
    document = bare_world.ok("doctor", "--json", venv).json
    assert document["verdict"] == "ok"
    for one in document["consumers"][0]["libraries"]:
        if not one["path"].startswith(str(tmp_path)):
            _copy(one["path"], root)
    python = Path(document["targets"][0]["python"]).resolve()
    (root / python.parent.parent.relative_to("/") / "lib" / python.name).mkdir(parents=True)
    shutil.copytree(tmp_path / "made", root / "opt", symlinks=True)
    shutil.rmtree(tmp_path / "made")
    return root


def _copy(path: str, root: Path) -> None:
    """Copy a file to where it is, and to where its links lead, as an image has both."""
    for each in {path, str(Path(path).resolve())}:
        target = root / each.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def test_an_image_is_judged_by_its_own_files(bare_world: World, image: Path) -> None:
    document = bare_world.ok("doctor", "--json", "--root", image, "/opt/venv").json
    (torch,) = document["consumers"]
    assert (document["verdict"], torch["name"], torch["error"]) == ("ok", "torch", None)
    paths = [one["path"] for one in torch["libraries"]]
    assert any(path.endswith(f"nvidia/cuda_runtime/lib/{RUNTIME}") for path in paths)
    assert not [path for path in paths if path.startswith(str(image))]


def test_a_variable_of_the_image_counts_and_one_of_this_shell_does_not(bare_world: World, image: Path) -> None:
    bare_world.monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/cuda/lib")
    assert bare_world.run("doctor", "--root", image, "/opt/venv").code == 0
    outcome = bare_world.run("doctor", "--root", image, "/opt/venv", "--env", "LD_LIBRARY_PATH=/opt/cuda/lib")
    assert outcome.code == 1
    assert "culprit    LD_LIBRARY_PATH[0]=/opt/cuda/lib\n" in outcome.out


def test_without_a_target_the_images_own_python_is_meant(bare_world: World, image: Path) -> None:
    assert "torch 2.99.0" in bare_world.ok("doctor", "--root", image, "--env", "PATH=/bin:/opt/venv/bin").out
    (image / "venv").symlink_to("opt/venv")
    assert "torch 2.99.0" in bare_world.ok("doctor", "--root", image).out


def test_an_image_without_a_python(bare_world: World, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    outcome = bare_world.run("doctor", "--root", tmp_path / "empty")
    assert (outcome.code, outcome.err) == (
        2,
        f"error: there is no python3 in `{tmp_path}/empty`\nhint: cvm doctor ENVIRONMENT\n",
    )
