"""cvm doctor among files that somebody broke, or made to break it: no traceback, no end of time or memory, no escape."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.torch import WHEEL, make_torch
from tests.functional import processes

if TYPE_CHECKING:
    from collections.abc import Callable

SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
TORCH, RUNTIME = "torch-2.99.0.dist-info", "nvidia_cuda_runtime_cu99-99.9.9.dist-info"
MEMORY = 300 << 20  # the interpreter's own included
ADDRESSES = 4 << 30  # for the machine that runs this: what a run may do at worst
SECONDS = 10  # of the processor; a machine that is busy makes none of these more


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    venv = tmp_path_factory.mktemp("made") / "venv"
    make_torch(venv)
    return venv


@pytest.fixture
def venv(made: Path, tmp_path: Path) -> Path:
    """An environment to break."""
    return Path(shutil.copytree(made, tmp_path / "venv", symlinks=True))


def doctor(*arguments: str | Path, cwd: Path | None = None, **variables: str | None) -> tuple[int, str, str]:
    """Run `cvm doctor` within bounds, in a process of its own; check what holds for every run."""
    done = subprocess.run(
        processes.command("doctor", *map(str, arguments), script=_PEAK),
        env=processes.environment({"PYTHONPATH": None, "LD_LIBRARY_PATH": None, **variables}),
        preexec_fn=_bound,
        check=False,
        cwd=cwd or Path(__file__).parents[2],
        capture_output=True,
        timeout=60,
    )
    out, err = os.fsdecode(done.stdout), os.fsdecode(done.stderr)
    err, _, peak = err.rpartition("peak")
    assert done.returncode in (0, 1, 2), (done.returncode, err)
    assert int(peak.split()[0]) << 10 < MEMORY, peak
    assert "Traceback" not in err, err
    assert "\x1b" not in out + err
    assert "\x9b" not in out + err
    return done.returncode, out, err


# Tells at the end how much memory it took at most.
_PEAK = """
import atexit
atexit.register(lambda: sys.stderr.write("peak" + open("/proc/self/status").read().partition("VmHWM:")[2]))
"""


def _bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def add_rotten(site: Path, record: bytes) -> None:
    """Add a package with an extension module that wants CUDA, and with this record."""
    info = site / "rotten-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: rotten\nVersion: 1.0\n\n")
    (info / "RECORD").write_bytes(record)
    (site / "rotten").mkdir()
    shutil.copy(site / "torch/_C.so", site / "rotten/_C.so")


# -- records and metadata


def replaced(path: Path) -> Path:
    path.unlink(missing_ok=True)
    return path


FILES: dict[str, Callable[[Path], object]] = {
    "folder": lambda path: replaced(path).mkdir(),
    "pipe": lambda path: os.mkfifo(replaced(path)),
    "circle": lambda path: replaced(path).symlink_to(path.name),
    "endless": lambda path: replaced(path).symlink_to("/dev/zero"),
    "sparse": lambda path: os.truncate(path.touch() or path, 1 << 30),
    "junk": lambda path: path.write_bytes(bytes(range(256)) * 4096),
    "one line": lambda path: path.write_bytes(b"Name: torch\nVersion: " + b"1" * (4 << 20)),
    "escapes": lambda path: path.write_bytes(b"Name: torch\nVersion: 1\x1b[2J\xff\xc2\x9b\n\n"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("file", [f"{TORCH}/METADATA", f"{RUNTIME}/RECORD", "x.pth", "torch/__init__.py"])
def test_a_file_that_is_something_else(venv: Path, file: str, name: str) -> None:
    FILES[name](venv / SITE / file)
    doctor(venv)


RECORDS = {
    "many digits": b"rotten/_C.so,," + b"9" * 5000,
    "digits of no number": "rotten/_C.so,,²".encode(),
    "long field": b"rotten/_C.so," + b"x" * 200_000,
    "open quotes": b'"rotten/_C.so,,\n' * 1000,
    "no text": b"rotten/\xff\0.so,,\n\0.so,,5",
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_damaged_line_of_a_record_spoils_no_other(venv: Path, name: str) -> None:
    good = f"{WHEEL},,\n".encode()
    (venv / SITE / RUNTIME / "RECORD").write_bytes(RECORDS[name] + b"\n" + good)
    add_rotten(venv / SITE, RECORDS[name] + b"\nrotten/_C.so,,\n")
    code, out, _ = doctor(venv, "--json")
    document = json.loads(out)
    runtime = [one for one in document["consumers"][0]["libraries"] if one["path"].endswith(WHEEL)]
    assert (code, [one["name"] for one in document["consumers"]]) in (
        (0, ["torch", "rotten"]),
        # What opens quotes may take what follows it along.
        (0, ["torch"]),
    )
    assert [one["owner"] for one in runtime] == ["nvidia-cuda-runtime-cu99 99.9.9"]


@pytest.mark.parametrize(
    "text", ['{"files": 7}', "[" * 100_000, '{"files": [1, null, {}]}', "\xff", '{"files": "x.so"}']
)
def test_condas_records(venv: Path, text: str) -> None:
    (venv / "conda-meta").mkdir()
    (venv / "conda-meta/cudnn-9-x.json").write_text(text, "latin-1")
    assert doctor(venv)[1].startswith("ok: torch 2.99.0 loads")


def test_long_lists_of_lost_files_are_cut(venv: Path) -> None:
    lines = "".join(f"torch/lib{number:03}.so,,\n" for number in range(100))
    (venv / SITE / TORCH / "RECORD").write_text(lines)
    summary = next(line for line in doctor(venv)[1].splitlines() if "CVM020" in line)
    assert summary.endswith("lib003.so, lib004.so and 95 more of torch 2.99.0, are gone")


# -- one rotten package among others


@pytest.mark.parametrize("place", ["cvm.actions.doctor.examine", "cvm.consumers.extensions._wanted"])
@pytest.mark.parametrize(
    "error", ["MemoryError()", "RecursionError('deep')", "KeyError('x')", "OSError(5, 'Input/output error')"]
)
def test_one_rotten_package_hides_no_other(venv: Path, place: str, error: str) -> None:
    add_rotten(venv / SITE, b"rotten/_C.so,,\n")
    (venv / SITE / WHEEL).unlink()
    module, _, name = place.rpartition(".")
    script = f"""
