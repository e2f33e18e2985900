"""The compiler that makes the libraries, once a worker."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.loader.world import Tools, World


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("needs gcc and glibc's loader")
    return Tools(tmp_path_factory.mktemp("tools"))


@pytest.fixture
def world(tmp_path, tools):
    return World(tmp_path, tools)
