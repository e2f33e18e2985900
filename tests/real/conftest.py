"""Real archives: a home for each file of tests, outside of the repository, and removed after its last test."""

from __future__ import annotations

import platform
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.real.home import REPOSITORY, Home, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NEEDED = 9 << 30


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for the big files of one module."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("these archives are for linux-x86_64")
    folder = tmp_path_factory.mktemp(request.module.__name__)
    assert REPOSITORY not in folder.parents
    if request.node.get_closest_marker("big") and shutil.disk_usage(folder).free < _NEEDED:
        pytest.skip(f"less than {_NEEDED >> 30} GiB free in {folder}")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def home(scratch: Path) -> Home:
    """The home of one module: install there what its tests share."""
    folder = scratch / "cvm home"
    return Home(folder, clean_environment(scratch / "person", CVM_HOME=str(folder)))
