"""Commands to paste: they prove who is to blame, take only that away, or put the wanted library first."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

from cvm.elf.found import Rule

if TYPE_CHECKING:
    from cvm.consumers.consumer import Consumer
    from cvm.doctor.blame import Blame
    from cvm.doctor.case import Case
    from cvm.elf.outcome import Loaded

_SEPARATORS = re.compile("[:;]")
_TOOLCHAIN = re.compile(r"/toolchains/([^/]+)/lib64/?$")


def python(case: Case) -> str:
    """Return the command that starts the Python under examination."""
    return quote(case.python.executable) if case.python else "python"


def pip(case: Case, *words: str) -> str:
    """Return a pip command for the Python under examination."""
    return " ".join((python(case), "-m pip", *(quote(word) for word in words)))


def pinned(case: Case, consumer: Consumer, package: str) -> tuple[str, ...]:
    """Return the command that installs one of NVIDIA's packages as the consumer asks for it; none if it doesn't."""
    lines = consumer.distribution.requires if consumer.distribution else ()
    wanted = (line.partition(";")[0].strip() for line in lines if line.startswith(package))
    return tuple(pip(case, "install", "--force-reinstall", "--no-deps", one) for one in wanted)[:1]


def prove(case: Case, consumer: Consumer, variable: str = "LD_LIBRARY_PATH") -> tuple[str, ...]:
    """Return the command that shows that the import works without a variable; none for what isn't imported."""
    if not consumer.name.isidentifier():
        return ()
    return (f"env -u {variable} {python(case)} -c 'import {consumer.name}'",)


def drop(case: Case, element: str) -> str:
    """Return the command that takes an element out of LD_LIBRARY_PATH, and leaves what has nothing to do with CUDA.

    Another toolkit behind it would come to the front: that all is well is known only of a path without any.
    """
    others = [one.text for one in case.path if one.cuda and one.text.rstrip("/") != element.rstrip("/")]
    toolchain = _TOOLCHAIN.search(element)
    if toolchain and not others:
        return f"cvm use {quote(toolchain[1])} --ld-library-path never"
    return without(case, "LD_LIBRARY_PATH", (element, *others), _SEPARATORS)


def without(case: Case, variable: str, elements: tuple[str, ...], separators: re.Pattern[str]) -> str:
    """Return the command that takes elements out of a variable, wherever they stand in it."""
    gone = {one.rstrip("/") for one in elements}
    kept = [one for one in separators.split(case.variables.get(variable, "")) if one.rstrip("/") not in gone]
    if not any(kept):
        return f"unset {variable}"
    return f"export {variable}={quote(':'.join(kept))}"


def wheel_first(case: Case, consumer: Consumer, wanted: str) -> str:
    """Return the command that puts the folder of the wanted library in front."""
    file = consumer.libraries.get(wanted)
    # The loader spells the way through RPATH; the real folder reads better where the file has the same name there.
    real = file is not None and file.real.rpartition("/")[2] == wanted.rpartition("/")[2]
    folder = quote(file.folder if file and real else wanted.rpartition("/")[0])
    if case.variables.get("LD_LIBRARY_PATH"):
        return f'export LD_LIBRARY_PATH={folder}:"$LD_LIBRARY_PATH"'
    return f"export LD_LIBRARY_PATH={folder}"


def remove(case: Case, consumer: Consumer, blamed: Blame | None, *, later: bool = False) -> tuple[str, ...]:
    """Return the commands against a file that something outside of the packages brought; none where nothing did."""
    if blamed is None or not blamed.foreign:
        return ()
    file = blamed.file
    if file.found.preload:
        return _preload(case, consumer, file, later=later)
    if file.found.rule is Rule.ENVIRONMENT:
        shown = () if later else prove(case, consumer)
        first = (wheel_first(case, consumer, blamed.wanted),) if blamed.wanted else ()
        return (*shown, drop(case, file.found.element), *first)
    return _configuration(case, consumer, blamed)


def _preload(case: Case, consumer: Consumer, file: Loaded, *, later: bool) -> tuple[str, ...]:
    if file.found.preload != "LD_PRELOAD":
        return (f"# take {file.name} out of {file.found.preload}",)
    shown = () if later else prove(case, consumer, "LD_PRELOAD")
    return (*shown, without(case, "LD_PRELOAD", (file.name,), re.compile("[ :]+")))


def _configuration(case: Case, consumer: Consumer, blamed: Blame) -> tuple[str, ...]:
    folder = blamed.file.path.rpartition("/")[0]
    first = (wheel_first(case, consumer, blamed.wanted),) if blamed.wanted else ()
    if blamed.file.found.rule is Rule.CACHE:
        look = f"grep -rF {quote(folder)} /etc/ld.so.conf /etc/ld.so.conf.d"
        return (*first, look, "# take that line out, then run ldconfig as root")
    return first
