"""Fixtures that several modules share."""

from tests.fakes.disks import read_only_disk, small_disk

__all__ = ["read_only_disk", "small_disk"]
