"""Numbers of bytes for people."""

from __future__ import annotations


def human_size(size: int) -> str:
    """Write a number of bytes in powers of 1000, as disks and networks count."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"
