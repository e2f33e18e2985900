"""A forward proxy for plain HTTP on 127.0.0.1; `seen` is a log of the URLs that went through it."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Proxy:
    """Passes requests on until it is closed."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    owner: Proxy

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._pass_on()

    def do_GET(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        self.owner.seen.append(self.path)
        target = urlsplit(self.path)
        connection = http.client.HTTPConnection(target.netloc)
        headers = {name: value for name, value in self.headers.items() if not name.lower().startswith("proxy-")}
        connection.request(self.command, target.path or "/", headers={**headers, "Connection": "close"})
        answer = connection.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.read())
        connection.close()
