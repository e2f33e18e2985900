"""One package of a Debian release, fetched by apt with lists, cache and sources of its own: the machine's stay as they are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONFIGURATION = """
Dir::Etc::Main "/dev/null";
Dir::Etc::Parts "/dev/null";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::SourceList "{folder}/list.sources";
Dir::State "{folder}/state";
Dir::State::Lists "{folder}/lists";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "root";
"""


class UnavailableError(Exception):
    """There is no such package to be had here; says why."""


def unpack_package(package: str, suite: str, folder: Path, environment: Mapping[str, str]) -> Path:
    """Fetch a package of the component non-free from the mirror that this machine's own sources name, and unpack it."""
    for name in ("state", "lists/partial", "cache/archives/partial", "tree"):
        (folder / name).mkdir(parents=True)
    (folder / "list.sources").write_text(_sources(suite))
    (folder / "apt.conf").write_text(_network() + _CONFIGURATION.format(folder=folder))
    apt = {**environment, "APT_CONFIG": str(folder / "apt.conf")}
    _run(["apt-get", "update", "--error-on=any"], apt, folder)
    _run(["apt-get", "download", package], apt, folder)
    (file,) = folder.glob("*.deb")
    _run(["dpkg", "-x", str(file), str(folder / "tree")], environment, folder)
    file.unlink()
    return folder / "tree"


def _network() -> str:
    """How apt reaches the network here: proxies and certificates."""
    dumped = _run(["apt-config", "dump"], os.environ, Path("/"))
    return "".join(line for line in dumped.splitlines(keepends=True) if line.startswith("Acquire::"))


def _sources(suite: str) -> str:
    codename = _codename()
    for stanza in _stanzas():
        if codename in stanza.get("suites", "").split() and "main" in stanza.get("components", "").split():
            kept = "".join(f"{key.title()}: {stanza[key]}\n" for key in ("uris", "signed-by") if key in stanza)
            return f"Types: deb\n{kept}Suites: {suite}\nComponents: non-free\n"
    raise UnavailableError("apt has no source of this system's own release to derive another from")


def _run(command: list[str], environment: Mapping[str, str], folder: Path) -> str:
    try:
        done = subprocess.run(command, env=dict(environment), cwd=folder, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise UnavailableError(f"no {command[0]} on PATH") from error
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"{' '.join(command)}: {error.stderr.strip()[-300:]}") from error
    return done.stdout


def _codename() -> str:
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise UnavailableError("this is no Debian")


def _stanzas() -> Iterator[dict[str, str]]:
    """Read the machine's sources, in both formats."""
    for path in sorted(Path("/etc/apt/sources.list.d").glob("*.sources")):
        for block in path.read_text().split("\n\n"):
            lines = [line.partition(":") for line in block.splitlines() if line[:1] not in ("#", " ", "")]
            yield {key.lower(): value.strip() for key, _, value in lines}
    for path in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")]:
        for line in path.read_text().splitlines() if path.is_file() else ():
            words = [word for word in line.split() if not word.startswith("[") and not word.endswith("]")]
            if len(words) > 3 and words[0] == "deb":
                yield {"uris": words[1], "suites": words[2], "components": " ".join(words[3:])}
