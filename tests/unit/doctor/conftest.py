"""A tiny environment of stand-ins, made by gcc and loaded by the model."""

from __future__ import annotations

import pytest

from tests.loader.conftest import tools
from tests.unit.doctor.worlds import Env

__all__ = ["env", "tools"]


@pytest.fixture
def env(tmp_path, tools):
    return Env(tmp_path, tools)
