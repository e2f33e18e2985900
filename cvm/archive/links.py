"""Where the symbolic links of an archive lead, followed as the kernel would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Mapping

# The kernel gives up after as many.
_MAX_FOLLOWED = 40


def check_links(links: Mapping[str, str], archive: str) -> None:
    """Refuse links (path -> target) that lead out of their archive, also through one another; raises IntegrityError.

    Looking at the text of a target is not enough: in `a -> b/../..`, `b` may be a link as well.
    """
    for path, target in links.items():
        if _leaves(path, links):
            raise IntegrityError(f"{archive} is refused: the link {path} -> {target} leads out of it, or in a circle")


def _leaves(path: str, links: Mapping[str, str]) -> bool:
    """Whether following a path meets the folder above the root, or never ends."""
    pending = path.split("/")[::-1]
    here: list[str] = []
    followed = 0
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                return True
            here.pop()
            continue
        here.append(part)
        target = links.get("/".join(here))
        if target is not None:
            followed += 1
            if followed > _MAX_FOLLOWED:
                return True
            here.pop()
            pending.extend(target.split("/")[::-1])
    return False
