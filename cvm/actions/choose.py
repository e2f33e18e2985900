"""Which toolchain a request, or the selection, means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.core.names import SYSTEM
from cvm.errors import NotInstalledError, UsageError
from cvm.resolved import companions_of, resolve
from cvm.selected import selection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cvm.core.selection import Selection
    from cvm.layout import Layout


class Chosen(NamedTuple):
    """What switching needs of a toolchain: its exact name, its prefix, and which companions are in it."""

    name: str
    prefix: str
    companions: frozenset[str]


class Here(NamedTuple):
    """Where a question is asked: the homes, the environment, and the folder; None for one that is gone."""

    layout: Layout
    environment: Mapping[str, str]
    folder: Path | None


def choose(request: str, layout: Layout) -> Chosen:
    """Return the toolchain that a request means; raises NotInstalledError that says what is there.

    Where a link in `resolved/` answers, no other receipt is read.
    """
    answer = resolve(layout, request)
    companions = companions_of(answer) if answer else None
    if answer is not None and companions is not None:
        return Chosen(answer.name, str(answer.prefix), companions)
    from cvm.core.toolchain import pick
    from cvm.toolchains import installed

    toolchain = pick(request, installed(layout))
    return Chosen(toolchain.name, toolchain.prefix, frozenset(toolchain.companions))


def choose_here(request: str | None, here: Here) -> tuple[Chosen, str]:
    """Return the toolchain of a request, or of the selection without one, and how to speak of it: with its origin.

    Raises NotInstalledError where it isn't there, or nothing selects one.
    """
    if request == SYSTEM:
        raise UsageError("`system` is no toolchain", hint="cvm list")
    if request is not None:
        chosen = choose(request, here.layout)
        return chosen, chosen.name
    selected = selection(*here)
    if selected is None:
        raise NotInstalledError("no toolchain is selected", hint="cvm use 12.1, cvm local 12.1 or cvm global 12.1")
    if selected.is_system:
        raise NotInstalledError(f"{selected.of(SYSTEM)}: no toolchain is selected", hint="cvm list")
    return choose_selected(selected, here.layout)


def choose_selected(selected: Selection, layout: Layout) -> tuple[Chosen, str]:
    """Return the toolchain that a selection means, and how to speak of it; raises NotInstalledError that names both."""
    try:
        chosen = choose(selected.request, layout)
    except NotInstalledError as error:
        raise NotInstalledError(selected.of(error.message), hint=error.hint) from error
    return chosen, selected.of(chosen.name)
