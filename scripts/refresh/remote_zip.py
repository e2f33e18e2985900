"""A zip archive on a server, of which only the parts that are asked for are fetched."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from cvm.errors import NetworkError
from cvm.sources.index import answering, redacted

if TYPE_CHECKING:
    import requests

    from cvm.sources.index import IndexFile

# Most wheels' directories fit into this.
_TAIL = 64 * 1024
_TIMEOUT = (15.0, 60.0)


def open_remote_zip(session: requests.Session, file: IndexFile) -> zipfile.ZipFile:
    """Open a zip archive by reading its end; raises NetworkError where the server can't give a part of a file."""
    try:
        return zipfile.ZipFile(_RemoteFile(session, file.url, file.size or 0))
    except zipfile.BadZipFile as error:
        raise NetworkError(f"{redacted(file.url)} is not a zip archive") from error


class _RemoteFile(io.RawIOBase):
    """A file on a server that can be read at any place. The end is read once and kept."""

    def __init__(self, session: requests.Session, url: str, size: int) -> None:
        self._session = session
        self._url = url
        self._size = size
        self._position = 0
        self._start = max(size - _TAIL, 0)
        self._kept = self._fetch(self._start, size)

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._position + size, self._size)
        data = self._bytes(self._position, end) if end > self._position else b""
        self._position += len(data)
        return data

    def _bytes(self, start: int, end: int) -> bytes:
        if start < self._start:
            # The directory is longer than the tail: from here on everything is wanted.
            self._kept = self._fetch(start, self._start) + self._kept if end >= self._start else self._kept
            if end < self._start:
                return self._fetch(start, end)
            self._start = start
        return self._kept[start - self._start : end - self._start]

    def _fetch(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        server = redacted(self._url)
        with answering(server):
            # `stream`: a server that ignores the range must not make us read 700 MB.
            headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
            with self._session.get(self._url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
                response.raise_for_status()
                if response.status_code == 200 and (start, end) != (0, self._size):
                    raise NetworkError(f"{server} does not serve parts of a file")
                data = response.content
        if len(data) != end - start:
            raise NetworkError(f"{server} answers {len(data)} bytes, not the {end - start} that were asked for")
        return data
