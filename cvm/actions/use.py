"""What `use` and `unuse` do to a shell: its environment afterwards, and what to tell the person."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.actions.choose import choose_here, choose_selected
from cvm.actions.switch import select_none, switch, unswitch
from cvm.core.library_rule import INSISTED
from cvm.core.names import SYSTEM, TOOLCHAIN
from cvm.errors import CvmError, NotInstalledError
from cvm.selected import selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.actions.choose import Here

_PREVIOUS = "_CVM_PREVIOUS"
_NONE = "no toolchain of cvm's is in use any more"


class Used(NamedTuple):
    """A shell's environment afterwards, and lines for the person."""

    environment: Mapping[str, str]
    notes: tuple[str, ...] = ()


def use(request: str | None, here: Here, rule: str | None = None) -> Used:
    """Put a toolchain into a shell until `unuse`; `-` is the one before, `system` none, None what is selected.

    A `rule` for LD_LIBRARY_PATH holds until then too, whatever Python becomes active.
    Raises NotInstalledError, and what `switch` raises.
    """
    before = here.environment
    if request == "-":
        request = before.get(_PREVIOUS)
        if request is None and before.get(TOOLCHAIN):
            return unuse(here)
        if request is None:
            raise NotInstalledError("no toolchain was in use before in this shell", hint="cvm use 12.1")
    if request == SYSTEM:
        after = insisting(select_none(before, here.layout), None)
        return Used(_remembering(before, after), ("system is in use: no toolchain of cvm's",))
    chosen, said = choose_here(request, here)
    switched = switch(chosen, before, here.layout, rule)
    after = insisting(switched.environment, rule)
    return Used(_remembering(before, after), (f"{said} is in use", *switched.notes))


def unuse(here: Here) -> Used:
    """Put a shell back as it was."""
    after = insisting(unswitch(here.environment, here.layout), None)
    return Used(_remembering(here.environment, after), (_NONE,))


def insisting(environment: Mapping[str, str], rule: str | None) -> dict[str, str]:
    """Keep in an environment, for the prompts in it, what an option said about LD_LIBRARY_PATH."""
    after = {name: value for name, value in environment.items() if name != INSISTED}
    return after | {INSISTED: rule} if rule else after


def follow(here: Here) -> Used:
    """Do in a shell what its folder selects; a prompt never fails, so what is wrong is only told.

    What a manual `use` selected stays, but its libraries are weighed anew: another Python may be active.
    """
    before = here.environment
    manual = bool(before.get(TOOLCHAIN))
    plain = before if manual else unswitch(before, here.layout)
    try:
        selected = selection(*here)
        if selected is None or selected.is_system:
            return Used(plain)
        chosen, said = choose_selected(selected, here.layout)
        rule = before.get(INSISTED) if manual else None
        switched = switch(chosen, before, here.layout, rule, follow=not manual)
    except CvmError as error:
        return Used(plain, (f"cvm: {error.message}" + (f" ({error.hint})" if error.hint else ""),))
    if switched.environment == before:
        return Used(before)
    return Used(switched.environment, tuple(f"cvm: {note}" for note in (*(() if manual else (said,)), *switched.notes)))


def _remembering(before: Mapping[str, str], after: dict[str, str]) -> dict[str, str]:
    """Note in an environment what was in use before, for `use -`."""
    old, new = before.get(TOOLCHAIN), after.get(TOOLCHAIN)
    if old != new:
        after.pop(_PREVIOUS, None)
        if old:
            after[_PREVIOUS] = old
    return after
