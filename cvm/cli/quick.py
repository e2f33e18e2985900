"""What a prompt, a shim or a script asks all day, answered without the library that reads command lines.

Only the plainest spellings are understood here, and only success is told: whatever else, the whole program
does again from the start, and says in its own words. That spares half of the time of a `cvm use`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cvm.actions.choose import Here


def answered(arguments: Sequence[str]) -> bool:
    """Answer if that can be done quickly; returns whether it was."""
    question = _QUESTIONS.get(tuple(map(_plain, arguments)))
    if question is None or sys.stdout is None or sys.stderr is None:
        return False
    try:
        return question(arguments)
    except Exception:  # noqa: BLE001 - what went wrong is the other way's to find out and to tell
        return False


def _version(_: Sequence[str]) -> bool:
    from cvm import __version__

    return _tell(f"cvm {__version__}")


def _current(_: Sequence[str]) -> bool:
    from cvm.resolved import resolve
    from cvm.selected import selection

    here = _here()
    selected = selection(*here)
    found = resolve(here.layout, selected.request) if selected else None
    return selected is not None and found is not None and _tell(selected.of(found.name))


def _use(arguments: Sequence[str]) -> bool:
    from cvm.actions import use
    from cvm.cli.switching import code

    here = _here()
    shell = here.environment["_CVM_SHELL"]
    if arguments[0] == "unuse":
        used = use.unuse(here)
    elif arguments[1] == "--auto":
        used = use.follow(here)
    else:
        used = use.use(arguments[1], here)
    text = code(shell, here.environment, used.environment)
    for note in used.notes:
        print(note, file=sys.stderr)  # noqa: T201
    return not text or _tell(text)


# As they are typed; SPEC stands for a version, `system` or `-`.
_QUESTIONS: dict[tuple[str, ...], Callable[[Sequence[str]], bool]] = {
    ("--version",): _version,
    ("current",): _current,
    ("use", "--auto"): _use,
    ("use", "SPEC"): _use,
    ("unuse",): _use,
}


def _plain(word: str) -> str:
    return "SPEC" if word == "-" or word[:1].isdigit() or word == "system" else word


def _here() -> Here:
    from cvm.actions.choose import Here
    from cvm.layout import Layout
    from cvm.selected import current_folder

    environment = dict(os.environ)
    return Here(Layout.from_environment(environment), environment, current_folder(environment))


def _tell(text: str) -> bool:
    """Write the answer in one piece: whoever can't read it is told so by the whole program."""
    answer = os.fsencode(text + "\n")
    return os.write(1, answer) == len(answer)
