"""The names that a request may hold beside numbers."""

from __future__ import annotations

import re

# The order in which companions stand in the name of a toolchain.
COMPANIONS = ("cudnn", "nccl", "cutensor", "cusparselt")

# The variable that holds what `use` selected in a shell.
TOOLCHAIN = "CVM_TOOLCHAIN"

LATEST = "latest"
# Of a companion: the newest that serves the toolkit.
AUTO = "auto"
# As a selection: no toolchain of ours, whatever the machine has.
SYSTEM = "system"
RESERVED_NAMES = (LATEST, SYSTEM)

_LINK_NAME = re.compile(r"[a-z][a-z0-9_.]*")


def is_link_name(text: str) -> bool:
    """Whether a text has the form of a linked toolkit's name, which starts with a letter."""
    return bool(_LINK_NAME.fullmatch(text)) and text not in RESERVED_NAMES
