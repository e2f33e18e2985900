"""The shells that the scenarios run in: each says the same things in its own spelling."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Shell:
    """A shell that understands sh. `kind` is its name for `cvm init`; `program` starts it without any rc file."""

    name: str
    kind: str
    program: tuple[str, ...]

    status = "$?"
    posix = True

    @property
    def missing(self) -> bool:
        return shutil.which(self.program[0]) is None

    def quote(self, text: str) -> str:
        return shlex.quote(text)

    def read(self, path: object) -> str:
        """Read a file of commands into this shell."""
        return f". {self.quote(str(path))}"

    def init(self, options: str = "") -> str:
        """Evaluate the integration that cvm prints."""
        return f'eval "$(command cvm init {self.kind}{options})"'

    def export(self, name: str, value: str) -> str:
        return f"export {name}={self.quote(value)}"

    def unset(self, *names: str) -> str:
        return f"unset {' '.join(names)}"

    def prepend(self, name: str, element: str) -> str:
        return f'export {name}={self.quote(element)}:"${name}"'

    def say(self, *names: str) -> str:
        """Print a line `NAME=value` for each variable, path lists with colons; nothing for one that isn't set."""
        return "\n".join(f'[ -z "${{{name}+x}}" ] || printf \'%s\\n\' "{name}=${name}"' for name in names)

    def child(self, *lines: str) -> str:
        """Run lines in another shell of this kind, which inherits only what is exported."""
        return shlex.join([*self.program, "-c", "\n".join(lines)])


class Fish(Shell):
    status = "$status"
    posix = False

    def quote(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def read(self, path: object) -> str:
        return f"source {self.quote(str(path))}"

    def init(self, options: str = "") -> str:
        return f"command cvm init fish{options} | source"

    def export(self, name: str, value: str) -> str:
        return f"set -gx {name} {self.quote(value)}"

    def unset(self, *names: str) -> str:
        return f"set -e {' '.join(names)}"

    def prepend(self, name: str, element: str) -> str:
        return f"set -gx --path {name} {self.quote(element)} ${name}"

    def say(self, *names: str) -> str:
        return "\n".join(f"set -q {name}; and printf '%s\\n' \"{name}=${name}\"" for name in names)

    def child(self, *lines: str) -> str:
        return " ".join(self.quote(word) for word in [*self.program, "-c", "\n".join(lines)])


BASH = Shell("bash", "bash", ("bash", "--norc", "--noprofile"))
ZSH = Shell("zsh", "zsh", ("zsh", "-f"))
FISH = Fish("fish", "fish", ("fish", "--no-config"))
DASH = Shell("dash", "sh", ("dash",))
BUSYBOX = Shell("busybox", "sh", ("busybox", "sh"))
SHELLS = (BASH, ZSH, FISH, DASH, BUSYBOX)


def interactive(shell: Shell, folder: Path, rc: str) -> list[str]:
    """Write the rc file of a shell, and return what starts it at a terminal."""
    if shell == BASH:
        (folder / ".bashrc").write_text(rc + "\n")
        return ["bash", "--rcfile", str(folder / ".bashrc"), "-i"]
    if shell == ZSH:
        # Without the system's own rc files.
        (folder / ".zshrc").write_text(rc + "\n")
        return ["zsh", "-d", "-i"]
    file = folder / ".config/fish/config.fish"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("function fish_greeting; end\n" + rc + "\n")
    return ["fish", "-i"]
