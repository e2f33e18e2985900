"""Asking a server for the rest of an archive until all of it has come, or nothing comes any more."""

from __future__ import annotations

import re
import time
from contextlib import closing
from http.client import HTTPException
from typing import TYPE_CHECKING

import requests
import urllib3.exceptions

from cvm.errors import IntegrityError, NetworkError
from cvm.net.location import shown
from cvm.net.reasons import never_connected, proxy_at_fault, reason_of, unreachable
from cvm.net.wanted import OTHER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.net.client import Client
    from cvm.net.location import Location
    from cvm.net.stream import Watch
    from cvm.net.wanted import Wanted

# Measured: the fastest size for TLS; larger blocks cost page faults, smaller ones calls. A read that times out loses
# all that came of its block, so that a slow connection gets smaller ones.
_BLOCK, _SMALLEST = 1 << 18, 1 << 14
_SLOW = 0.25
_WORTH_A_RESET = 1 << 16
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_DENIED = frozenset({401, 403, 407})
_KEPT = "run the command again: it goes on from what has arrived"
_ELSEWHERE = "point CVM_REDIST_URL at a mirror, or try another --source"


class _Broken(Exception):  # noqa: N818 - not an error yet: another try may do
    """A try that failed in a way that may pass."""

    def __init__(self, reason: str, *, connected: bool = True, pause: float = 0.0, proxy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.connected = connected
        self.pause = pause
        self.proxy = proxy


class Attempts:
    """The tries at one archive."""

    def __init__(self, wanted: Wanted, location: Location, client: Client, watch: Watch) -> None:
        self._wanted = wanted
        self._url = location.url
        self._shown = shown(location.url)
        self._headers = dict(location.headers)
        self._client = client
        self._watch = watch
        self._total = wanted.size
        self._ranges = True
        self._connected = False

    def blocks(self, position: int) -> Iterator[bytes]:
        """Yield the bytes from a position on; a try that brings some is followed by another without limit.

        Raises NetworkError, UnreachableError or IntegrityError.
        """
        failures = 0
        while True:
            before = position
            try:
                for block in self._attempt(position):
                    position += len(block)
                    yield block
            except _Broken as broken:
                self._connected |= broken.connected
                failures = 1 if self._advanced(position - before) else failures + 1
                self._wait(broken, failures)
            else:
                return

    def _advanced(self, count: int) -> bool:
        # Not any byte: a server that sends one a minute would be tried for ever.
        return count >= min(_WORTH_A_RESET, max(1, self._total // 100))

    def _wait(self, broken: _Broken, failures: int) -> None:
        policy = self._client.policy
        if failures >= policy.tries:
            if self._connected:
                raise NetworkError(f"{self._shown}: {broken.reason}, {failures} times in a row", hint=_KEPT)
            raise unreachable(self._shown, broken.proxy, broken.reason)
        self._watch.retrying(broken.reason)
        time.sleep(policy.pause_after(failures, broken.pause))

    def _attempt(self, position: int) -> Iterator[bytes]:
        with closing(self._ask(position)) as response:
            start = self._start(response, position)
            skip = position - start
            for block in self._body(response):
                if skip >= len(block):
                    skip -= len(block)
                elif skip:
                    position += len(block) - skip
                    yield block[skip:]
                    skip = 0
                else:
                    position += len(block)
                    yield block
        if self._total and position < self._total:
            raise _Broken(f"the connection ended after {position} of {self._total} bytes")

    def _body(self, response: requests.Response) -> Iterator[bytes]:
        try:
            size, before = _SMALLEST, time.monotonic()
            while block := response.raw.read(size, decode_content=False):
                size = min(2 * size, _BLOCK) if time.monotonic() - before < _SLOW else max(size // 2, _SMALLEST)
                yield block
                before = time.monotonic()
        except (urllib3.exceptions.HTTPError, HTTPException, OSError) as error:
            raise _Broken(reason_of(error)) from error

    def _ask(self, position: int) -> requests.Response:
        headers = dict(self._headers)
        if position and self._ranges:
            headers["Range"] = f"bytes={position}-"
        policy = self._client.policy
        try:
            response = self._client.session.get(
                self._url, headers=headers, stream=True, timeout=(policy.connect, policy.read)
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise self._refused(error) from error
        self._connected = True
        if response.status_code not in (200, 206):
            response.close()
            raise self._unexpected(response, position)
        return response

    def _refused(self, error: Exception) -> Exception:
        """Say whether a request that got no answer may be tried again."""
        if isinstance(error, requests.exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
            return NetworkError(
                f"the certificate of {self._shown} is not trusted",
                hint="set REQUESTS_CA_BUNDLE to the file with your organisation's certificates",
            )
        if isinstance(error, requests.ConnectionError | requests.Timeout | OSError) and not isinstance(
            error, requests.TooManyRedirects | ValueError
        ):
            connected = not never_connected(error)
            return _Broken(reason_of(error), connected=connected, proxy=proxy_at_fault(error, self._url))
        return NetworkError(f"{self._shown}: {reason_of(error)}", hint="check CVM_REDIST_URL and the proxy settings")

    def _unexpected(self, response: requests.Response, position: int) -> Exception:
        """Say what an answer without the bytes means."""
        status = response.status_code
        answer = f"{self._shown} answered {status} {response.reason or ''}".rstrip()
        if status == 416 and position:
            return IntegrityError(
                f"{self._wanted.filename} is shorter on the server than the {position} bytes of it here",
                hint=OTHER_BYTES,
            )
        if status in _PASSING:
            return _Broken(f"the server answered {status}", pause=_asked_pause(response))
        denied = "check the credentials for this host, for instance in ~/.netrc"
        return NetworkError(answer, hint=denied if status in _DENIED else _ELSEWHERE)

    def _start(self, response: requests.Response, position: int) -> int:
        """Return where a body begins, and learn or check how long the archive is."""
        if response.status_code == 200:
            self._learn_total(response.headers.get("Content-Length", ""))
            return 0
        match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        if match is None or int(match[1]) > position:
            # Its ranges can't be trusted: what is here already is skipped in a whole body instead.
            self._ranges = False
            raise _Broken("the server sent another range than it was asked for")
        self._learn_total(match[2])
        return int(match[1])

    def _learn_total(self, text: str) -> None:
        if text.isdigit() and not self._wanted.size:
            self._total = int(text)
        elif text.isdigit() and int(text) != self._wanted.size:
            raise IntegrityError(
                f"{self._wanted.filename} has {text} bytes at {self._shown} instead of {self._wanted.size}",
                hint=OTHER_BYTES,
            )


def _asked_pause(response: requests.Response) -> float:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else 0.0
