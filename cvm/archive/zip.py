"""Wheels and other zip archives, read from front to back.

A zip archive lists its members at its end, but states what unpacking needs before each of them as well. So members are
unpacked while they arrive, and the list is then compared with what came: an archive whose two accounts differ is
refused, for it means different things to different programs.

The checksums (CRC-32) of members are not compared: the sha256 of the whole archive is, by whoever feeds it.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING

from cvm.archive.inflate import TAKE, inflate
from cvm.archive.record import read_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.archive.feed import Feed
    from cvm.archive.tree import Tree

_LOCAL, _LISTED, _END64, _LOCATOR, _END = b"PK\3\4", b"PK\1\2", b"PK\6\6", b"PK\6\7", b"PK\5\6"
_DESCRIPTOR, _LONGEST_DESCRIPTOR = b"PK\7\x08", 24
_LOCAL_FIELDS = Struct("<HHHHHIIIHH")
_LISTED_FIELDS = Struct("<BBHHHHHIIIHHHHHII")
_END_FIELDS = Struct("<HHHHIIH")

_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 0x2041, 0x08, 0x800
_UNIX = 3
_IN_EXTRA = 0xFFFFFFFF


@dataclass(slots=True)
class _Member:
    """What the archive said of a member where its bytes are."""

    name: bytes
    flags: int
    method: int
    packed: int
    size: int
    path: str = ""

    @property
    def text(self) -> str:
        return self.name.decode("utf-8", "surrogateescape") if self.flags & _UTF8 else self.name.decode("cp437")

    @property
    def is_folder(self) -> bool:
        return self.name.endswith(b"/")


def read_zip(feed: Feed, tree: Tree) -> None:
    """Unpack a zip archive into a tree; raises IntegrityError."""
    members: dict[int, _Member] = {}
    while (offset := feed.position, signature := feed.exactly(4))[1] == _LOCAL:
        members[offset] = _read_member(feed, tree)
    _read_list(feed, tree, members, offset, signature)
    tree.set_hashes(read_record(tree.root, [member.path for member in members.values()]))


def _read_member(feed: Feed, tree: Tree) -> _Member:
    _, flags, method, _, _, _, packed, size, name_length, extra_length = _LOCAL_FIELDS.unpack(
        feed.exactly(_LOCAL_FIELDS.size)
    )
    name = feed.exactly(name_length)
    size, packed, _ = _large(feed, feed.exactly(extra_length), size, packed, 0)
    member = _Member(name, flags, method, packed, size)
    if flags & _ENCRYPTED:
        raise tree.unsafe(f"{member.text} is encrypted")
    if member.is_folder:
        tree.folder(member.text)
        for _ in _contents(feed, tree, member):
            raise tree.unsafe(f"the folder {member.text} has contents")
    else:
        member.path = tree.file(member.text, _contents(feed, tree, member)).path
    return member


def _contents(feed: Feed, tree: Tree, member: _Member) -> Iterator[bytes | memoryview]:
    """Yield a member's bytes, and see that they are as many as was said, before or after them."""
    follow = bool(member.flags & _SIZES_FOLLOW)
    start, size = feed.position, 0
    if member.method == _DEFLATED:
        blocks: Iterator[bytes | memoryview] = inflate(feed, None if follow else member.packed)
    elif member.method == _STORED and (not follow or member.is_folder):
        blocks = _stored(feed, member.packed)
    elif member.method == _STORED:
        raise tree.unsafe(f"{member.text} is stored without its size, which can't be read as a stream")
    else:
        raise tree.unsafe(f"{member.text} is compressed by the unknown method {member.method}")
    for block in blocks:
        size += len(block)
        yield block
    if follow:
        member.packed, member.size = feed.position - start, size
        _skip_descriptor(feed, member)
    elif size != member.size:
        raise feed.damaged(f"{member.text} has {size} bytes instead of {member.size}")


def _stored(feed: Feed, left: int) -> Iterator[memoryview]:
    while left:
        block = feed.some(min(left, TAKE))
        if not block:
            raise feed.cut_off()
        left -= len(block)
        yield block


