"""The committed manifests against the package index as it is today."""

import os
import sys
from pathlib import Path

import pytest
import requests

from cvm.core.manifest import parse_manifest
from cvm.resources import resource
from cvm.sources.index import IndexClient
from cvm.sources.pypi import project_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.mark.network
@pytest.mark.parametrize("name", ["cuda/12.1.1", "cuda/13.0.2", "cudnn/8.9.4", "nccl/2.18.3"])
def test_the_index_has_every_wheel_with_the_hash_and_size_that_the_manifest_says(name):
    path = resource("manifests") / f"{name}.toml"
    manifest = parse_manifest(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
    wheels = [a for component in manifest.components for a in component.archives if a.source == "pypi"]

    with requests.Session() as session:
        client = IndexClient.from_environment(os.environ, Path.home(), session)
        found = [client.find(project_of(wheel.path), wheel.path, wheel.sha256) for wheel in wheels]

    assert [(file.sha256, file.size, file.yanked) for file in found] == [(w.sha256, w.size, False) for w in wheels]
