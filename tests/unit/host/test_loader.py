from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cvm.elf.files import Disk
from cvm.elf.runtime import Processor
from cvm.errors import CvmError, IncompatibleError
from cvm.host.loader import read_processor, read_runtime_of
from tests.unit.elf.tiny import AARCH64, tiny

LOADER = "/lib64/ld-linux-x86-64.so.2"
V2 = "sse4_2 ssse3 popcnt cx16 lahf_lm"
V3 = f"{V2} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
V4 = f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl"


def help_of_the_loader():
    run = subprocess.run([LOADER, "--help"], capture_output=True, text=True, check=False)
    if "glibc-hwcaps" not in run.stdout:
        pytest.skip("a loader that does not tell")
    return run.stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has levels")
def test_the_loader_itself_says_the_same():
    text = help_of_the_loader()
    runtime = read_runtime_of(os.path.realpath(sys.executable), Disk())
    assert list(runtime.hwcaps) == re.findall(r"(x86-64-v\d) \(supported, searched\)", text)
    said = re.search(r"(\w+) \(AT_PLATFORM", text)
    assert said is None or runtime.platform == said[1]


def processor(root, text):
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc/cpuinfo").write_text(text)
    return read_processor(Disk(str(root)))


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("", 1),
        ("fpu sse2", 1),
        (V2, 2),
        (V2.replace("cx16", ""), 1),
        (V3, 3),
        (V3.replace("abm", ""), 2),
        (V3.replace("avx2 ", ""), 2),
        (V4, 4),
        (V4.replace("avx512vl", ""), 3),
        (V4.replace("movbe", ""), 2),
    ],
)
def test_levels(tmp_path, flags, level):
    info = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: {}\nbugs\t\t: x\n\nprocessor\t: 1\nflags\t\t: {}\n"
    assert processor(tmp_path, info.format(flags, V4)) == Processor(level)
    amd = processor(tmp_path, info.format(flags, V4).replace("GenuineIntel", "AuthenticAMD"))
    assert amd == Processor(level, "x86_64", ("tls", "x86_64"))


def test_other_processors_have_no_levels(tmp_path):
    assert processor(tmp_path, "processor\t: 0\nFeatures\t: fp asimd\n") == Processor()
    assert read_processor(Disk(str(tmp_path / "nowhere"))) == Processor()


def world(root, **options):
    (root / "lib").mkdir()
    (root / "lib/ld.so").write_bytes(tiny(machine=options.get("machine", 62)))
    (root / "prog").write_bytes(tiny(**options))
    return Disk(str(root))


def test_an_image_of_another_machine(tmp_path):
    files = world(tmp_path, interpreter="/lib/ld.so", machine=AARCH64)
    assert read_runtime_of("/prog", files).platform == "aarch64"


def test_a_processor_may_be_given(tmp_path):
    files = world(tmp_path, interpreter="/lib/ld.so")
    assert read_runtime_of("/prog", files, Processor(3)).hwcaps == ("x86-64-v3", "x86-64-v2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interpreter": "/lib/ld-musl-x86_64.so.1"}, "`/prog` is made for musl's loader (Alpine), which NVIDIA's libraries do not support"),
        ({}, "`/prog` names no loader: it is linked statically, and can't load libraries"),
        ({"interpreter": "/lib/ld-gone.so.2"}, "`/prog` wants the loader `/lib/ld-gone.so.2`, which isn't there"),
    ],
)  # fmt: skip
def test_what_glibc_does_not_load(tmp_path, options, message):
    with pytest.raises(IncompatibleError, match=re.escape(message)):
        read_runtime_of("/prog", world(tmp_path, **options))


def test_what_is_no_program(tmp_path):
    (tmp_path / "script").write_text("#!/bin/sh\n")
    with pytest.raises(CvmError, match="not an ELF file"):
        read_runtime_of("/script", Disk(str(tmp_path)))
    with pytest.raises(FileNotFoundError):
        read_runtime_of("/gone", Disk(str(tmp_path)))


def test_this_python():
    program = str(Path(sys.executable).resolve())
    assert read_runtime_of(program, Disk()).bits == 64
