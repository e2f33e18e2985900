"""Files that end the loader's search."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

CUBLAS = f"{SITE}/nvidia/cublas/lib/libcublas.so.12"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.fixture
def thing(env):
    env.wheel("cublas", "libcublas.so.12")
    path = f"{SITE}/thing/_C.so"
    env.lib(path, "", [CUBLAS], runpath="$ORIGIN/../nvidia/cublas/lib")
    env.open(path)
    env.root_lib = path
    return env


@pytest.mark.parametrize(("data", "reason"), [("", "file too short"), (POINTER * 2, "invalid ELF header")])
def test_a_bad_file_in_front(thing, data, reason):
    bad = thing.write("opt/libcublas.so.12", data)
    thing.environment["LD_LIBRARY_PATH"] = "%/opt"
    finding = thing.only()
    assert (finding.code, finding.severity) == ("CVM013", "error")
    assert finding.summary == f"torch 2.5.1 won't import: {bad} of LD_LIBRARY_PATH can't be loaded ({reason})"
    assert finding.evidence["culprit"] == f"LD_LIBRARY_PATH[0]={thing.root}/opt"
    assert finding.hint[1] == "unset LD_LIBRARY_PATH"
    assert thing.told(thing.root_lib) == finding.evidence["error"]


def test_a_bad_file_of_the_wheel(thing):
    thing.write(CUBLAS, POINTER * 2)
    finding = thing.only()
    assert finding.evidence["culprit"].endswith("/nvidia/cublas/lib/libcublas.so.12")
    assert finding.hint[0].startswith("# it is a text file")


def test_a_file_of_another_machine_is_passed_over(thing):
    data = bytearray((thing.root / CUBLAS).read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    thing.write("opt/libcublas.so.12", bytes(data))
    thing.environment["LD_LIBRARY_PATH"] = "%/opt"
    assert thing.told(thing.root_lib) is None
    assert thing.judged() == ()


def test_the_variable_leads_to_the_wheels_own_bad_file(thing):
    """Without the variable the same file is met: it is to blame itself."""
    thing.write(CUBLAS, POINTER * 2)
    thing.environment["LD_LIBRARY_PATH"] = f"%/{SITE}/nvidia/cublas/lib"
    finding = thing.only()
    assert finding.evidence["culprit"] == f"{thing.root}/{CUBLAS}"
    assert finding.evidence["error"] == thing.told(thing.root_lib)
    assert len(finding.hint) == 1
