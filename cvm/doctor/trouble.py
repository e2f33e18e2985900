"""One thing that goes wrong in a consumer's load, and which check speaks of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.doctor.blame import mapped
from cvm.doctor.cudnn_rule import is_older
from cvm.doctor.family import is_cuda, is_cudnn, is_driver, major, number, stem
from cvm.elf.outcome import Kind

if TYPE_CHECKING:
    from cvm.consumers.consumer import Consumer
    from cvm.consumers.load import Step
    from cvm.doctor.blame import Blame
    from cvm.elf.outcome import Loaded, Missing

_TORCH = re.compile(r"_Z.*?(?<!\d)(?:3c10|2at|5torch|6caffe2)\d")
_NCCL = re.compile(r"p?nccl[A-Z]")
_NVJITLINK = re.compile(r"_*nvJitLink")


class Trouble(NamedTuple):
    """One thing that goes wrong: what the loader says, which symbol or library is missing, who needs it, who won.

    `asked` is the name by which the winner was asked for. `later`: not the import fails but the first use.
    """

    consumer: Consumer
    step: Step | None
    error: str
    severity: str
    kind: Kind | None = None
    symbol: str | None = None
    version: str | None = None
    needy: str | None = None
    asked: str | None = None
    winner: Loaded | None = None
    blamed: Blame | None = None
    missing: Missing | None = None
    later: bool = False

    @property
    def code(self) -> str:
        """The code of the check that speaks of this."""
        if self.kind in (Kind.FILE, Kind.DAMAGED):
            return "CVM013"
        if self.missing is not None:
            return _code_of_missing(self)
        if self.kind is None:
            return "CVM004" if _is_cudnn_complaint(self) else "CVM012"
        return _code_of_symbol(self)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Files of the missing library that nobody finds."""
        return self.consumer.elsewhere.get(self.missing.name, ()) if self.missing else ()


def other_majors(trouble: Trouble) -> tuple[str, ...]:
    """Return the files of the missing library that are there in another major."""
    if trouble.missing is None or not is_cuda(trouble.missing.name) or is_driver(trouble.missing.name):
        return ()
    wanted = major(trouble.missing.name)
    known = (*trouble.elsewhere, *mapped(trouble.consumer.load))
    alike = (path for path in known if stem(path) == stem(trouble.missing.name))
    return tuple(path for path in alike if wanted and major(path) not in (None, wanted))


def exact(trouble: Trouble) -> tuple[str, ...]:
    """Return the files of exactly the missing name, in folders that nobody searches."""
    name = trouble.missing.name if trouble.missing else ""
    return tuple(path for path in trouble.elsewhere if path.rpartition("/")[2] == name)


def is_crossed(asked: str | None, winner: Loaded | None) -> bool:
    """Whether a name that asks for one major leads to a file that says it is of another."""
    if asked is None or winner is None or winner.soname is None or stem(asked) != stem(winner.soname):
        return False
    wanted, given = major(asked), major(winner.soname)
    if (number(asked) or "").count(".") > 1:
        # A whole version need not begin with the soname's: `libcupti.so.2024.1.1` is libcupti.so.12.
        return False
    return is_cuda(asked) and None not in (wanted, given) and wanted != given


def _is_cudnn_complaint(trouble: Trouble) -> bool:
    return "cudnn" in trouble.error.lower() and is_older(trouble.consumer.cudnn)


def _code_of_missing(trouble: Trouble) -> str:
    name = trouble.missing.name if trouble.missing else ""
    if number(name) is None and is_cuda(name):
        return "CVM009"
    return "CVM008" if other_majors(trouble) and not exact(trouble) else "CVM001"


def _code_of_symbol(trouble: Trouble) -> str:
    symbol, asked, needy = trouble.symbol or "", trouble.asked or "", trouble.needy or ""
    rules = (
        ("CVM003", _NVJITLINK.match(symbol) or stem(asked) == "libnvJitLink"),
        ("CVM010", _NCCL.match(symbol) or stem(asked) == "libnccl"),
        ("CVM011", _TORCH.match(symbol) and not is_cuda(needy)),
        ("CVM008", is_crossed(asked, trouble.winner)),
        ("CVM005", is_cudnn(asked) and is_cudnn(needy)),
        ("CVM002", is_cuda(asked) and trouble.blamed is not None and trouble.blamed.foreign),
    )
    return next((code for code, applies in rules if applies), "CVM012")
