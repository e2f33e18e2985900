"""What cuDNN opens at its first use, and which cuDNN answers then.

Observed in debuggers with cuDNN 8.5, 9.1, 9.10 and 9.28: every library of the family is opened with RTLD_NOW, from
version 9 on under the full version first, then `.9.1`, then `.9`, then without a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.consumer import CudnnVersions
from cvm.consumers.cudnn_file import file_version
from cvm.consumers.families import DRIVER, family_of
from cvm.consumers.torch_built import compiled_cudnn
from cvm.consumers.wanting import lacks_driver_only
from cvm.elf.error import ElfError
from cvm.elf.outcome import Kind
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution
    from cvm.elf.files import Files
    from cvm.elf.outcome import Loaded, Outcome

# In the order in which a training step comes to them; without one of these nothing works. The others are engines,
# which releases name and don't ship.
_CORE = ("graph", "ops_infer", "ops", "cnn_infer", "cnn", "adv_infer", "adv", "ops_train", "cnn_train", "adv_train")
# Files with up to 86 MB of tables to search: one has no names, the other those of a small one (8.5 to 9.28).
_LARGE = {"heuristic": None, "cnn_infer": "adv_infer"}
_ANSWERS = ("libcudnn_graph.so", "libcudnn_ops_infer.so", "libcudnn.so")
_MEMBER = re.compile(r"libcudnn(?:_(\w+))?\.so")
_PIN = re.compile(r"nvidia-cudnn-cu\d+\b[^;]*?(?:==|>=|~=)\s*(\d+)\.(\d+)(?:\.(\d+))?")
_CONDA_BUILD = re.compile(r"cudnn(\d+)\.(\d+)\.(\d+)")
_NUMBERED = re.compile(r"\.so\.(\d+)")


class _Wanted(NamedTuple):
    """A library that cuDNN opens: the names that it tries, and whether it can do without."""

    names: tuple[str, ...]
    optional: bool
    mode: Mode = Mode.NOW


def open_siblings(session: Session) -> str | None:
    """Open what the cuDNN in a process opens at its first use, and what those open; nothing where there is none.

    Returns what cuDNN prints before it ends the process, None where it finds all that it must have.
    """
    complaint: str | None = None
    seen: set[str] = set()
    while new := [one for one in _members(session) if one.path not in seen]:
        for member in new:
            seen.add(member.path)
            for wanted in _wanted(session, member):
                failure = _open(session, member, wanted)
                complaint = complaint or failure
    return complaint


def versions(distribution: Distribution, session: Session) -> CudnnVersions:
    """Return the cuDNN that a package was built with, and the one in the process; call `open_siblings` before."""
    compiled, source = _compiled(distribution, session)
    answering = _answering(session)
    runtime = None if answering is None else file_version(session.world.files, answering.path)
    return CudnnVersions(compiled, source, runtime, None if answering is None else answering.path)


def _members(session: Session) -> list[Loaded]:
    return [one for one in session.process.loaded if _MEMBER.match(_base(one.soname or one.path))]


def _answering(session: Session) -> Loaded | None:
    """Return the file whose `cudnnGetVersion` counts: libcudnn.so itself only passes the call on, if it can."""
    members = _members(session)
    for stem in _ANSWERS:
        for one in members:
            if _base(one.soname or one.path).startswith(stem):
                return one
    return None


def _wanted(session: Session, member: Loaded) -> Iterator[_Wanted]:
    names = _named(session.world.files, member)
    found = _NUMBERED.search(member.soname or member.path)
    major = int(found[1]) if found else 0
    for name in sorted(names, key=_rank):
        part = _MEMBER.match(name)
        if part and part[1]:
            yield _Wanted(_spelled(session, member, name), part[1] not in _CORE)
        elif name == "libnvrtc.so":
            yield _Wanted((name, *_numbered_nvrtc(session)) if major >= 9 else (name,), optional=True)
        elif name == "libcuda.so" and major == 8 and _has_driver(session, member):
            # Its constructor opens the name without a number; cuDNN takes the error for its own and aborts.
            yield _Wanted((name,), optional=False, mode=Mode.LAZY)
        elif family_of(name) not in (None, DRIVER, "nvrtc"):
            yield _Wanted((name,), optional=True)


def _named(files: Files, member: Loaded) -> set[str]:
    """Return the names of libraries in a file, less its own and those that it needs, which are there already."""
    path = _searched(files, member)
    try:
        dynamic = files.elf(member.path).dynamic
        names = files.elf(path).dlopen_names if path else ()
    except (OSError, ElfError):
        return set()
    return set(names) - {member.soname, *(dynamic.needed if dynamic else ())}


def _searched(files: Files, member: Loaded) -> str | None:
    """Return the file to search for the names of a member."""
    part = _MEMBER.match(_base(member.soname or member.path))
    if part is None or part[1] not in _LARGE:
        return member.path
    small = _LARGE[part[1]]
    if small is None:
        return None
    beside = member.path.replace(f"_{part[1]}.so", f"_{small}.so")
    return member.path if isinstance(files.identity(beside), int) else beside


def _spelled(session: Session, member: Loaded, name: str) -> tuple[str, ...]:
    """Return the names by which a library of the family is tried: the version of the file that asks counts."""
    if not name.endswith(".so"):
        return (name,)
    version = _own_version(session, member)
    if version is None:
        found = _NUMBERED.search(member.soname or member.path)
        return (f"{name}.{found[1]}", name) if found else (name,)
    numbers = [".".join(map(str, version[:count])) for count in (3, 2, 1)]
    return (*(f"{name}.{number}" for number in numbers), name)


def _own_version(session: Session, member: Loaded) -> tuple[int, int, int] | None:
    """Return the version that a file was built as; libcudnn.so does not tell, those beside it do."""
    files = session.world.files
    real = files.real(member.path)
    folder = real.rpartition("/")[0]
    number = (_NUMBERED.search(member.soname or real) or [""])[0].removeprefix(".so")
    beside = [f"{folder}/{stem}{number}" for stem in _ANSWERS[:2]]
    found = (file_version(files, path) for path in (real, *beside))
    return next((version for version in found if version), None)


def _numbered_nvrtc(session: Session) -> tuple[str, ...]:
    """Return the second name for NVRTC: the major of the CUDA runtime in the process."""
    for one in session.process.loaded:
        name = _base(one.soname or one.path)
        if family_of(name) in ("cudart", "cublas") and (found := _NUMBERED.search(name)):
            return (f"libnvrtc.so.{found[1]}",)
    return ()


def _has_driver(session: Session, member: Loaded) -> bool:
    call = 'dlopen("libcuda.so.1")'
    return session.open("libcuda.so.1", call, member.path, caller=member.path, handled=True).ok


def _open(session: Session, member: Loaded, wanted: _Wanted) -> str | None:
    """Try the names in turn; only the one that is found, or the failure that tells most, becomes a step."""
    outcomes: list[Outcome] = []
    for name in wanted.names:
        call = f'dlopen("{name}")'
        outcome = session.open(name, call, member.path, mode=wanted.mode, caller=member.path, handled=wanted.optional)
        if outcome.ok:
            return None
        outcomes.append(outcome)
        session.steps.pop()
    worst = next((one for one in outcomes if one.failure and not _is_absent(one)), outcomes[-2:][0])
    absent = _is_absent(worst)
    # A file that is there and only lacks the driver tells nothing on a machine without a GPU.
    excused = wanted.optional if absent else worst.failure is not None and lacks_driver_only(worst.failure)
    session.open(
        worst.name,
        f'dlopen("{worst.name}")',
        member.path,
        mode=wanted.mode,
        caller=member.path,
        handled=excused,
    )
    return None if excused or wanted.optional else _printed(wanted, worst)


def _is_absent(outcome: Outcome) -> bool:
    """Whether the very name was found nowhere; a library that it needs may be missing, too."""
    failure = outcome.failure
    return failure is not None and failure.kind is Kind.LIBRARY and failure.libraries[0].name == outcome.name


def _printed(wanted: _Wanted, outcome: Outcome) -> str:
    text = outcome.failure.text if outcome.failure else ""
    if len(wanted.names) > 1:
        return f"Unable to load any of {{{', '.join(wanted.names)}}}"
    return f"Could not load library {outcome.name}. Error: {text}"


def _compiled(distribution: Distribution, session: Session) -> tuple[tuple[int, int, int] | None, str]:
    exact = compiled_cudnn(distribution, session) if distribution.name == "torch" else None
    if exact is not None:
        return exact, f"the code of {distribution}"
    for line in distribution.requires:
        found = _PIN.match(line)
        if found:
            wanted = line.partition(";")[0].strip()
            return (int(found[1]), int(found[2]), int(found[3] or 0)), f"{distribution} requires {wanted}"
    found = _CONDA_BUILD.search(_base(distribution.info))
    if found:
        return (int(found[1]), int(found[2]), int(found[3])), f"the build of {distribution}"
    return None, ""


def _rank(name: str) -> tuple[int, str]:
    part = _MEMBER.match(name)
    return (_CORE.index(part[1]) if part and part[1] in _CORE else len(_CORE)), name


def _base(path: str) -> str:
    return path.rpartition("/")[2]
