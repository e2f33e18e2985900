"""Install an unpacked toolkit that lies somewhere on this machine: as a copy, which later changes there don't reach."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cvm import __version__
from cvm.actions.rehash import rehash
from cvm.core.names import COMPANIONS
from cvm.core.receipt import COPIED, Receipt
from cvm.core.version import parse_version
from cvm.disk import disk_error, readable_folder, remove_tree, replace_folder, staging_folder, sweep_staging
from cvm.errors import DiskError, IncompatibleError
from cvm.prefix.probe import companion_versions, toolkit_version
from cvm.prefix.receipt import write_receipt
from cvm.prefix.tree import inventory
from cvm.space import check_space

if TYPE_CHECKING:
    from cvm.core.request import Request
    from cvm.layout import Layout


def is_toolkit(path: Path) -> bool:
    """Whether a folder looks like an unpacked toolkit rather than a folder of archives."""
    return (path / "include" / "cuda.h").is_file() or (path / "version.json").is_file()


def tree_name(path: Path, request: Request) -> tuple[str, Receipt]:
    """Read what a tree is, and how it will be called; raises IncompatibleError when it isn't what was asked for."""
    version = toolkit_version(path)
    companions = dict(companion_versions(path))
    hint = f"cvm install {version} --from {shlex.quote(str(path))}"
    if not request.toolkit.matches(version):
        raise IncompatibleError(f"{path} is CUDA {version}, not {request.toolkit.text}", hint=hint)
    for product, pattern in request.companions:
        if product not in companions:
            raise IncompatibleError(f"{path} has no {product}", hint=hint)
        if not pattern.matches(parse_version(companions[product])):
            raise IncompatibleError(f"{path} has {product} {companions[product]}, not {pattern.text}", hint=hint)
    ordered = tuple((product, companions[product]) for product in COMPANIONS if product in companions)
    name = "-".join([str(version), *(product + text for product, text in ordered)])
    return name, Receipt(name=name, kind=COPIED, toolkit=str(version), companions=ordered, path="", cvm=__version__)


def copy_tree(path: Path, receipt: Receipt, layout: Layout) -> Path:
    """Copy a toolkit into the home; the caller holds the install lock."""
    sweep_staging(readable_folder(layout.toolchains))
    check_space({layout.home: _size(path)})
    target = layout.toolchain(receipt.name)
    staged = staging_folder(target.parent)
    try:
        _copy(path, staged)
        write_receipt(staged, receipt, inventory(staged, {}))
        replace_folder(staged, target)
    finally:
        remove_tree(staged)
    rehash(layout)
    return target


def _copy(path: Path, staged: Path) -> None:
    try:
        shutil.copytree(path, staged, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".cvm"))
    except shutil.Error as error:
        # It goes on after a file that fails, and tells of all at the end.
        source, target, reason = error.args[0][0]
        raise DiskError(f"{source} can't be copied to {target}: {reason}") from error
    except OSError as error:
        raise disk_error(error, staged) from error


def _size(path: Path) -> int:
    return sum(os.lstat(Path(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)
