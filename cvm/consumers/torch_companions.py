"""TorchVision and TorchAudio: `import torch`, then their own libraries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_library, open_module
from cvm.consumers.session import LoadError
from cvm.consumers.wanting import load_torch

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("torchvision", "torchaudio")

_MODULE = re.compile(r"(?:\.cpython-\d+[\w-]*|\.abi3)?\.so$")
# Newer releases register a shape function for this operator when they are imported, whether it is there or not.
_REGISTERS = re.compile(r'(?:register_fake|impl_abstract)\(\s*"torchvision::nms"')


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import torchvision` or `import torchaudio` does; raises LoadError."""
    load_torch(session)
    package = f"{distribution.folder}/{distribution.name}"
    if distribution.name == "torchvision":
        _vision(package, session)
    else:
        _audio(package, session)


def _vision(package: str, session: Session) -> None:
    """Load the operators: torchvision swallows their failure, and dies of it a few lines later."""
    files, source = session.world.files, f"{package}/extension.py"
    path = _named(session, package, "_C")
    if path is not None:
        outcome = session.open(files.real(path), f"ctypes.CDLL('{path}')", source)
        if not outcome.ok:
            text = _text(session, f"{package}/_meta_registrations.py")
            if _REGISTERS.search(text):
                raise LoadError("RuntimeError: operator torchvision::nms does not exist")
            session.steps[-1] = session.steps[-1]._replace(handled=True)
    image = _named(session, package, "image")
    if image is not None:
        # Only a warning comes of a failure.
        open_library(files.real(image), session, f"{package}/io/image.py", handled=True)


def _audio(package: str, session: Session) -> None:
    """Load the extension where there is one; SoX and FFmpeg are only looked for at their first use."""
    folder = f"{package}/lib"
    source = f"{package}/_extension/__init__.py"
    module = _named(session, folder, "_torchaudio")
    library = _named(session, folder, "libtorchaudio")
    # Releases with a module load the library only where the module is, too.
    if library is not None and (module is not None or '"torchaudio.lib._torchaudio"' not in _text(session, source)):
        open_library(session.world.files.real(library), session, f"{package}/_extension/utils.py")
    if module is not None:
        open_module(module, session, source)


def _named(session: Session, folder: str, stem: str) -> str | None:
    """Return the extension module of a name in a folder."""
    for name in sorted(session.world.files.names(folder)):
        if name.startswith(stem) and _MODULE.fullmatch(name[len(stem) :]):
            return f"{folder}/{name}"
    return None


def _text(session: Session, path: str) -> str:
    try:
        return session.world.files.content(path).decode("utf-8", "replace")
    except OSError:
        return ""
