"""Damaged files: one error with a reason, soon; never a crash, and never much memory."""

from __future__ import annotations

import shutil
import subprocess
import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvm.elf.elf import Elf
from cvm.elf.error import ElfError
from cvm.elf.hashes import gnu_hash

CODE = """
int none(void); extern int other; int *p = &other;
int f(void) { return none(); } int g(void) { return 2; } const char *name = "libmore.so.1";
"""


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("originals")
    (folder / "map").write_text("V1 { f; g; };")
    made = []
    for style in ("gnu", "sysv"):
        target = folder / f"lib{style}.so"
        options = [f"-Wl,--hash-style={style}", f"-Wl,--version-script={folder}/map", "-Wl,-rpath,$ORIGIN", "-lm"]
        words = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", *options, "-o", str(target)]
        subprocess.run(words, input=CODE, text=True, check=True)
        made.append(target.read_bytes())
    return made


def read_all(data):
    """Read every part there is; returns whether that went well, or failed without the file's name."""
    elf = Elf(data, "damaged.so")
    try:
        for part in ("image", "dynamic", "interpreter", "versions", "symbols", "undefined", "dlopen_names", "musl"):
            getattr(elf, part)
        list(elf.references())
        list(elf.symbols.defined())
        for name in (b"f", b"g", b"none"):
            elf.symbols.defines(name, gnu_hash(name), b"V1")
            elf.symbols.defines(name, gnu_hash(name), None)
    except ElfError as error:
        return not error.message.startswith("damaged.so: ")
    return True


def test_whole_files_are_read(originals):
    assert [read_all(data) for data in originals] == [True, True]


def test_every_truncation_is_survived(originals):
    for data in originals:
        for length in [*range(1200), *range(1200, len(data), 97)]:
            read_all(data[:length])


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 1), changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8)
)
def test_changed_bytes_are_survived(originals, which, changes):
    data = bytearray(originals[which])
    for place, value in changes:
        # The parts that are read lie in front and at the dynamic section, which is far behind.
        data[int(place**3 * (len(data) - 1))] = value
    read_all(bytes(data))


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 1),
    tag=st.integers(0, 40),
    field=st.integers(0, 1),
    value=st.sampled_from([0, 1, 8, 0x1000, 0x3000, 2**31, 2**32 - 1, 2**63, 2**64 - 8]) | st.integers(0, 2**64 - 1),
)
def test_changed_entries_of_the_dynamic_section_are_survived(originals, which, tag, field, value):
    data = bytearray(originals[which])
    part = next(one for one in Elf(bytes(data), "x").image.segments if one.kind == 2)
    place = part.offset + tag % (part.file_size // 16) * 16 + 8 * field
    data[place : place + 8] = value.to_bytes(8, "little")
    read_all(bytes(data))


def test_huge_counts_cost_neither_time_nor_memory(originals):
    """Every word of the tables, one after the other, becomes the largest number."""
    started = time.process_time()
    tracemalloc.start()
    for data in originals:
        for place in range(0, 1400, 4):
            read_all(data[:place] + b"\xff\xff\xff\x7f" + data[place + 4 :])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
    assert time.process_time() - started < 60


def test_a_chain_that_bites_its_tail_ends(originals):
    data = bytearray(originals[1])
    elf = Elf(bytes(data), "x")
    place, _ = elf.image.place(elf.tags[4], "hash table")
    buckets, chains = elf.image.words(elf.tags[4], 2, "I", "hash table")
    for number in range(1, chains):
        start = place + 8 + 4 * (buckets + number)
        data[start : start + 4] = number.to_bytes(4, "little")
    with pytest.raises(ElfError, match="does not end"):
        Elf(bytes(data), "x").symbols.defines(b"nothing", gnu_hash(b"nothing"), None)
