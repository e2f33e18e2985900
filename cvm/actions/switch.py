"""Put a toolchain into an environment, or take it out: the environment afterwards, as a value."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from cvm.actions.weigh import weigh
from cvm.core.environment import Activation, activated, activation, deactivated
from cvm.core.library_rule import AUTO, NEVER, library_rule
from cvm.core.names import SYSTEM, TOOLCHAIN
from cvm.core.undo import UNDO
from cvm.errors import NotInstalledError, UsageError
from cvm.layout import toolchains_folder
from cvm.prefix.folders import folders_of
from cvm.resolved import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cvm.actions.choose import Chosen
    from cvm.layout import Layout


# A toolkit in one of these shares its folders with the whole system.
_EVERYBODYS = ("/", "/usr", "/usr/local")


# MAX_ARG_STRLEN of Linux is 128 KB; a character is at most four bytes.
_LONGEST = (128 << 10) // 4


class Switched(NamedTuple):
    """An environment with a toolchain in it, what that toolchain asked for, and what a person should know."""

    environment: Mapping[str, str]
    activation: Activation
    notes: tuple[str, ...] = ()


def switch(
    chosen: Chosen, environment: Mapping[str, str], layout: Layout, rule: str | None, *, follow: bool = False
) -> Switched:
    """Put a toolchain into an environment; `rule` decides about LD_LIBRARY_PATH, else CVM_LD_LIBRARY_PATH.

    With `follow` it is a folder's: CVM_TOOLCHAIN stays unset, so that the next folder decides again.
    Raises NotInstalledError where a linked toolkit is gone, UsageError for a prefix that PATH can't hold.
    """
    if not os.path.isdir(chosen.prefix):  # noqa: PTH112 - never raises
        raise NotInstalledError(
            f"{chosen.name} is linked to {chosen.prefix}, which is not there", hint=f"cvm uninstall {chosen.name}"
        )
    if ":" in chosen.prefix:
        raise UsageError(
            f"PATH can't hold {chosen.prefix}: it has a colon", hint="set CVM_HOME to a folder without one"
        )
    folders = folders_of(chosen.prefix)
    name = None if follow else chosen.name
    rule = rule or library_rule(environment)
    wanted = activation(name, folders, chosen.companions, libraries=rule != NEVER)
    after = activated(environment, wanted, owned(layout))
    left_out = weigh(after, folders.libraries, layout) if rule == AUTO else None
    if left_out:
        wanted = activation(name, folders, chosen.companions, libraries=False)
        after = activated(environment, wanted, owned(layout))
    _refuse_long(after)
    return Switched(after, wanted, (_said(left_out),) if left_out else ())


def unswitch(environment: Mapping[str, str], layout: Layout) -> dict[str, str]:
    """Take out whatever toolchain is in an environment."""
    linked = _linked(environment, layout)
    ours = owned(layout)
    return deactivated(environment, lambda path: ours(path) or path in linked)


def select_none(environment: Mapping[str, str], layout: Layout) -> dict[str, str]:
    """Take out whatever toolchain is in an environment, and select that there be none: `system`."""
    return activated(environment, Activation({TOOLCHAIN: SYSTEM}, {}), owned(layout))


def owned(layout: Layout) -> Callable[[str], bool]:
    """Return the test of whether a path lies in a toolchain of these homes."""
    roots = tuple(f"{toolchains_folder(home)}/" for home in layout.homes())
    return lambda path: path.startswith(roots)


def _refuse_long(environment: Mapping[str, str]) -> None:
    """Refuse what no program could be started with afterwards, `unuse` included."""
    for name, value in environment.items():
        if len(value) > _LONGEST and len(os.fsencode(f"{name}={value}")) >= _LONGEST * 4:
            raise UsageError(f"{name} would be longer than the 128 KB that a program takes", hint="shorten PATH")


def _linked(environment: Mapping[str, str], layout: Layout) -> frozenset[str]:
    """Return what the `env.sh` of a linked toolkit, which keeps no record, put into an environment."""
    answer = None if UNDO in environment else resolve(layout, environment.get(TOOLCHAIN, ""))
    if answer is None or str(answer.prefix) in _EVERYBODYS:
        return frozenset()
    folders = folders_of(str(answer.prefix))
    return frozenset((folders.prefix, folders.programs, folders.compiler or "", *folders.libraries, *folders.stubs))


def _said(left_out: str) -> str:
    return f"LD_LIBRARY_PATH stays as it is, for otherwise {left_out} (--ld-library-path always insists)"
