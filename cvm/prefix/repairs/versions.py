"""The files at the top of a toolkit that say what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cvm.prefix.repairs.edit import make_link, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

# Components whose licence file is the toolkit's EULA.
_UNDER_THE_EULA = ("cuda_nvcc", "cuda_cudart", "cuda_nvrtc", "libcublas")


def version_json(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """`version.json`, in the installer's form: build systems read the toolkit's version from it."""
    if (prefix / "version.json").exists():
        return ()
    document = {"cuda": {"name": "CUDA SDK", "version": str(facts.toolkit)}}
    document |= {key: {"name": name, "version": version} for key, name, version in facts.components}
    write_file(prefix, "version.json", (json.dumps(document, indent=3) + "\n").encode())
    return ("version.json",)


def eula_link(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`EULA.txt`: where the installer puts the licence of the toolkit."""
    for component in _UNDER_THE_EULA:
        for name in ("LICENSE", "LICENSE.txt", "License.txt"):
            path = f"share/doc/{component}/{name}"
            if (prefix / path).is_file():
                return ("EULA.txt",) if make_link(prefix, "EULA.txt", path) else ()
    return ()
