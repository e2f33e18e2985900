"""The shell integration: its text, and the line in an rc file that reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.disk import disk_error, make_folder, replace_file
from cvm.errors import DiskError, UsageError
from cvm.resources import resource
from cvm.shell import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cvm.layout import Layout

# In the order in which they are read; bash and zsh share what sh understands.
_PARTS = {
    "sh": ("init.sh",),
    "bash": ("init.sh", "follow.sh", "hook.bash"),
    "zsh": ("init.sh", "follow.sh", "hook.zsh"),
    "fish": ("init.fish",),
}
_COMPLETIONS = {"bash": "cvm.bash", "zsh": "_cvm", "fish": "cvm.fish"}


@dataclass(frozen=True, slots=True)
class Written:
    """What `init --write` did: the integration file, the rc file, its line, and whether that was new."""

    integration: Path
    rc_file: Path
    line: str
    added: bool


def integration(
    shell: str, program: Sequence[str], layout: Layout, *, follow: bool = True, unusual: bool = False
) -> str:
    """Return what a shell evaluates to know cvm: the function, the shims on PATH, the hook, completions.

    `program` are the words that start cvm; `unusual` says that the home is another than the one without CVM_HOME.
    """
    if ":" in str(layout.home):
        raise UsageError(f"PATH can't hold {layout.shims}: it has a colon", hint="set CVM_HOME to a folder without one")
    quote = SHELLS[shell].quote
    text = "".join((resource("shims") / name).read_text() for name in _PARTS[shell])
    if shell in _COMPLETIONS:
        text += completions(shell)
    values = {
        "@CVM@": " ".join(map(quote, program)),
        "@PROGRAM@": quote(program[0]),
        "@CVM_HOME@": quote(str(layout.home)),
        "@SHELL@": shell,
        "@FOLLOW@": "yes" if follow else "no",
        "@UNUSUAL@": "yes" if unusual else "no",
    }
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    # zsh reads a text whole before any of it is done: no alias of the person's may have changed it by then.
    return f"emulate zsh -o no_aliases -c {quote(text)}\n" if shell == "zsh" else text


def completions(shell: str) -> str:
    """Return the completion script of a shell; raises UsageError where there is none."""
    if shell not in _COMPLETIONS:
        raise UsageError(f"there are no completions for {shell}", hint=f"cvm completions {'|'.join(_COMPLETIONS)}")
    text = (resource("completions") / _COMPLETIONS[shell]).read_text()
    return text.replace("@CVM_MANIFESTS@", SHELLS[shell].quote(str(resource("manifests"))))


def write_integration(
    shell: str, text: str, environment: Mapping[str, str], layout: Layout, *, dry_run: bool = False
) -> Written:
    """Keep the integration in the home, and let the shell's rc file read it; a second time nothing changes.

    Raises UsageError without HOME, DiskError that gives the line where the rc file can't be written.
    """
    path = layout.shell / shell
    rc_file = rc_file_of(shell, environment)
    line = _line(shell, path)
    present = _has(rc_file, line)
    if not dry_run:
        try:
            make_folder(layout.shell)
            replace_file(path, os.fsencode(text))
        except OSError as error:
            raise disk_error(error, path) from error
        if not present:
            _append(rc_file, line)
    return Written(path, rc_file, line, added=not present)


def rc_file_of(shell: str, environment: Mapping[str, str]) -> Path:
    """Return the file that an interactive shell reads; for sh the one of a login."""
    home = environment.get("HOME")
    if not home:
        raise UsageError("HOME is not set: there is no rc file to write", hint="evaluate `cvm init` where you need it")
    if shell == "zsh":
        return Path(environment.get("ZDOTDIR") or home) / ".zshrc"
    if shell == "fish":
        return Path(environment.get("XDG_CONFIG_HOME") or Path(home, ".config")) / "fish" / "config.fish"
    return Path(home) / (".bashrc" if shell == "bash" else ".profile")


def _line(shell: str, path: Path) -> str:
    word = SHELLS[shell].quote(str(path))
    if shell == "fish":
        return f"test -r {word}; and source {word} # cvm"
    return f"if [ -r {word} ]; then . {word}; fi # cvm"


def _has(rc_file: Path, line: str) -> bool:
    try:
        return rc_file.is_file() and os.fsencode(line) in rc_file.read_bytes().splitlines()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise disk_error(error, rc_file) from error


def _append(rc_file: Path, line: str) -> None:
    """Add a line at the end: nothing that is there can be lost by it."""
    try:
        rc_file.parent.mkdir(parents=True, exist_ok=True)
        if rc_file.exists() and not rc_file.is_file():
            raise DiskError(f"{rc_file} is no file", hint=f"evaluate this line in your shell: {line}")
        with rc_file.open("ab+") as stream:
            stream.seek(0)
            whole = stream.read()
            start = b"" if not whole or whole.endswith(b"\n") else b"\n"
            stream.write(start + os.fsencode(line) + b"\n")
    except OSError as error:
        refused = disk_error(error, rc_file)
        raise DiskError(refused.message, hint=f"add this line to it: {line}") from error
