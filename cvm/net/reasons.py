"""Why a request failed, in words that name no password and the proxy that is to blame."""

from __future__ import annotations

import re
from http.client import IncompleteRead

import requests
import requests.utils
import urllib3.exceptions

from cvm.errors import UnreachableError
from cvm.net.location import shown

_NEVER_CONNECTED = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)


def unreachable(server: str, proxy: str = "", reason: str = "") -> UnreachableError:
    """Describe a server to which no connection could be made, and the proxy in between where that is why."""
    through = f" through the proxy {proxy}" if proxy else ""
    why = f": {reason}" if reason else ""
    hint = "check the proxy settings: http_proxy, https_proxy and no_proxy" if proxy else "check the network"
    return UnreachableError(f"{server} can't be reached{through}{why}", hint=hint)


def proxy_at_fault(error: Exception, url: str) -> str:
    """Return the address of the proxy that could not be talked to; empty when the failure is another."""
    if not isinstance(error, requests.exceptions.ProxyError):
        return ""
    return shown(requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url)) or "")


def never_connected(error: BaseException | None) -> bool:
    """Whether a failure came before there was a connection: no address, refused, or no answer to it."""
    if isinstance(error, requests.ConnectTimeout | requests.exceptions.ProxyError):
        return True
    inner = error.args[0] if error is not None and error.args else None
    return isinstance(getattr(inner, "reason", inner), _NEVER_CONNECTED)


def reason_of(error: BaseException) -> str:
    """Return the innermost words of a failure: those around it repeat the URL, which may hold a password."""
    seen: BaseException = error
    while isinstance(inner := getattr(seen, "reason", None) or (seen.args[-1] if seen.args else None), BaseException):
        seen = inner
    if isinstance(seen, urllib3.exceptions.NewConnectionError) and isinstance(seen.__cause__, OSError):
        seen = seen.__cause__
    if isinstance(seen, TimeoutError | requests.Timeout | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    if isinstance(seen, IncompleteRead):
        return "the connection ended early"
    if isinstance(seen, OSError) and seen.strerror:
        return str(seen.strerror).lower()
    text = _without_credentials(str(seen)) or type(seen).__name__
    return text[:1].lower() + text[1:]


def _without_credentials(text: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//", text).rstrip(".")
