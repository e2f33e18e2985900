"""Environment changes, computed once and rendered by all who switch: what a toolchain asks for, put in and taken out.

An environment is a mapping of names to values, with bytes that are not UTF-8 as Python keeps them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.core.names import TOOLCHAIN
from cvm.core.undo import UNDO, Saved, decode, encode, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

# What may hold a path into a toolchain.
_VALUES = ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "CUDNN_PATH", "CUDNN_ROOT", "NCCL_HOME")
_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_LISTS = ("PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH")


class Activation(NamedTuple):
    """What a toolchain asks of an environment: variables to set, and elements to put in front of path lists."""

    values: Mapping[str, str]
    elements: Mapping[str, tuple[str, ...]]


class Change(NamedTuple):
    """A variable's new value, or None to unset it.

    `front` is set where the variable isn't exported: a shell may have a value all the same, which then
    stays behind these elements.
    """

    name: str
    value: str | None
    front: str = ""


class Folders(NamedTuple):
    """The folders of a prefix that an environment names: absolute paths; empty or None where there is none."""

    prefix: str
    programs: str
    compiler: str | None = None
    libraries: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()


def activation(name: str | None, folders: Folders, companions: Collection[str], *, libraries: bool) -> Activation:
    """Say what a toolchain asks for; `libraries` says whether LD_LIBRARY_PATH gets its folders too.

    With a name it becomes the selection. A prefix with a colon in its path can't stand in a list: whoever
    chooses the home refuses that.
    """
    values = {
        "CUDA_HOME": folders.prefix,
        "CUDA_PATH": folders.prefix,
        "CUDAToolkit_ROOT": folders.prefix,
    }
    if folders.compiler:
        values["CUDACXX"] = folders.compiler
    if "cudnn" in companions:
        values |= {"CUDNN_PATH": folders.prefix, "CUDNN_ROOT": folders.prefix}
    if "nccl" in companions:
        values["NCCL_HOME"] = folders.prefix
    elements = {"PATH": (folders.programs,), "LIBRARY_PATH": folders.libraries + folders.stubs}
    if libraries:
        elements["LD_LIBRARY_PATH"] = folders.libraries
    if name:
        values[TOOLCHAIN] = name
    return Activation(values, {variable: found for variable, found in elements.items() if found})


def activated(environment: Mapping[str, str], wanted: Activation, owned: Callable[[str], bool]) -> dict[str, str]:
    """Return an environment with a toolchain in it, whatever was in it before.

    `owned` says of an element whether it lies in a toolchain of ours. In the lists that change there is
    no empty element and no duplicate afterwards, and what others put there keeps its order.
    """
    base = deactivated(environment, owned) if decode(environment.get(UNDO, "")) else dict(environment)
    after, saved = _without_strays(base, wanted, owned)
    for name, value in wanted.values.items():
        after[name] = value
        saved.append(Saved(name, base.get(name), value))
    for name, front in wanted.elements.items():
        others = base.get(name, "").split(":")
        after[name] = joined(front, _foreign(base.get(name, ""), owned))
        saved.append(Saved(name, base.get(name), mark(after[name]), tuple(e for e in front if e not in others)))
    after[UNDO] = encode(saved)
    return after


def deactivated(environment: Mapping[str, str], owned: Callable[[str], bool]) -> dict[str, str]:
    """Return an environment as it was before a toolchain was put into it; one without any comes back as it is.

    A variable is put back byte for byte when it is what was written, else it only loses what was added.
    """
    after = dict(environment)
    text = after.pop(UNDO, None)
    for saved in decode(text or "") or _strays(environment, owned):
        value = _restored(saved, environment.get(saved.name), owned)
        if value is None:
            after.pop(saved.name, None)
        else:
            after[saved.name] = value
    return after


def joined(front: Iterable[str], value: str) -> str:
    """Put elements in front of a path list, each once; an empty one would mean the current folder, and is dropped."""
    return ":".join(dict.fromkeys(element for element in [*front, *value.split(":")] if element))


def clean_variables(wanted: Activation) -> dict[str, str]:
    """Return the variables of an environment that had none before: what a tool needs that starts others in it."""
    lists = {name: ":".join(elements) for name, elements in wanted.elements.items()}
    return {**wanted.values, **lists, "PATH": usual_path(lists.get("PATH", ""))}


def usual_path(front: str) -> str:
    """Put elements in front of the folders where a system has its programs."""
    return joined(front.split(":"), ":".join(_SYSTEM_PATH))


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Return what turns one environment into the other, in the order of the names."""
    changes = []
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            # A shell that never exported its PATH still has one.
            front = after[name] if name == "PATH" and name not in before else ""
            changes.append(Change(name, after.get(name), front))
    return tuple(changes)


def _restored(saved: Saved, now: str | None, owned: Callable[[str], bool]) -> str | None:
    written = now if now is None or saved.added is None else mark(now)
    if written == saved.written:
        return saved.before
    if now is None:
        return None
    if saved.added is None:
        return None if owned(now) else now
    kept = ":".join(e for e in now.split(":") if e not in saved.added and not owned(e))
    return None if not kept and saved.before is None else kept


def _without_strays(
    base: Mapping[str, str], wanted: Activation, owned: Callable[[str], bool]
) -> tuple[dict[str, str], list[Saved]]:
    """Take out what points into a toolchain of ours and nobody remembers, where nothing else will stand there."""
    after = dict(base)
    strays = [name for name in _VALUES if name in base and name not in wanted.values and owned(base[name])]
    saved = [Saved(name, after.pop(name), None) for name in strays]
    for name in _LISTS:
        if name not in wanted.elements and any(map(owned, base.get(name, "").split(":"))):
            after[name] = joined((), _foreign(base[name], owned))
            saved.append(Saved(name, base[name], mark(after[name]), ()))
    return after, saved


def _foreign(value: str, owned: Callable[[str], bool]) -> str:
    return ":".join(element for element in value.split(":") if not owned(element))


def _strays(environment: Mapping[str, str], owned: Callable[[str], bool]) -> Iterable[Saved]:
    """Find what is there without a record: an `env.sh` keeps none, and others put old lists back.

    Only elements and values that are ours go.
    """
    if TOOLCHAIN in environment:
        yield Saved(TOOLCHAIN, None, environment[TOOLCHAIN])
    for name in _VALUES:
        if owned(environment.get(name, "")):
            yield Saved(name, None, None)
    for name in _LISTS:
        if any(map(owned, environment.get(name, "").split(":"))):
            yield Saved(name, None, None, ())
