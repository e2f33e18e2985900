"""ELF files of a few hundred bytes, made without a compiler: they need libraries, and define nothing."""

from __future__ import annotations

X86_64, AARCH64 = 62, 183


def tiny(
    needed=(), *, soname=None, rpath=None, runpath=None, interpreter=None, machine=X86_64, bits=64, order="little"
):
    """Make a file with a dynamic section; with an interpreter it is a program."""
    word = bits // 8
    wanted = [(1, name) for name in needed]
    wanted += [(tag, text.encode()) for tag, text in ((14, soname), (15, rpath), (29, runpath)) if text is not None]
    strings = b"\0" + b"".join(text + b"\0" for _, text in wanted)
    start = 64 + 3 * 56
    size = 2 * word * (len(wanted) + 3)
    entries = [(tag, strings.index(b"\0" + text + b"\0") + 1) for tag, text in wanted]
    entries += [(5, start + size), (10, len(strings)), (0, 0)]
    table = b"".join(value.to_bytes(word, order) for entry in entries for value in entry)
    last = start + size + len(strings)
    name = b"" if interpreter is None else interpreter.encode() + b"\0"
    parts = [(1, 0, last), (2, start, size)] + ([(3, last, len(name))] if name else [])
    head = b"\x7fELF" + bytes([bits // 32, 1 if order == "little" else 2, 1]) + b"\0" * 9
    numbers = [(3, 2), (machine, 2), (1, 4), (0, word), (52 if bits == 32 else 64, word), (0, word), (0, 4), (0, 2)]
    numbers += [(56 if bits == 64 else 32, 2), (len(parts), 2), (0, 2), (0, 2), (0, 2)]
    head += b"".join(value.to_bytes(width, order) for value, width in numbers)
    segments = b"".join(_segment(*part, bits, order) for part in parts)
    return (head + segments).ljust(start, b"\0") + table + strings + name


def _segment(kind, offset, size, bits, order):
    if bits == 64:
        fields = [(kind, 4), (4, 4), *((value, 8) for value in (offset, offset, offset, size, size, 8))]
    else:
        fields = [(value, 4) for value in (kind, offset, offset, offset, size, size, 4, 4)]
    return b"".join(value.to_bytes(width, order) for value, width in fields)
