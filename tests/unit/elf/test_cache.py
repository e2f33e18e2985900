"""ldconfig's files: its cache against what `ldconfig -p` prints, its configuration against a made-up tree."""

from __future__ import annotations

import contextlib
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvm.elf.cache import PATH, parse_cache
from cvm.elf.conf import ConfiguredFolder, read_conf
from cvm.elf.error import ElfError
from cvm.elf.files import Disk

LINE = re.compile(r"\t(\S.*) \(([^)]*)\) => (.*)")
LDCONFIG = shutil.which("ldconfig") or shutil.which("ldconfig", path="/sbin:/usr/sbin")


@pytest.mark.skipif(LDCONFIG is None or not Path(PATH).exists(), reason="needs ldconfig and its cache")
def test_agrees_with_ldconfig():
    told = subprocess.run([LDCONFIG, "-p"], capture_output=True, text=True, check=True).stdout
    expected = [(match[1], match[3]) for match in map(LINE.match, told.splitlines()) if match]
    cache = parse_cache(Path(PATH).read_bytes())
    found = [(one.name, one.path) for entries in cache.entries.values() for one in entries]
    assert sorted(found) == sorted(expected)


def entry(name, path, *, flags=0x0303, capability=0):
    return name, path, flags, capability


def cache_file(*entries, folders=(), old=False, order="<"):
    """Make a cache as ldconfig writes it."""
    front = b""
    if old:
        front = struct.pack("12sI", b"ld.so-1.7.0\0", 1) + struct.pack("iII", 3, 0, 0)
        front += b"\0" * (-len(front) % 8)
    strings, places = b"", {}
    base = 48 + 24 * len(entries)
    for text in dict.fromkeys([part for one in entries for part in one[:2]] + list(folders)):
        places[text] = base + len(strings)
        strings += text.encode() + b"\0"
    strings += b"\0" * (-len(strings) % 4)
    extension = base + len(strings)
    mark = {"<": 2, ">": 3}[order]
    head = b"glibc-ld.so.cache1.1" + struct.pack(order + "II", len(entries), len(strings)) + bytes([mark, 0, 0, 0])
    head += struct.pack(order + "I12x", extension if folders else 0)
    table = b"".join(
        struct.pack(order + "iIIIQ", flags, places[name], places[path], 0, capability)
        for name, path, flags, capability in entries
    )
    tail = struct.pack(order + "IIIIII", 0xEAA42174, 1, 1, 0, extension + 24, 4 * len(folders))
    tail += b"".join(struct.pack(order + "I", places[name]) for name in folders)
    return front + head + table + strings + (tail if folders else b"")


NAMED = 1 << 62
ENTRIES = (
    entry("libx.so.1", "/lib/v2/libx.so.1", capability=NAMED),
    entry("libx.so.1", "/lib/v3/libx.so.1", capability=NAMED | 1),
    entry("libx.so.1", "/lib/libx.so.1"),
    entry("libx.so.1", "/lib32/libx.so.1", flags=3),
)
FOLDERS = ("x86-64-v2", "x86-64-v3")


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("asked", "path"),
    [
        (("x86-64-v3", "x86-64-v2"), "/lib/v3/libx.so.1"),
        (("x86-64-v2",), "/lib/v2/libx.so.1"),
        ((), "/lib/libx.so.1"),
    ],
)
def test_the_best_folder_for_the_processor_wins(old, order, asked, path):
    cache = parse_cache(cache_file(*ENTRIES, folders=FOLDERS, old=old, order=order))
    assert cache.find("libx.so.1", 62, 64, asked) == path


def test_another_machine_and_older_capabilities_do_not_count():
    cache = parse_cache(
        cache_file(entry("libx.so", "/a/libx.so", capability=4), entry("liby.so", "/liby.so", flags=0x0A03))
    )
    assert cache.find("libx.so", 62, 64, ()) is None
    assert cache.find("liby.so", 62, 64, ()) is None
    assert cache.find("liby.so", 183, 64, ()) == "/liby.so"


@pytest.mark.parametrize("data", [b"", b"ld.so-1.7.0\0", b"glibc-ld.so.cache1.1", b"\0" * 100])
def test_what_is_no_cache_is_an_error(data):
    with pytest.raises(ElfError):
        parse_cache(data)


@given(st.data())
def test_a_damaged_cache_is_an_error_or_read(data):
    made = bytearray(cache_file(*ENTRIES, folders=FOLDERS, old=data.draw(st.booleans())))
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(made) - 1), st.integers(0, 255)), max_size=6)):
        made[place] = value
    with contextlib.suppress(ElfError):
        parse_cache(bytes(made[: data.draw(st.integers(0, len(made)))]))


def test_the_configuration_is_read_with_what_it_includes(tmp_path):
    etc = tmp_path / "etc"
    (etc / "ld.so.conf.d").mkdir(parents=True)
    (etc / "ld.so.conf").write_text("# first\ninclude ld.so.conf.d/*.conf\n/opt/last/\nhwcap 0 nosegneg\n/opt/a\n")
    (etc / "ld.so.conf.d/2.conf").write_text("/opt/b=libc6\n")
    (etc / "ld.so.conf.d/1.conf").write_text("\n/opt/a  # why\ninclude /etc/ld.so.conf\n")
    (etc / "ld.so.conf.d/.hidden.conf").write_text("/opt/hidden\n")
    (etc / "ld.so.conf.d/none.txt").write_text("/opt/none\n")
    assert read_conf(Disk(str(tmp_path))) == (
        ConfiguredFolder("/opt/a", "/etc/ld.so.conf.d/1.conf", 2),
        ConfiguredFolder("/opt/b", "/etc/ld.so.conf.d/2.conf", 1),
        ConfiguredFolder("/opt/last", "/etc/ld.so.conf", 3),
    )


def test_no_configuration_is_no_folder(tmp_path):
    assert read_conf(Disk(str(tmp_path))) == ()
