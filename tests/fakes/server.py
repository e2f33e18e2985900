"""An HTTP server for tests: it serves a folder on 127.0.0.1, and misbehaves as it is told.

    with Server(folder) as server:
        server.behave("a.whl", Behaviour(status=503, times=2), Behaviour(cut_after=1000, times=1))
        ...fetch f"{server.url}/a.whl"...
        assert [r.range for r in server.requests] == [None, None, None, "bytes=1000-"]

It knows HEAD, GET, ranges (`bytes=N-`, `bytes=N-M`, `bytes=-N`) and 416; a folder is answered with its `index.html` or
`index.json`. `content_types` maps the end of a path to a Content-Type.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from pathlib import Path

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@dataclass(frozen=True)
class Behaviour:
    """What is done instead of an honest answer, for so many requests (None: for all that follow)."""

    times: int | None = None
    # Answer with this status and no content.
    status: int | None = None
    retry_after: int | None = None
    # Send this Location with 302.
    redirect: str | None = None
    # Answer a Range with 200 and everything.
    ignore_range: bool = False
    # Begin a 206 so many bytes before (or, below 0, after) where it was asked to.
    wrong_start: int = 0
    # Send so many bytes of the body, then close the connection; 0 sends the headers alone.
    cut_after: int | None = None
    # Close the connection without a word.
    drop: bool = False
    # Send the headers and so many bytes, then nothing, until the server closes.
    hang_after: int | None = None
    # Never answer at all.
    hang: bool = False
    # Pause so many seconds between pieces of so many bytes.
    drip: float = 0.0
    drip_size: int = 1024
    # Serve these bytes instead of the file's.
    body: bytes | None = None
    # Leave Content-Length out and end the body by closing.
    no_length: bool = False
    # Answer 401 unless the request carries this Authorization.
    authorization: str | None = None


@dataclass(frozen=True)
class Request:
    """One request as it came, and the status of the answer (0 for none)."""

    method: str
    path: str
    range: str | None
    status: int
    headers: dict[str, str] = field(default_factory=dict, compare=False)


class _Http(ThreadingHTTPServer):
    """Says nothing when a client closes the connection, which many tests are about."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Server:
    """Serves `folder` until it is closed; `requests` is a log, in the order of answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[Request] = []
        self.content_types = {".json": "application/json", ".html": "text/html"}
        self.sent = 0
        self.closing = threading.Event()
        self._behaviours: dict[str, list[Behaviour]] = {}
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def behave(self, path: str, *behaviours: Behaviour) -> None:
        """Answer requests for a path (`*`: for any) so, one after the other; replaces what was said of it before."""
        with self._lock:
            self._behaviours[path] = list(behaviours)

    def count(self, path: str = "") -> int:
        """How many requests there were for a path, or in all."""
        return sum(1 for request in self.requests if not path or request.path == path)

    def ranges(self, path: str = "") -> list[str | None]:
        """The Range of each request for a path."""
        return [request.range for request in self.requests if not path or request.path == path]

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_behaviour(self, path: str) -> Behaviour:
        with self._lock:
            for key in (path, "*"):
                queue = self._behaviours.get(key, [])
                while queue and queue[0].times == 0:
                    queue.pop(0)
                if queue:
                    first = queue[0]
                    if first.times is not None:
                        queue[0] = replace(first, times=first.times - 1)
                    return first
        return Behaviour()

    def log(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)


class _Handler(BaseHTTPRequestHandler):
    owner: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path).lstrip("/")
        behaviour = self.owner.next_behaviour(path)
        try:
            if behaviour.hang:
                self._log(path, 0)
                self.owner.closing.wait()
            elif behaviour.drop:
                self._log(path, 0)
            else:
                self._respond(path, behaviour)
                return
        except OSError:
            pass
        self.close_connection = True

    def _respond(self, path: str, behaviour: Behaviour) -> None:
        if behaviour.authorization and self.headers.get("Authorization") != behaviour.authorization:
            return self._plain(path, 401, {"WWW-Authenticate": "Basic"})
        if behaviour.redirect:
            return self._plain(path, 302, {"Location": behaviour.redirect})
        if behaviour.status:
            extra = {"Retry-After": str(behaviour.retry_after)} if behaviour.retry_after is not None else {}
            return self._plain(path, behaviour.status, extra)
        file = self._file(path)
        body = behaviour.body if behaviour.body is not None else file.read_bytes() if file else None
        if body is None:
            return self._plain(path, 404, {})
        return self._body(path, file, body, behaviour)

    def _file(self, path: str) -> Path | None:
        file = self.owner.folder / path
        for name in ("index.html", "index.json"):
            if file.is_dir() and (file / name).is_file():
                file = file / name
        return file if file.is_file() else None

    def _plain(self, path: str, status: int, headers: dict[str, str]) -> None:
        self._log(path, status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _body(self, path: str, file: Path | None, body: bytes, behaviour: Behaviour) -> None:
        total = len(body)
        wanted = None if behaviour.ignore_range else self._range(total)
        status, start, stop = (200, 0, total) if wanted is None else (206, *wanted)
        if status == 206 and start >= total:
            return self._plain(path, 416, {"Content-Range": f"bytes */{total}"})
        if status == 206:
            start = min(max(0, start - behaviour.wrong_start), total)
        self._log(path, status)
        self.send_response(status)
        self.send_header("Content-Type", self._content_type(file))
        self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{total}")
        if behaviour.no_length:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        if self.command == "GET":
            self._send(body[start:stop], behaviour)
        return None

    def _range(self, total: int) -> tuple[int, int] | None:
        match = _RANGE.fullmatch(self.headers.get("Range", ""))
        if match is None or not (match[1] or match[2]):
            return None
        if not match[1]:
            return max(0, total - int(match[2])), total
        return int(match[1]), min(total, int(match[2]) + 1) if match[2] else total

    def _send(self, data: bytes, behaviour: Behaviour) -> None:
        stops = [n for n in (behaviour.cut_after, behaviour.hang_after) if n is not None]
        piece = behaviour.drip_size if behaviour.drip else 1 << 16
        sent = data[: min(stops)] if stops else data
        try:
            for at in range(0, len(sent), piece):
                self.wfile.write(sent[at : at + piece])
                self.owner.sent += len(sent[at : at + piece])
                if behaviour.drip and self.owner.closing.wait(behaviour.drip):
                    break
        except OSError:
            self.close_connection = True
            return
        if behaviour.hang_after is not None:
            self.owner.closing.wait()
        if stops:
            self.close_connection = True

    def _content_type(self, file: Path | None) -> str:
        name = file.name if file else ""
        ends = [end for end in self.owner.content_types if name.endswith(end)]
        return self.owner.content_types[max(ends, key=len)] if ends else "application/octet-stream"

    def _log(self, path: str, status: int) -> None:
        self.owner.log(Request(self.command, path, self.headers.get("Range"), status, dict(self.headers.items())))


def write_index(folder: Path, project: str, files: list[dict[str, object]]) -> None:
    """Write a project's page of a package index in its JSON form, below `folder/<project>/`; serve it as its own type:

    `server.content_types["index.json"] = "application/vnd.pypi.simple.v1+json"`.
    """
    page = folder / project / "index.json"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": files, "versions": []}))


def wait_until(condition, seconds: float = 10.0) -> None:
    """Wait for something that another thread or process does; fails when it doesn't."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