def _skip_descriptor(feed: Feed, member: _Member) -> None:
    """Skip the sizes after a member: with or without a signature, of 4 or 8 bytes; they must be those that were met."""
    data = feed.exactly(_LONGEST_DESCRIPTOR + 2)
    for signature in (4, 0):
        for width in (4, 8):
            begin, end = signature + 4, signature + 4 + 2 * width
            sizes = member.packed.to_bytes(8, "little")[:width] + member.size.to_bytes(8, "little")[:width]
            fits = data[begin:end] == sizes and data.startswith(_DESCRIPTOR[:signature])
            # Small sizes fit both widths: what follows is a signature again.
            if fits and data[end : end + 2] == _LOCAL[:2]:
                feed.put_back(data[end:])
                return
    raise feed.damaged(f"the sizes after {member.text} are wrong")


def _large(feed: Feed, extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Take the numbers that don't fit in 32 bits from the extra field."""
    numbers = _zip64(feed, extra)
    found = []
    for number in (size, packed, offset):
        if number == _IN_EXTRA:
            if len(numbers) < 8:
                raise feed.damaged("a size is missing")
            found.append(int.from_bytes(numbers[:8], "little"))
            numbers = numbers[8:]
        else:
            found.append(number)
    return found[0], found[1], found[2]


def _zip64(feed: Feed, extra: bytes) -> bytes:
    while len(extra) >= 4:
        kind, length = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        if len(extra) < 4 + length:
            raise feed.damaged("an extra field is cut off")
        if kind == 1:
            return extra[4 : 4 + length]
        extra = extra[4 + length :]
    return b""


def _read_list(feed: Feed, tree: Tree, members: dict[int, _Member], start: int, signature: bytes) -> None:
    """Read the list of members at the end and compare it with those that came."""
    listed: set[int] = set()
    modes: dict[str, int] = {}
    while signature == _LISTED:
        offset, mode = _read_listed(feed, members)
        if offset in listed:
            raise feed.damaged("its list names a member twice")
        listed.add(offset)
        member = members[offset]
        if not member.is_folder:
            modes[member.path] = mode
        signature = feed.exactly(4)
    if listed != members.keys():
        raise feed.damaged("its list does not name all members")
    _set_kinds(tree, modes)
    _read_end(feed, signature, len(members), start)


def _read_listed(feed: Feed, members: dict[int, _Member]) -> tuple[int, int]:
    fields = _LISTED_FIELDS.unpack(feed.exactly(_LISTED_FIELDS.size))
    _, system, _, _, method, _, _, _, packed, size, name_length, extra_length, comment_length = fields[:13]
    attributes, offset = fields[15:]
    name = feed.exactly(name_length)
    size, packed, offset = _large(feed, feed.exactly(extra_length), size, packed, offset)
    feed.exactly(comment_length)
    member = members.get(offset)
    if member is None or (member.name, member.method, member.packed, member.size) != (name, method, packed, size):
        raise feed.damaged(f"its list and its members differ in {name.decode('utf-8', 'replace')}")
    return offset, attributes >> 16 if system == _UNIX else 0


def _set_kinds(tree: Tree, modes: dict[str, int]) -> None:
    for path, mode in modes.items():
        if stat.S_ISLNK(mode):
            tree.become_link(path)
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise tree.unsafe(f"{path} is neither a file nor a link")
    tree.set_modes({path: stat.S_IMODE(mode) for path, mode in modes.items() if not stat.S_ISLNK(mode)})


def _read_end(feed: Feed, signature: bytes, count: int, start: int) -> None:
    if signature == _END64:
        feed.exactly(int.from_bytes(feed.exactly(8), "little"))
        if feed.exactly(4) != _LOCATOR:
            raise feed.damaged("the end of its list is missing")
        feed.exactly(16)
        signature = feed.exactly(4)
    if signature != _END:
        raise feed.damaged("it is not a zip archive" if not count else f"unknown bytes at {feed.position - 4}")
    _, _, _, total, _, offset, comment_length = _END_FIELDS.unpack(feed.exactly(_END_FIELDS.size))
    if total not in (count, 0xFFFF) or offset not in (start, _IN_EXTRA):
        raise feed.damaged("its list is not where its end says")
    feed.exactly(comment_length)
    if feed.some(1):
        raise feed.damaged("it has bytes after its end")
