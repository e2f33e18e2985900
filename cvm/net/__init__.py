"""The bytes of an archive, from a server or a file: resumed, retried and checked."""

from __future__ import annotations

from cvm.net.client import Client, Policy, session
from cvm.net.location import Location, shown
from cvm.net.stream import Watch, stream
from cvm.net.wanted import Wanted

__all__ = ["Client", "Location", "Policy", "Wanted", "Watch", "session", "shown", "stream"]
