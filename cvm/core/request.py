"""What a person asks for: `12.1`, `12.1-cudnn8.9.4-nccl2.18`, or the name of a linked toolkit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.names import AUTO, COMPANIONS, RESERVED_NAMES, is_link_name
from cvm.core.version import Pattern
from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# As other tools write it: `cuda-12.1`, `cuda12.1`.
_WITH_CUDA = re.compile(r"cuda[-_ =]?(?=\d)", re.IGNORECASE)
_COMPANION = re.compile(rf"({'|'.join(COMPANIONS)})(.*)")


@dataclass(frozen=True, slots=True)
class Request:
    """A toolkit pattern and companion patterns, in the order of COMPANIONS."""

    toolkit: Pattern
    companions: tuple[tuple[str, Pattern], ...] = ()

    def with_companions(self, options: Mapping[str, Pattern]) -> Request:
        """Add companions that options name; raises UsageError where both say something else."""
        named = dict(self.companions)
        for product, pattern in options.items():
            if named.setdefault(product, pattern) != pattern:
                raise UsageError(f"{product} is asked for twice: {named[product].text} and {pattern.text}")
        return Request(self.toolkit, _ordered(named))

    def __str__(self) -> str:
        """Spell the request the way a person would."""
        versions = ((product, "" if pattern.text == AUTO else pattern.text) for product, pattern in self.companions)
        return "-".join([self.toolkit.text, *(product + version for product, version in versions)])


def parse_request(text: str) -> Request:
    """Read a request such as `12.1-cudnn8.9.4`; raises UsageError that quotes the part at fault."""
    if match := _WITH_CUDA.match(text.strip()):
        raise UsageError(f"`{text}` is not a CUDA version", hint=f"write it as {text.strip()[match.end() :]}")
    toolkit, *rest = text.strip().split("-")
    companions: dict[str, Pattern] = {}
    for part in rest:
        match = _COMPANION.fullmatch(part)
        if match is None:
            raise UsageError(f"`{part}` in `{text}` is not a companion", hint=f"write one of {_examples()}")
        product, version = match.groups()
        if product in companions:
            raise UsageError(f"`{text}` names {product} twice")
        companions[product] = Pattern.parse(version or AUTO)
    try:
        return Request(Pattern.parse(toolkit), _ordered(companions))
    except UsageError:
        raise UsageError(
            f"`{text}` is not a CUDA version", hint="write it as 12, 12.1, 12.1.1, latest or 12.1-cudnn8.9.4"
        ) from None


def parse_link_name(text: str) -> str:
    """Check a name for `link`; raises UsageError."""
    if text in RESERVED_NAMES:
        raise UsageError(f"`{text}` is reserved", hint="choose another name, such as `site`")
    if not is_link_name(text):
        raise UsageError(
            f"`{text}` can't name a linked toolkit", hint="use lower-case letters, digits, `_` and `.`, a letter first"
        )
    return text


def _ordered(companions: Mapping[str, Pattern]) -> tuple[tuple[str, Pattern], ...]:
    return tuple((product, companions[product]) for product in COMPANIONS if product in companions)


def _examples() -> str:
    return ", ".join(f"{product}<version>" for product in COMPANIONS)
