"""Installed toolchains as values, and choosing one by what a person types."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from itertools import product as combined
from typing import TYPE_CHECKING

from cvm.core.names import COMPANIONS, LATEST
from cvm.core.platform import native_name
from cvm.core.profile import DEFAULT_PROFILE
from cvm.core.receipt import LINKED
from cvm.core.request import Request, parse_request
from cvm.core.version import Version
from cvm.errors import NotInstalledError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.core.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One installed toolchain: its prefix is an absolute path, `site` says that it isn't the user's own."""

    name: str
    prefix: str
    toolkit: Version
    receipt: Receipt
    companions: Mapping[str, Version] = field(default_factory=dict, hash=False)
    site: bool = False

    @property
    def foreign(self) -> bool:
        """Whether it is for another platform than the machine that installed it; only its whole name means it."""
        return native_name(self.name, self.receipt.platform) != self.name

    @property
    def reinstall(self) -> str:
        """The command that builds it anew, for a hint."""
        receipt = self.receipt
        words = ["cvm", "install", native_name(self.name, receipt.platform)]
        words += ["--platform", receipt.platform] if self.foreign else []
        words += ["--profile", receipt.profile] if receipt.profile not in ("", DEFAULT_PROFILE) else []
        return " ".join([*words, "--reinstall"])

    @property
    def rank(self) -> tuple[object, ...]:
        """Newer toolkits come last, then newer companions, a missing companion before any."""
        none = Version("0")
        return (self.toolkit, *(self.companions.get(product, none) for product in COMPANIONS), self.name)


def candidates(text: str, toolchains: Sequence[Toolchain]) -> list[Toolchain]:
    """Return what a request may mean, the best first; an exact name means itself and nothing else.

    The user's own toolchains answer before those of the site, as `resolved/` of each home does.
    """
    exact = [toolchain for toolchain in toolchains if toolchain.name == text]
    if exact:
        return exact[:1]
    try:
        request = parse_request(text)
    except UsageError:
        return []
    fitting = [t for t in toolchains if t.receipt.kind != LINKED and not t.foreign and _fits(request, t)]
    return sorted(fitting, key=lambda toolchain: (not toolchain.site, toolchain.rank), reverse=True)


def requests_answered(toolchains: Sequence[Toolchain]) -> dict[str, Toolchain]:
    """Return every request in its plain spelling with the toolchain that it means, as `candidates` would choose.

    Requests with more than two companions are left out, unless they are a name in full.
    """
    best: dict[str, Toolchain] = {}
    for toolchain in sorted(toolchains, key=lambda toolchain: toolchain.rank):
        if toolchain.receipt.kind != LINKED and not toolchain.foreign:
            best |= dict.fromkeys(_requests(toolchain), toolchain)
    return best | {toolchain.name: toolchain for toolchain in toolchains}


def _requests(toolchain: Toolchain) -> Iterator[str]:
    toolkits = [*([LATEST] if _plain(toolchain.toolkit) else ()), *_prefixes(toolchain.toolkit)]
    named = [name for name in COMPANIONS if name in toolchain.companions]
    for count in range(3):
        for chosen in combinations(named, count):
            forms = [[name + form for form in ("", *_prefixes(toolchain.companions[name]))] for name in chosen]
            for parts in combined(toolkits, *forms):
                yield "-".join(parts)


def _prefixes(version: Version) -> list[str]:
    if not _plain(version):
        return [str(version)]
    shorter = [".".join(map(str, version.release[:count])) for count in range(1, len(version.release) + 1)]
    return [*shorter, str(version)] if version.is_postrelease else shorter


def _plain(version: Version) -> bool:
    return not (version.is_prerelease or version.local)


def pick(text: str, toolchains: Sequence[Toolchain], hint: str = "") -> Toolchain:
    """Return the toolchain that a request means; raises NotInstalledError that says what is there.

    Its hint is to install what is asked for, or `hint` where that would help nobody.
    """
    found = candidates(text, toolchains)
    if found:
        return found[0]
    names = ", ".join(toolchain.name for toolchain in toolchains)
    raise NotInstalledError(
        f"`{text}` is not installed" + (f"; installed are {names}" if names else "; nothing is installed yet"),
        hint=hint or _install_hint(text),
    )


def pick_one(text: str, toolchains: Sequence[Toolchain]) -> Toolchain:
    """Like `pick`, but refuses a request that more than one toolchain answers: uninstalling can't be undone."""
    chosen = pick(text, toolchains, hint="cvm list")
    found = candidates(text, toolchains)
    if len(found) > 1:
        names = ", ".join(toolchain.name for toolchain in found)
        raise UsageError(f"`{text}` could mean {names}", hint=f"cvm uninstall {chosen.name}")
    return chosen


def _fits(request: Request, toolchain: Toolchain) -> bool:
    return request.toolkit.matches(toolchain.toolkit) and all(
        product in toolchain.companions and pattern.matches(toolchain.companions[product])
        for product, pattern in request.companions
    )


def _install_hint(text: str) -> str:
    try:
        request = parse_request(text)
    except UsageError:
        return "cvm list"
    return f"cvm install {request}"
