"""Which package index a person's pip and uv are configured with."""

from __future__ import annotations

import configparser
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_VARIABLES = ("PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
# pip lets the section of the command that runs win over `global`; `download` counts where nothing else speaks.
_PIP_SECTIONS = ("install", "global", "download")


def index_url(environment: Mapping[str, str], home: Path, root: Path = Path("/")) -> str | None:
    """Return the index that pip or uv is configured with, None where they use their default.

    Variables count before files, pip's before uv's; `root` is where `/etc` lies.
    Raises UsageError that names a file which can't be understood.
    """
    for name in _VARIABLES:
        if environment.get(name):
            # uv lets an index be named: `internal=https://…`.
            return environment[name].removeprefix(_index_name(environment[name]))
    pip = _pip_option(environment, home, root, "index-url")
    return pip or next(filter(None, map(_uv_index, _uv_files(environment, home, root))), None)


def certificates(environment: Mapping[str, str], home: Path, root: Path = Path("/")) -> str | None:
    """Return the CA bundle that pip is configured with, None where requests finds its own."""
    if environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE"):
        return None
    for name in ("PIP_CERT", "SSL_CERT_FILE"):
        if environment.get(name):
            return environment[name]
    return _pip_option(environment, home, root, "cert")


def _index_name(value: str) -> str:
    name, equals, rest = value.partition("=")
    return name + equals if equals and "://" in rest and name.replace("-", "").replace("_", "").isalnum() else ""


def _pip_option(environment: Mapping[str, str], home: Path, root: Path, option: str) -> str | None:
    found = {
        section: value for path in _pip_files(environment, home, root) for section, value in _pip_values(path, option)
    }
    return next((found[section] for section in _PIP_SECTIONS if section in found), None)


def _pip_files(environment: Mapping[str, str], home: Path, root: Path) -> Iterator[Path]:
    """Yield pip's configuration files, a later one wins."""
    named = environment.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        # That is how pip is told to read no configuration at all.
        return
    for folder in reversed((environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")):
        yield _under(root, folder) / "pip" / "pip.conf"
    yield root / "etc" / "pip.conf"
    yield home / ".pip" / "pip.conf"
    yield _config_home(environment, home) / "pip" / "pip.conf"
    if environment.get("VIRTUAL_ENV"):
        yield Path(environment["VIRTUAL_ENV"]) / "pip.conf"
    if named:
        yield Path(named)


def _pip_values(path: Path, option: str) -> Iterator[tuple[str, str]]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"), str(path))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except (configparser.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read as pip's configuration: {str(error).splitlines()[0]}") from error
    for section in parser.sections():
        for name, value in parser.items(section):
            if name.replace("_", "-").removeprefix("--") == option and value:
                yield section, value


def _uv_files(environment: Mapping[str, str], home: Path, root: Path) -> Iterator[Path]:
    """Yield uv's configuration files, an earlier one wins."""
    if environment.get("UV_NO_CONFIG"):
        return
    if environment.get("UV_CONFIG_FILE"):
        yield Path(environment["UV_CONFIG_FILE"])
        return
    yield _config_home(environment, home) / "uv" / "uv.toml"
    for folder in (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"):
        yield _under(root, folder) / "uv" / "uv.toml"
    yield root / "etc" / "uv" / "uv.toml"


def _uv_index(path: Path) -> str | None:
    try:
        document: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read as uv's configuration: {error}") from error
    try:
        for index in document.get("index", ()):
            if index.get("default") and index.get("url"):
                return str(index["url"])
        url = document.get("index-url") or document.get("pip", {}).get("index-url")
    except AttributeError as error:
        raise UsageError(f"{path} can't be read as uv's configuration: `index` and `pip` are tables") from error
    return str(url) if url else None


def _config_home(environment: Mapping[str, str], home: Path) -> Path:
    return Path(environment["XDG_CONFIG_HOME"]) if environment.get("XDG_CONFIG_HOME") else home / ".config"


def _under(root: Path, folder: str) -> Path:
    return root / folder.lstrip("/")
