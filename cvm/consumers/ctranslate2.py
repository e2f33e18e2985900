"""CTranslate2: its bundled library opens cuBLAS and cuDNN when a model goes to the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module
from cvm.consumers.families import family_of
from cvm.elf.error import ElfError
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("ctranslate2",)

# The rest of what it names is for several GPUs, or the driver's.
_USED = ("cublas", "cudnn", "cudart")


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import ctranslate2` does, and then what a model on a GPU needs; raises LoadError."""
    package = f"{distribution.folder}/ctranslate2"
    names = sorted(session.world.files.names(package))
    module = next((f"{package}/{name}" for name in names if name.startswith("_ext.") and name.endswith(".so")), None)
    if module is None:
        return
    open_module(module, session, f"{package}/__init__.py")
    session.import_ends()
    for one in session.process.loaded:
        if "libctranslate2" in one.path.rpartition("/")[2]:
            _use(one.path, session)


def _use(library: str, session: Session) -> None:
    try:
        names = session.world.files.elf(library).dlopen_names
    except (OSError, ElfError):
        return
    for name in names:
        if family_of(name) in _USED:
            call = f'dlopen("{name}")'
            if not session.open(name, call, library, mode=Mode.LAZY, caller=library).ok:
                session.complains(f"RuntimeError: Library {name} is not found or cannot be loaded")
