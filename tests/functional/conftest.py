"""A world for whole commands: a fresh home, and a server in NVIDIA's layout with tiny releases."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from cvm.cli.app import main
from tests.fakes.redist import publish_cudnn, publish_toolkit
from tests.fakes.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = Path(__file__).parents[2] / "cvm" / "schemas"


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on stdout, checked against its schema."""
        document = json.loads(self.out)
        name = document["command"] if document["status"] == "ok" else "error"
        jsonschema.validate(document, json.loads((SCHEMAS / f"{name}.json").read_text()))
        return document


@dataclass
class World:
    """Runs commands in process. The releases 99.1.0, 99.1.1 and 99.10.0, and cuDNN 99.8.6 and 99.8.9, are on the server."""

    home: Path
    server: Server
    capture: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch = field(repr=False)

    def run(self, *arguments: str | Path) -> Outcome:
        """Run a command; paths of this run are replaced, so that whole outputs can be compared."""
        self.capture.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = self.capture.readouterr()
        return Outcome(code, self._plain(captured.out), self._plain(captured.err))

    def ok(self, *arguments: str | Path) -> Outcome:
        """Run a command that must succeed."""
        outcome = self.run(*arguments)
        assert outcome.code == 0, outcome
        return outcome

    def toolchain(self, name: str) -> Path:
        return self.home / "toolchains" / name

    def leftovers(self) -> list[str]:
        """What a command must never leave: staging folders, and archives that have arrived in part."""
        return sorted(
            str(path.relative_to(self.home)) for path in self.home.rglob("*") if path.name.startswith(".staging-")
        )

    def archive(self, component: str) -> str:
        """The path on the server of a component's newest archive."""
        paths = sorted(self.server.folder.rglob(f"{component}-*.tar.xz"))
        return "/" + str(paths[-1].relative_to(self.server.folder))

    def _plain(self, text: str) -> str:
        return text.replace(str(self.home), "$CVM_HOME").replace(self.server.url, "$SERVER")


def listing(folder: Path) -> None:
    """Write the index page that NVIDIA's server shows of a folder."""
    links = "".join(f'<a href="{path.name}">{path.name}</a>\n' for path in sorted(folder.glob("*.json")))
    (folder / "index.html").write_text(f"<html><body>{links}</body></html>")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the server shows, made once."""
    root = tmp_path_factory.mktemp("published")
    for version in ("99.1.0", "99.1.1", "99.10.0"):
        publish_toolkit(root, version)
    publish_cudnn(root, "99.8.6.163", "cuda98")
    publish_cudnn(root, "99.8.9.25", "cuda99")
    for product in ("cuda", "cudnn"):
        listing(root / "compute" / product / "redist")
    return root


@pytest.fixture
def bare_world(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """A home in which nothing has been run yet."""
    with Server(published) as server:
        home = tmp_path / "cvm home"
        monkeypatch.setenv("CVM_HOME", str(home))
        monkeypatch.setenv("CVM_REDIST_URL", f"{server.url}/compute/")
        monkeypatch.setenv("CVM_HTTP_TIMEOUT", "2")
        monkeypatch.setattr("os.uname", _uname)
        yield World(home, server, capsys, monkeypatch)


@pytest.fixture
def world(bare_world: World) -> World:
    """A home that knows the releases on the server."""
    bare_world.ok("manifest", "refresh", "cuda", "cudnn")
    bare_world.server.requests.clear()
    return bare_world


class _Uname:
    sysname, machine = "Linux", "x86_64"


def _uname() -> _Uname:
    return _Uname()
