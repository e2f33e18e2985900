"""The reader against pyelftools, on whatever ELF files this machine has."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from cvm.elf.elf import Elf
from cvm.elf.error import ElfError
from cvm.elf.files import Disk
from cvm.elf.hashes import gnu_hash, system_v_hash
from tests.unit.elf.tiny import tiny

elffile = pytest.importorskip("elftools.elf.elffile")
dynamic = pytest.importorskip("elftools.elf.dynamic")
gnuversions = pytest.importorskip("elftools.elf.gnuversions")
exceptions = pytest.importorskip("elftools.common.exceptions")

# A folder of unpacked NVIDIA wheels, torch or the like: all of it is read.
FOLDER = "CVM_TEST_LIBRARIES"
GIVEN = os.environ.get(FOLDER)
PLACES = ("/usr/lib", "/usr/lib64", "/usr/bin", *sys.path)


def elf_files(place):
    return [path for path in sorted(Path(place).rglob("*")) if is_elf(path)]


def is_elf(path):
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            start = file.read(20)
    except OSError:
        return False
    return start[:4] == b"\x7fELF" and start[16:18] in (b"\2\0", b"\3\0", b"\0\2", b"\0\3")


def sample():
    files = {path.resolve() for place in PLACES if Path(place).is_dir() for path in elf_files(place)}
    small = sorted(path for path in files if path.stat().st_size < 2 << 20)
    return random.Random(1).sample(small, min(50, len(small)))


def read(path):
    return Disk().elf(str(path))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs ELF files")
def test_agrees_with_pyelftools_on_this_machine():
    files = sample()
    assert files
    for path in files:
        assert ours(read(path)) == theirs(path), path


@pytest.mark.skipif(not GIVEN, reason=f"{FOLDER} names no folder")
def test_agrees_with_pyelftools_on_the_given_folder():
    files = elf_files(GIVEN)
    assert files
    for path in files:
        assert ours(read(path)) == theirs(path), path


def ours(elf):
    """Gather what both readers can tell, in one shape."""
    image, entries = elf.image, elf.dynamic
    segments = [(one.offset, one.address, one.file_size, one.memory_size, one.flags) for one in image.segments]
    if entries is None:
        return image.layout.bits, image.machine, elf.interpreter, segments, None
    lists = entries.soname, entries.needed, entries.rpath, entries.runpath, entries.flags, entries.flags_1
    needed = [(one.file.decode(), one.name.decode(), one.number) for one in elf.versions.needed]
    defined = [(one.name.decode(), one.number) for one in elf.versions.defined]
    undefined = {(one.name.decode(), text(one.version), one.weak) for one in elf.undefined}
    offered = {(one.name.decode(), text(one.version), one.weak) for one in elf.symbols.defined()}
    used = sorted({elf.symbols.name(one.symbol).decode() for one in elf.references()})
    return (
        image.layout.bits,
        image.machine,
        elf.interpreter,
        segments,
        (lists, needed, defined, undefined, offered, used),
    )


def theirs(path):
    with path.open("rb") as file:
        elf = elffile.ELFFile(file)
        segments = [
            (one["p_offset"], one["p_vaddr"], one["p_filesz"], one["p_memsz"], one["p_flags"])
            for one in elf.iter_segments()
        ]
        interpreter = next((one.get_interp_name() for one in elf.iter_segments("PT_INTERP")), None)
        part = next((one for one in elf.iter_segments("PT_DYNAMIC") if one["p_filesz"]), None)
        return elf.elfclass, elf["e_machine"] and machine(elf), interpreter, segments, part and dynamic_part(elf, part)


def machine(elf):
    elf.stream.seek(18)
    return int.from_bytes(elf.stream.read(2), "little" if elf.little_endian else "big")


def dynamic_part(elf, part):
    tags = list(part.iter_tags())

    def last(name, field, default):
        return next((getattr(tag, field) for tag in reversed(tags) if tag.entry.d_tag == name), default)

    runpath = last("DT_RUNPATH", "runpath", None)
    lists = (
        last("DT_SONAME", "soname", None),
        tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        None if runpath is not None else last("DT_RPATH", "rpath", None),
        runpath,
        next((tag.entry.d_val for tag in tags if tag.entry.d_tag == "DT_FLAGS"), 0),
        next((tag.entry.d_val for tag in tags if tag.entry.d_tag == "DT_FLAGS_1"), 0),
    )
    needed, defined = versions(elf, gnuversions.GNUVerNeedSection), versions(elf, gnuversions.GNUVerDefSection)
    nodes = {node: name for *_, name, node in needed} | {node: name for name, node, base in defined if not base}
    undefined, offered, names = symbols(elf, nodes, bool(needed or defined))
    used = sorted(referenced(elf, names))
    # What no relocation names can't be told apart from nothing where no symbol is hashed.
    return lists, needed, [(name, node) for name, node, _ in defined], undefined, offered, used


def versions(elf, kind):
    found = []
    for section in elf.iter_sections():
        if type(section) is kind:
            for head, nodes in section.iter_versions():
                listed = list(nodes)
                if kind is gnuversions.GNUVerNeedSection:
                    found += [(head.name, one.name, one["vna_other"] & 0x7FFF) for one in listed]
                else:
                    found.append((listed[0].name, head["vd_ndx"] & 0x7FFF, bool(head["vd_flags"] & 1)))
    return found


def symbols(elf, nodes, versioned):
    table, numbers = elf.get_section_by_name(".dynsym"), elf.get_section_by_name(".gnu.version")
    undefined, offered, names = set(), set(), []
    for index, one in enumerate(table.iter_symbols() if table else ()):
        names.append(one.name)
        info, where = one["st_info"], one["st_shndx"]
        if info["bind"] == "STB_LOCAL" or one["st_other"]["visibility"] in ("STV_HIDDEN", "STV_INTERNAL"):
            continue
        node = numbers.get_symbol(index)["ndx"] if numbers and versioned else None
        version = nodes.get(node & 0x7FFF) if isinstance(node, int) else None
        entry = one.name, version, info["bind"] == "STB_WEAK"
        if where == "SHN_UNDEF":
            undefined.add(entry)
        elif info["type"] not in ("STT_SECTION", "STT_FILE") and (
            one["st_value"] or where == "SHN_ABS" or info["type"] == "STT_TLS"
        ):
            offered.add(entry)
    return undefined, offered, names


def referenced(elf, names):
    used = set()
    for name in (".rela.dyn", ".rela.plt", ".rel.dyn", ".rel.plt"):
        section = elf.get_section_by_name(name)
        for one in section.iter_relocations() if section else ():
            if one["r_info_sym"] and one["r_info_type"]:
                used.add(names[one["r_info_sym"]])
    return used


def text(value):
    return None if value is None else value.decode()


def test_every_symbol_that_a_library_offers_is_found_by_its_hash():
    elf = read(next(path for path in sample() if b"libc.so.6" in path.read_bytes() and "so" in path.name))
    for one in elf.symbols.defined():
        if not one.default:
            continue
        assert elf.symbols.defines(one.name, gnu_hash(one.name), one.version)
        assert not elf.symbols.defines(one.name + b"?", gnu_hash(one.name + b"?"), one.version)


@pytest.mark.parametrize(
    ("name", "gnu", "older"),
    [
        (b"", 0x1505, 0),
        (b"printf", 0x156B2BB8, 0x077905A6),
        (b"exit", 0x7C967E3F, 0x0006CF04),
        (b"syscall", 0xBAC212A0, 0x0B09985C),
    ],
)
def test_hashes_are_those_of_the_specification(name, gnu, older):
    assert (gnu_hash(name), system_v_hash(name)) == (gnu, older)


def test_a_long_name_has_the_same_hash_as_by_hand():
    for length in (1, 511, 512, 513, 2000):
        name = bytes(1 + index * 7 % 255 for index in range(length))
        value = 5381
        for byte in name:
            value = (value * 33 + byte) & 0xFFFFFFFF
        assert gnu_hash(name) == value


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n" * 20, b"\x7fELF\3\1\1" + b"\0" * 80])
def test_what_is_no_elf_file_is_an_error_with_its_name(data):
    with pytest.raises(ElfError, match=r"^some/file: "):
        Elf(data, "some/file").image  # noqa: B018


def test_a_program_of_musls_is_recognised():
    for words in ((b"libc.musl-x86_64.so.1",), (b"libz.so.1", b"libc.so")):
        assert Elf(tiny(words), "x").musl
    assert not Elf(tiny((b"libc.so.6", b"libz.so.1")), "x").musl


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["little", "big"])
def test_every_class_and_byte_order_is_read(bits, order):
    elf = Elf(tiny((b"libone.so", b"libtwo.so"), bits=bits, order=order), "x")
    assert elf.dynamic is not None
    assert elf.dynamic.needed == ("libone.so", "libtwo.so")
