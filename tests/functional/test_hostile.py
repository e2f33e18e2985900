"""Archives that try to leave their folder, under the very hash that the manifest names."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import pytest

from tests.fakes.archives import HOSTILE_TARS, HOSTILE_ZIPS, Made, tar_bytes, tar_member
from tests.functional.outcomes import complaint
from tests.functional.processes import assert_nothing_half
from tests.functional.releases import describe, served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World

# Through a folder that is a link by the time the file is written.
THROUGH_FOLDER = tar_bytes(
    [
        tar_member("top/lib", kind=b"2", target="../../../../../outside"),
        tar_member("top/lib/libx.so", b"planted"),
    ]
)
ARCHIVES = {
    **{f"tar: {name}": (lzma.compress(data), "x-1-archive.tar.xz") for name, (data, _) in HOSTILE_TARS.items()},
    **{f"wheel: {name}": (data, "x-1-py3-none-any.whl") for name, (data, _) in HOSTILE_ZIPS.items()},
    "tar: through a linked folder": (lzma.compress(THROUGH_FOLDER), "x-1-archive.tar.xz"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_hostile_archive_leaves_nothing_anywhere(world: World, tmp_path: Path, name: str) -> None:
    data, filename = ARCHIVES[name]
    made = Made(filename, data)
    describe(world, "99.5.0", ("cuda_cudart", served(world, tmp_path / "served", made.name, made.data)))
    before = outside(tmp_path)
    outcome = world.run("install", "99.5", "--source", "redist")
    assert (outcome.code, outcome.out) == (6, "")
    sentence = outcome.err.splitlines()[2]
    assert sentence.startswith((f"error: {filename} is refused: ", f"error: {filename} is damaged: ")), sentence
    assert_nothing_half(world)
    assert outside(tmp_path) == before
    assert stored(world) == []


def test_a_bomb_is_stopped(world: World, tmp_path: Path) -> None:
    bomb = tar_bytes([tar_member("top/lib/libbomb.a", bytes(80 << 20))], "xz")
    archive = served(world, tmp_path / "served", "bomb-archive.tar.xz", bomb, unpacked=1000)
    describe(world, "99.5.0", ("cuda_cudart", archive))
    outcome = world.run("install", "99.5", "--source", "redist")
    assert outcome.code == 6
    assert "bomb-archive.tar.xz is refused: it holds more than the " in outcome.err
    assert_nothing_half(world)
    assert stored(world) == []


def test_a_manifest_with_a_wrong_size(world: World, tmp_path: Path) -> None:
    good = tar_bytes([tar_member("top/include/cuda.h", b"#define CUDA_VERSION 99050\n")], "xz")
    archive = served(world, tmp_path / "served", "x-archive.tar.xz", good, size=len(good) + 1)
    path = describe(world, "99.5.0", ("cuda_cudart", archive))
    outcome = world.run("install", "99.5", "--source", "redist")
    assert outcome.code == 6
    size = len(good)
    assert complaint(outcome)[0] == (
        f"x-archive.tar.xz has {size} bytes at $SERVER/compute/cuda/redist/x-archive.tar.xz instead of {size + 1}"
    )
    assert_nothing_half(world)
    path.write_text(path.read_text().replace(f"size = {size + 1}", f"size = {size}"))
    world.ok("install", "99.5", "--source", "redist")


def outside(folder: Path) -> list[Path]:
    """Everything in the test's folder but what cvm keeps."""
    return sorted(path for path in folder.rglob("*") if "cvm home" not in path.parts)


def stored(world: World) -> list[Path]:
    """What is in the store and the cache."""
    return [path for name in ("store", "cache") for path in (world.home / name).rglob("*") if not path.is_dir()]
