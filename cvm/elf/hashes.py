"""The hash tables through which the loader finds a symbol, and their hashes."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING

from cvm.elf.dynamic import GNU_HASH, HASH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cvm.elf.image import Image

# No chain of a real table is nearly as long; a loop in a damaged one must end.
_LONGEST_CHAIN = 16384


def hash_table(image: Image, tags: Mapping[int, int]) -> NoTable | GnuTable | SystemVTable:
    """Return the table that the loader uses: the newer one where a file has both."""
    if GNU_HASH in tags:
        return GnuTable(image, tags[GNU_HASH])
    return SystemVTable(image, tags[HASH]) if HASH in tags else NoTable()


def _chains(image: Image, address: int) -> Sequence[int]:
    """Return the chains: there are none behind the buckets of a table without symbols at the end of a segment."""
    if not any(0 <= address - load.address < load.file_size for load in image.loads):
        return ()
    return image.words(address, None, "I", "hash table's chains")


class NoTable:
    """The hash table of a file that has none: the loader finds nothing in it."""

    first = 0
    is_empty = True

    def candidates(self, _name: bytes, _hashed: int) -> Sequence[int]:
        """Return nothing."""
        return ()

    def size(self) -> int:
        """Return the number of symbols that a hash could lead to."""
        return 0


class GnuTable:
    """The newer table: a filter in front, then buckets of neighbouring symbols."""

    def __init__(self, image: Image, address: int) -> None:
        self.image = image
        buckets, self.first, blooms, self.shift = image.words(address, 4, "I", "hash table")
        self.bits = image.layout.bits
        if not blooms or blooms & (blooms - 1):
            raise image.error("the hash table's filter has no usable size")
        self.mask = blooms - 1
        self.bloom = image.words(address + 16, blooms, "Q" if self.bits == 64 else "I", "hash table's filter")
        place = address + 16 + blooms * self.bits // 8
        self.buckets = image.words(place, buckets, "I", "hash table's buckets") if buckets else ()
        self.count = buckets
        self.chains = _chains(image, place + 4 * buckets)
        # Then the table does not know where the undefined symbols end.
        self.is_empty = not any(self.buckets)

    def candidates(self, _name: bytes, hashed: int) -> Sequence[int]:
        """Return the symbols of this hash; nearly always none, by the filter."""
        bits = self.bits
        word = self.bloom[hashed // bits & self.mask]
        if not word >> hashed % bits & word >> (hashed >> self.shift) % bits & 1 or not self.count:
            return ()
        index = self.buckets[hashed % self.count]
        return self._walk(index, hashed) if index else ()

    def _walk(self, index: int, hashed: int) -> Sequence[int]:
        found: list[int] = []
        chains, first = self.chains, self.first
        position = index - first
        if position < 0:
            raise self.image.error("the hash table points before its first symbol")
        for here in range(position, min(position + _LONGEST_CHAIN, len(chains))):
            value = chains[here]
            if not (value ^ hashed) >> 1:
                found.append(here + first)
            if value & 1:
                return found
        raise self.image.error("a chain of the hash table does not end")

    def size(self) -> int:
        """Return the number of symbols: behind the end of the chain that starts last."""
        last = max(self.buckets, default=0)
        if last < self.first:
            return self.first
        for here in range(last - self.first, min(last - self.first + _LONGEST_CHAIN, len(self.chains))):
            if self.chains[here] & 1:
                return here + self.first + 1
        raise self.image.error("the last chain of the hash table does not end")


class SystemVTable:
    """The older table: buckets of linked symbols."""

    is_empty = False

    def __init__(self, image: Image, address: int) -> None:
        self.image = image
        buckets, chains = image.words(address, 2, "I", "hash table")
        self.buckets = image.words(address + 8, buckets, "I", "hash table's buckets") if buckets else ()
        self.chains = image.words(address + 8 + 4 * buckets, chains, "I", "hash table's chains") if chains else ()
        # Nothing says where the defined symbols start: all of them may be undefined.
        self.first = chains

    def candidates(self, name: bytes, _hashed: int) -> Sequence[int]:
        """Return the symbols in the bucket of this name."""
        found: list[int] = []
        if not self.buckets:
            return found
        index = self.buckets[system_v_hash(name) % len(self.buckets)]
        for _ in range(_LONGEST_CHAIN):
            if not index:
                return found
            found.append(index)
            if index >= len(self.chains):
                break
            index = self.chains[index]
        raise self.image.error("a chain of the hash table does not end")

    def size(self) -> int:
        """Return the number of symbols."""
        return self.first


_MASK = 0xFFFFFFFF
# The powers of 33 for names by length: a sum in C is five times faster than a loop in Python.
_POWERS = tuple(pow(33, exponent, 1 << 32) for exponent in range(511, -1, -1))
_BY_LENGTH: dict[int, tuple[int, ...]] = {}


def gnu_hash(name: bytes) -> int:
    """Return the hash of a name that GNU hash tables use."""
    length = len(name)
    if length > 512:
        value = 5381
        for byte in name:
            value = (value * 33 + byte) & _MASK
        return value
    powers = _BY_LENGTH.get(length)
    if powers is None:
        powers = _BY_LENGTH[length] = _POWERS[512 - length :]
    total: int = 5381 * pow(33, length, 1 << 32) + sum(map(mul, name, powers))
    return total & _MASK


def system_v_hash(name: bytes) -> int:
    """Return the hash of a name that the older hash tables use."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & _MASK
    return value