import {module} as place
real = place.{name}
def {name}(distribution, *rest):
    if distribution.name == "rotten":
        raise {error}
    return real(distribution, *rest)
place.{name} = {name}
"""
    code, out, err = processes.run(
        "doctor", str(venv), "--json", script=script, env={"PYTHONPATH": str(processes.ROOT)}
    )
    assert err == ""
    document = json.loads(out)
    assert (code, [one["name"] for one in document["consumers"]]) == (1, ["torch", "rotten"])
    assert [one["consumer"] for one in document["findings"] if one["severity"] == "error"] == ["torch"]
    assert document["unknown"] == [f"rotten 1.0: its load can't be followed ({eval(error)!r})"]


# -- code that takes its time

SCRIPTS = {
    "for ever": "while True: pass",
    "no end of calls": "def f(): return f()\nf()",
    "a large text": "x = 'x' * 10**12",
    "a large number": "x = 2**10**10",
    "a text that doubles": "x = 'ab'\nwhile True: x = x + x",
    "a list that doubles": "x = [1]\nwhile True: x = x + x",
    "a list that eats itself": "x = [1]\nfor i in x: x.extend(x)",
    "a list that grows in place": "x = [1]\nwhile True: x += x",
    "a list of lists of lists": "x = [1]\nfor i in range(18): x = [x, x, x, x]\nstr(x) == repr(x)",
    "a list in itself": "x = []\nx.append(x)\ny = []\ny.append(y)\nx == y",
    "a dictionary in itself": "x = {}\nx['a'] = x\nstr(x)",
    "many large texts": "x = 'a' * (1 << 19)\ny = [x.upper() for i in range(10000)]",
    "many large lists": "x = range(10**6)\ny = [list(x) for i in range(1000)]",
    "many large slices": "x = (0,) * (1 << 20)\ny = [x[:-1] for i in range(1000)]",
    "many large sets": "x = range(1 << 20)\ny = [set(x) for i in range(1000)]",
    "many comparisons": "x = [0] * (1 << 19)\ny = [x == x[:] for i in range(3000)]",
    "many searches": "x = [0] * (1 << 19)\ny = [1 in x for i in range(30000)]",
    "one list, often": "x = [list(range(10**6))] * 1000\nstr(x)",
    "a sum of lists": "x = sum([[1] * 1000] * 100000, [])",
    "a large arrangement": "x = 'a' * (1 << 19)\ny = ('{0}' * 10000).format(x)\nz = ('%(a)s' * 10000) % {'a': x}",
    "a wide field": "x = '{0:>9999999999}'.format(1)\ny = f'{1:>{10**9}}'\nz = ('\\t' * 10**6).expandtabs(10**6)",
    "a text as glue": "x = ('a' * (1 << 19)).join('b' * (1 << 19))",
    "a slow encoding": "x = ('\\xe9' * 10**6).encode('idna')\ny = ('\\xe9' * 10**6).encode('punycode')",
    "all files": "import glob\nglob.glob('/**', recursive=True)\nglob.glob('/**/**/**/*', recursive=True)",
    "an endless file": "open('/dev/zero').read()",
    "many diamonds": "class A0: pass\nclass B0: pass\n"
    + "".join(f"class A{i}(A{i - 1}, B{i - 1}): pass\nclass B{i}(A{i - 1}, B{i - 1}): pass\n" for i in range(1, 40))
    + "A39().x\nisinstance(A39(), B39)",
    "a long line of exceptions": "class E(Exception): pass\n" + "class E(E): pass\n" * 2000,
    "a long statement": "x = [" + "1," * 600_000 + "]",
    "a deep expression": f"x = {'[' * 5000}{']' * 5000}",
    "many loads": "for i in range(100000):\n  try: ctypes.CDLL(f'lib{i}.so')\n  except OSError: pass",
    "odd names": "for x in ('\\0', '/a\\0b', '\\ud800.so', '/\\ud800.so', '/\\x1b[2J\\n\\u202e', '', 'a' * 5000):\n"
    "  try: ctypes.CDLL(x)\n  except OSError: pass\n  os.path.exists(x), os.path.realpath(x), os.listdir(x)",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_code_takes_no_end_of_time_or_memory(venv: Path, name: str) -> None:
    (venv / SITE / "torch/__init__.py").write_text(f"import ctypes, os\n{SCRIPTS[name]}\nctypes.CDLL('libc.so.6')\n")
    doctor(venv)


@pytest.mark.parametrize(
    "text", [b"def (:\n", b"\0", b"\xef\xbb\xbffrom torch._C import *", b"# coding: latin-1\nx = '\xe9'"]
)
def test_text_that_is_no_code(venv: Path, text: bytes) -> None:
    (venv / SITE / "torch/__init__.py").write_bytes(text)
    doctor(venv)


def test_a_name_that_no_text_can_have_is_spelt_out(venv: Path) -> None:
    (venv / SITE / "torch/__init__.py").write_text("import ctypes\nctypes.CDLL('/\\ud800\\u202e\\x9b.so')\n")
    code, out, _ = doctor(venv)
    assert (code, "/\\ud800\\u202e\\x9b.so: cannot open" in out) == (1, True)


# -- targets


@pytest.mark.parametrize("name", ["pipe", "folder", "circle", "endless"])
def test_an_interpreter_that_is_something_else(venv: Path, name: str) -> None:
    FILES[name](venv / "bin/python3")
    code, out, err = doctor(venv)
    assert (code, out, err.count("\n")) == (2, "", 2)


@pytest.mark.parametrize("name", ["/x\x1b[2J", "/x\udc9b31m", "/x\r\n"])
def test_a_target_controls_no_terminal(name: str) -> None:
    code, out, err = doctor(name)
    assert (code, out) == (2, "")
    assert "\udc9b" not in err
    assert "\r" not in err


def test_a_relative_target_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    start = f"import os; os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd())"
    code, out, err = processes.run("doctor", ".", script=start, env={"PWD": None})
    assert (code, out) == (2, "")
    assert err == "error: `.` leads from the current folder, which is gone\nhint: cd to another folder\n"


@pytest.mark.parametrize(
    "value",
    [":".join(f"/opt/{number}" for number in range(5000)), "::;~:$ORIGIN:${LIB}/x:.:..:rel:", "/a\x1b[2J:/b\nc"],
)
def test_odd_values_of_the_path(venv: Path, value: str) -> None:
    doctor(venv, "-v", LD_LIBRARY_PATH=value)


# -- libraries


DAMAGES: dict[str, Callable[[Path], object]] = {
    **{name: FILES[name] for name in ("folder", "pipe", "circle", "endless", "junk")},
    "empty": lambda path: os.truncate(path, 0),
    "cut": lambda path: os.truncate(path, 600),
    "pointer": lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:abc\n"),
    "gone": lambda path: replaced(path).symlink_to("gone\x1b[2J"),
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("file", ["torch/_C.so", WHEEL])
def test_a_damaged_library(venv: Path, file: str, name: str) -> None:
    DAMAGES[name](venv / SITE / file)
    doctor(venv, "-v")
