"""What is known of the machine without asking its driver."""

from __future__ import annotations

from typing import NamedTuple


class Machine(NamedTuple):
    """Whether a GPU of NVIDIA's can be seen (None: can't be told), its driver, and what kind of Linux this is."""

    gpu: bool | None = None
    driver: str | None = None
    wsl: bool = False
    tegra: bool = False
