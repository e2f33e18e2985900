"""The report of `cvm doctor`, followed by hand: it names the culprit, and what it says to do makes the import work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.truth.processes import really

ROOT = Path(__file__).resolve().parents[2]
# PYTHONPATH is left to the environment under examination.
START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv.insert(1, 'doctor'); from cvm.cli.start import run; run()"
)
SYMBOL = "cublasLtHSHMatmulAlgoInit"
# Where every command of the fix is enough by itself: a release, and a value of LD_LIBRARY_PATH.
BROKEN = (
    ("1.13.1", "11.5"),
    ("2.5.1", "12.1"),
    ("2.5.1", "12.1:12.4"),
    ("2.5.1", "12.1:cudnn 9.1.1"),
)


def doctor(environment, path, *options):
    """Run the command line in a process of its own, in the shell of a person who has LD_LIBRARY_PATH set."""
    return subprocess.run(
        [sys.executable, "-c", START, str(environment.python), *options],
        env={**os.environ, **environment.variables, "LD_LIBRARY_PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def follow(command, python, path):
    """Paste a command into a shell, and start Python there; return what it ends with."""
    script = command if "import torch" in command else f"{command}\n{python} -c 'import torch'"
    variables = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": path}
    return subprocess.run(["sh", "-ec", script], env=variables, capture_output=True, text=True, check=False)


def test_the_founding_case(shelf):
    environment, folder = shelf.torch("1.13.1"), shelf.libraries("11.5")
    wheel = environment.site / "nvidia/cublas/lib"
    needy, wanted, winner = wheel / "libcublas.so.11", wheel / "libcublasLt.so.11", folder / "libcublasLt.so.11"
    line = f"{needy}: undefined symbol: {SYMBOL}, version libcublasLt.so.11"
    assert really(environment, shelf.root, str(folder)).error == f"OSError: {line}"

    document = json.loads(doctor(environment, str(folder), "--json").stdout)
    (finding,) = document["findings"]
    assert (document["verdict"], finding["code"], finding["severity"]) == ("error", "CVM002", "error")
    assert finding["consumer"] == "torch"
    culprit = f"LD_LIBRARY_PATH[0]={folder}"
    assert finding["evidence"] == {
        "error": line,
        "symbol": SYMBOL,
        "needed_by": str(needy),
        "winner": str(winner),
        "found_via": culprit,
        "wanted": str(wanted),
        "culprit": culprit,
    }
    assert finding["hint"] == [
        f"env -u LD_LIBRARY_PATH {environment.python} -c 'import torch'",
        "unset LD_LIBRARY_PATH",
        f'export LD_LIBRARY_PATH={wheel}:"$LD_LIBRARY_PATH"',
    ]


def test_the_founding_case_as_a_person_reads_it(shelf):
    environment, folder = shelf.torch("1.13.1"), shelf.libraries("11.5")
    told = doctor(environment, str(folder))
    first, *rest = told.stdout.splitlines()
    assert (told.returncode, told.stderr) == (1, "")
    assert first.startswith("error: torch 1.13.1 ")
    assert any(line.startswith("CVM002 error: ") for line in rest)
    for fact in (SYMBOL, f"{folder}/libcublasLt.so.11", f"LD_LIBRARY_PATH[0]={folder}", "unset LD_LIBRARY_PATH"):
        assert any(fact in line for line in rest)


@pytest.mark.parametrize(("release", "path"), BROKEN)
def test_each_command_of_the_fix_makes_the_import_work(shelf, release, path):
    environment = shelf.torch(release)
    folders = ":".join(str(shelf.libraries(name)) for name in path.split(":"))
    (finding,) = json.loads(doctor(environment, folders, "--json").stdout)["findings"]
    assert follow("true", environment.python, folders).returncode == 1
    commands = [line for line in finding["hint"] if not line.startswith("#")]
    assert len(commands) >= 3
    for command in commands:
        done = follow(command, environment.python, folders)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_a_torch_beside_which_nothing_lies_gets_a_link(shelf):
    environment, folder = shelf.apart("2.8.0"), str(shelf.libraries("12.4"))
    aside = environment.variables["PYTHONPATH"]
    link = f"ln -sT {environment.site}/nvidia {aside}/nvidia"
    assert "libcudnn.so.9: cannot open" in really(environment, shelf.root, folder).error
    told = doctor(environment, folder, "--json")
    (split,) = [one for one in json.loads(told.stdout)["findings"] if one["code"] == "CVM021"]
    assert split["hint"] == [link]
    try:
        subprocess.run(["sh", "-ec", link], check=True)
        assert really(environment, shelf.root, folder).error is None
    finally:
        Path(aside, "nvidia").unlink(missing_ok=True)
