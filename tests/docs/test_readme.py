"""What the README says is held against the program."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from cvm import errors
from cvm.cli.app import COMMANDS
from cvm.core.manifest import parse_manifest
from cvm.core.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_custom_manifest_can_be_read() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    manifest = parse_manifest(tomllib.loads(block), "README.md")
    assert (manifest.product, manifest.version) == ("cuda", Version("12.1.1+lab"))
    assert manifest.sources == ("redist", "file")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown(name: str) -> None:
    assert f"cvm {name}" in README


def test_every_exit_code_is_listed() -> None:
    kinds = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, errors.CvmError)]
    codes = {str(kind.exit_code) for kind in kinds}
    assert codes <= set(re.findall(r"\| (\d+) \|", README))


def test_every_setting_of_the_environment_is_named() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "cvm").rglob("*.py"))
    settings = set(re.findall(r'"(CVM_[A-Z_]+)"', sources))
    assert settings <= set(re.findall(r"CVM_[A-Z_]+", README))
