"""Libraries damaged on purpose."""

from __future__ import annotations


def other_class(world, path):
    data = bytearray((world.root / path).read_bytes())
    data[4] = 1
    return bytes(data)


def other_machine(world, path):
    data = bytearray((world.root / path).read_bytes())
    data[18] = 183 if data[18] != 183 else 62
    return bytes(data)


def erase_dynamic(data):
    """Turn the dynamic segment's header into one that means nothing."""
    start, count = int.from_bytes(data[32:40], "little"), int.from_bytes(data[56:58], "little")
    for place in range(start, start + 56 * count, 56):
        if data[place] == 2:
            data[place : place + 4] = (0x6FFFFFFF).to_bytes(4, "little")


def rename_needed(world, path, old, new):
    """Point an entry of NEEDED into the middle of its string."""
    data = bytearray((world.root / path).read_bytes())
    place = data.index(old.encode() + b"\0")
    table = data.rindex(b"\0\0", 0, place) + 1
    for entry in range(0, len(data) - 16, 8):
        tag, value = (int.from_bytes(data[entry + at : entry + at + 8], "little") for at in (0, 8))
        if tag == 1 and value and bytes(data[table + value : table + value + len(old) + 1]) == old.encode() + b"\0":
            data[entry + 8 : entry + 16] = (value + len(old) - len(new)).to_bytes(8, "little")
    world.write(path, bytes(data))
