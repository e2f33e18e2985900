"""A second home that is only read: a site's toolchains for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World


@pytest.fixture
def site(world: World) -> Path:
    """A site's home in which 99.1.1 is installed; the world goes on with an empty home of its own."""
    world.ok("install", "99.1")
    site = world.home.with_name("site")
    world.home.rename(site)
    world.monkeypatch.setenv("CVM_SITE_HOME", str(site))
    world.server.requests.clear()
    return site


def test_what_the_site_has_is_listed_as_its_own(world: World, site: Path) -> None:
    assert world.ok("list").out == f"99.1.1  {site}/toolchains/99.1.1 (site)\n"
    assert world.ok("list", "--json").json["toolchains"][0]["site"] is True


def test_the_sites_store_saves_downloads(world: World, site: Path) -> None:
    assert site.exists()
    world.ok("install", "99.1-cudnn")
    fetched = [request.path for request in world.server.requests if request.method == "GET"]
    assert [path.rsplit("/", 1)[1] for path in fetched] == ["cudnn-linux-x86_64-99.8.9.25_cuda99-archive.tar.xz"]
    assert len(list(world.home.glob("store/??/*"))) == 1


def test_the_sites_manifests_count_too(world: World, site: Path) -> None:
    assert (site / "manifests" / "cuda" / "99.1.1.toml").is_file()
    assert [r["version"] for r in world.ok("list-remote", "99.1", "--json").json["releases"]] == ["99.1.0", "99.1.1"]


def test_a_damaged_archive_of_the_site_is_left_to_the_site(world: World, site: Path) -> None:
    world.ok("install", "99.1")
    stored = next(site.glob("store/??/*/tree/*/include/cublas_v2.h"))
    stored.chmod(0o644)
    stored.write_text("damaged")
    world.ok("install", "99.1", "--reinstall")
    assert stored.read_text() == "damaged"


def test_the_sites_toolchains_are_not_ones_own_to_remove(world: World, site: Path) -> None:
    outcome = world.run("uninstall", "99.1")
    assert (outcome.code, outcome.err) == (2, f"error: 99.1.1 belongs to the site's home {site}, not to yours\n")
    assert (site / "toolchains" / "99.1.1").exists()
