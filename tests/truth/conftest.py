"""The stand-ins, built once a worker."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.truth.environments import Shelf


@pytest.fixture(scope="session")
def shelf(tmp_path_factory) -> Shelf:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("needs gcc and glibc's loader")
    return Shelf(Path(tmp_path_factory.mktemp("truth")).resolve())
