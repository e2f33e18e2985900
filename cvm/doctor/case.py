"""Everything that a check may know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.core.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.consumer import Consumer
    from cvm.core.packages import LostFile, PythonEnvironment, SharedFile
    from cvm.elf.outcome import Outcome


class PathElement(NamedTuple):
    """An element of LD_LIBRARY_PATH as the loader splits it: at `:` and `;`.

    `folder` is where it leads (the current folder for an empty one), None where that isn't there;
    `cuda` are the names of CUDA libraries in it.
    """

    number: int
    text: str
    folder: str | None
    cuda: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"LD_LIBRARY_PATH[{self.number}]={self.text}"


class Case(NamedTuple):
    """One environment on one machine: its variables, its packages, its consumers, each loaded in the model.

    `libcuda` is what came of opening libcuda.so.1 from the bare interpreter, None where that wasn't tried, and
    `libcuda_real` the file that it led to, without links.
    """

    variables: Mapping[str, str]
    consumers: tuple[Consumer, ...]
    python: PythonEnvironment | None = None
    path: tuple[PathElement, ...] = ()
    machine: Machine = Machine()
    shared: tuple[SharedFile, ...] = ()
    lost: tuple[LostFile, ...] = ()
    libcuda: Outcome | None = None
    libcuda_real: str | None = None
