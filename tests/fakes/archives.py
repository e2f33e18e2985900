"""Tiny archives for tests, the same bytes each time: good ones, and such as should be refused."""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import struct
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DATE = (2023, 4, 19, 0, 0, 0)


@dataclass(frozen=True)
class Made:
    """An archive's name and bytes."""

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def size(self) -> int:
        return len(self.data)


def pseudo_random(size: int, seed: int = 0) -> bytes:
    """Bytes that don't compress, the same for the same seed."""
    return hashlib.shake_128(seed.to_bytes(4, "big")).digest(size)


def wheel(name: str, version: str, files: Mapping[str, bytes], *, modes: Mapping[str, int] | None = None) -> Made:
    """A wheel with METADATA, WHEEL and a RECORD of `files`, whose modes are 0644 unless said otherwise."""
    info = f"{name}-{version}.dist-info"
    everything = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_record_hash(data)},{len(data)}\n" for path, data in everything.items())
    everything[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    filename = f"{name}-{version}-py3-none-manylinux1_x86_64.whl"
    return Made(
        filename, zip_bytes([member(path, data, (modes or {}).get(path, 0o644)) for path, data in everything.items()])
    )


def member(path: str, data: bytes = b"", mode: int = 0o644, *, method: int = zipfile.ZIP_DEFLATED):
    """A member for `zip_bytes`."""
    info = zipfile.ZipInfo(path, _DATE)
    info.compress_type = method
    info.create_system = 3
    kind = mode if stat.S_IFMT(mode) else mode | stat.S_IFREG
    info.external_attr = kind << 16
    return info, data


def symlink(path: str, target: str):
    """A symbolic link for `zip_bytes`."""
    return member(path, target.encode(), stat.S_IFLNK | 0o777, method=zipfile.ZIP_STORED)


def zip_bytes(
    members: Sequence[tuple[zipfile.ZipInfo, bytes]], *, streamed: bool = False, zip64: bool = False
) -> bytes:
    """A zip archive; `streamed` puts sizes after the members, `zip64` writes 64-bit sizes."""
    target = _Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for info, data in members:
            with archive.open(info, "w", force_zip64=zip64) as file:
                file.write(data)
    return target.getvalue()


class _Unseekable(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise io.UnsupportedOperation("tell")

    def seek(self, *_: object) -> int:
        raise io.UnsupportedOperation("seek")


def without_signatures(data: bytes) -> bytes:
    """A streamed zip archive of one member whose sizes have no signature in front."""
    at = data.index(b"PK\7\x08")
    return _moved_end(data[:at] + data[at + 4 :], -4)


def _moved_end(data: bytes, by: int) -> bytes:
    at = data.rindex(b"PK\5\6") + 16
    offset = int.from_bytes(data[at : at + 4], "little") + by
    return data[:at] + struct.pack("<I", offset) + data[at + 4 :]


def tar_bytes(
    members: Sequence[tuple[tarfile.TarInfo, bytes]], compression: str = "", *, form: int = tarfile.PAX_FORMAT
) -> bytes:
    """A tar archive; `compression` is "", "gz" or "xz"."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=f"w:{compression}", format=form) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def tar_member(path: str, data: bytes = b"", mode: int = 0o644, *, kind: bytes = tarfile.REGTYPE, target: str = ""):
    """A member for `tar_bytes`."""
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.size, info.linkname = kind, mode, len(data), target
    return info, data


def redist_archive(
    component: str, version: str, files: Mapping[str, bytes], links: Mapping[str, str] | None = None
) -> Made:
    """An archive as NVIDIA ships them: a tar.xz with one folder; files in `bin` are executable."""
    top = f"{component}-linux-x86_64-{version}-archive"
    members = [tar_member(top, mode=0o755, kind=tarfile.DIRTYPE)]
    for path, data in files.items():
        members.append(tar_member(f"{top}/{path}", data, 0o755 if path.startswith("bin/") else 0o644))
    for path, target in (links or {}).items():
        members.append(tar_member(f"{top}/{path}", kind=tarfile.SYMTYPE, target=target))
    return Made(f"{top}.tar.xz", tar_bytes(members, "xz"))


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _zip(*members: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    return zip_bytes(members)


def _patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _encrypted() -> bytes:
    data = _zip(member("a", b"secret"))
    listed = data.index(b"PK\1\2")
    return _patched(_patched(data, 6, b"\1"), listed + 8, b"\1")


def _unknown_method() -> bytes:
    data = _zip(member("a", b"text"))
    return _patched(_patched(data, 8, b"\x0e"), data.index(b"PK\1\2") + 10, b"\x0e")


def _renamed_in_list() -> bytes:
    data = _zip(member("harmless", b"text"))
    return _patched(data, data.index(b"PK\1\2") + 46, b"harmfull")


def _left_out_of_list() -> bytes:
    both, one = _zip(member("a", b"1"), member("b", b"2")), _zip(member("a", b"1"))
    start, end = both.index(b"PK\1\2"), one.index(b"PK\1\2")
    return _moved_end(both[:start] + one[end:], start - end)


def _nul_name() -> bytes:
    data = _zip(member("aXb", b"text"))
    return data.replace(b"aXb", b"a\0b")


HOSTILE_ZIPS: dict[str, tuple[bytes, str]] = {
    "absolute": (_zip(member("/etc/passwd", b"x")), "'/etc/passwd' has an absolute name"),
    "parent": (_zip(member("a/../../b", b"x")), "'a/../../b' holds `..`"),
    "NUL": (_nul_name(), r"'a\x00b' holds a NUL"),
    "twice": (_zip(member("a", b"1"), member("./a", b"2")), "a is in it twice"),
    "file below a file": (_zip(member("a", b"1"), member("a/b", b"2")), "a is a folder and a file"),
    "file over a folder": (_zip(member("a/b", b"1"), member("a", b"2")), "a is a folder and a file"),
    "link out": (_zip(symlink("a/b", "../../c")), "the link a/b -> ../../c leads out of it, or in a circle"),
    "absolute link": (_zip(symlink("a", "/etc")), "the target '/etc' of the link a is absolute"),
    "link through a link": (
        _zip(symlink("a/b", "../c"), symlink("a/d", "b/../.."), member("c/e", b"x")),
        "the link a/d -> b/../.. leads out of it, or in a circle",
    ),
    "links in a circle": (
        _zip(symlink("a", "b"), symlink("b", "a")),
        "the link a -> b leads out of it, or in a circle",
    ),
    "write through a link": (_zip(symlink("a", "b"), member("a/c", b"x")), "a is a folder and a file"),
    "set-user-ID": (_zip(member("a", b"x", 0o4755)), "a has a set-user-ID or set-group-ID bit"),
    "fifo": (_zip(member("a", b"", stat.S_IFIFO | 0o644)), "a is neither a file nor a link"),
    "encrypted": (_encrypted(), "a is encrypted"),
    "unknown method": (_unknown_method(), "a is compressed by the unknown method 14"),
    "stored without size": (
        zip_bytes([member("a", b"text", method=zipfile.ZIP_STORED)], streamed=True),
        "a is stored without its size, which can't be read as a stream",
    ),
    "list with another name": (_renamed_in_list(), "its list and its members differ in harmfull"),
    "list without a member": (_left_out_of_list(), "its list does not name all members"),
    "bytes after the end": (_zip(member("a", b"x")) + b"more", "it has bytes after its end"),
    "bytes before the start": (b"#!/bin/sh\n" + _zip(member("a", b"x")), "it is not a zip archive"),
    "long name": (_zip(member("a" * 300, b"x")), f"'{'a' * 300}' is too long"),
}

HOSTILE_TARS: dict[str, tuple[bytes, str]] = {
    "absolute": (tar_bytes([tar_member("/etc/passwd", b"x")]), "'/etc/passwd' has an absolute name"),
    "parent": (tar_bytes([tar_member("a/../../b", b"x")]), "'a/../../b' holds `..`"),
    "twice": (tar_bytes([tar_member("a", b"1"), tar_member("a", b"2")]), "a is in it twice"),
    "file below a file": (tar_bytes([tar_member("a", b"1"), tar_member("a/b", b"2")]), "a is a folder and a file"),
    "write through a link": (
        tar_bytes([tar_member("a", kind=tarfile.SYMTYPE, target="b"), tar_member("a/c", b"x")]),
        "a is a folder and a file",
    ),
    "link out": (
        tar_bytes([tar_member("a/b", kind=tarfile.SYMTYPE, target="../../c")]),
        "the link a/b -> ../../c leads out of it, or in a circle",
    ),
    "absolute link": (
        tar_bytes([tar_member("a", kind=tarfile.SYMTYPE, target="/etc/passwd")]),
        "the target '/etc/passwd' of the link a is absolute",
    ),
    "hard link out": (
        tar_bytes([tar_member("a", kind=tarfile.LNKTYPE, target="../b")]),
        "'../b' holds `..`",
    ),
    "hard link to nothing": (
        tar_bytes([tar_member("a", kind=tarfile.LNKTYPE, target="b")]),
        "a is a hard link to b, which is not in it",
    ),
    "device": (tar_bytes([tar_member("a", kind=tarfile.CHRTYPE)]), "a is neither a file, a folder nor a link"),
    "fifo": (tar_bytes([tar_member("a", kind=tarfile.FIFOTYPE)]), "a is neither a file, a folder nor a link"),
    "set-group-ID": (tar_bytes([tar_member("a", b"x", 0o2755)]), "a has a set-user-ID or set-group-ID bit"),
}
