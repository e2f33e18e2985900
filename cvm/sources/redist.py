"""NVIDIA's own archives, and mirrors that keep their layout."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from cvm.errors import NetworkError, UnreachableError
from cvm.net import Location, Policy
from cvm.sources.index import answering, redacted

if TYPE_CHECKING:
    from cvm.core.plan import PlannedArchive
    from cvm.sources.servers import Servers

# Seconds to wait before another source is taken: no answer by then is as good as none.
_TIMEOUT = 5.0


def locate(planned: PlannedArchive, servers: Servers) -> Location:
    """Join the manifest's path with the product's folder: relative, to another folder, or a whole URL."""
    return Location(urljoin(product_url(servers.settings.redist_url, planned.product), planned.archive.path))


def product_url(base: str, product: str) -> str:
    """Return the address of the folder in which NVIDIA keeps the archives and redistrib manifests of a product."""
    return urljoin(base.rstrip("/") + "/", f"{product}/redist/")


def reachable(servers: Servers) -> bool:
    """Whether the host of the archives answers at all, be it with an error."""
    url = servers.settings.redist_url
    if url.startswith("file:"):
        return True
    try:
        with answering(redacted(url)):
            patience = min(_TIMEOUT, Policy.from_environment(servers.settings.environment).read)
            servers.client.head(url, timeout=patience, allow_redirects=False)
    except UnreachableError:
        return False
    except NetworkError:
        # It is there, and an install from it says better what is wrong.
        return True
    return True
