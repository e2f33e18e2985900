"""cvm doctor: what it tells of a diagnosis, its exit codes, and how it becomes a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from cvm.consumers.load import Load
from cvm.elf.found import Found, Rule
from cvm.elf.outcome import Failure, Kind
from cvm.elf.outcome import Outcome as LoaderOutcome
from cvm.errors import UsageError
from tests.functional import processes
from tests.functional.diagnoses import BY_NAME, NOTE, PYTHON, SITE, WARNING, Action, Diagnosis, consumer, library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.functional.conftest import Outcome, World

    Doctor = Callable[..., Outcome]

VERDICTS = ("ok", "unknown", "warning", "error")
REPORT = Path(__file__).with_name("doctor_report.txt")


@pytest.fixture
def doctor(bare_world: World) -> Doctor:
    """Runs `cvm doctor` on a diagnosis, or on what the check dies of."""

    def run(answer: str | Sequence[Diagnosis] | Exception, *arguments: str | Path) -> Outcome:
        diagnose(bare_world, BY_NAME[answer] if isinstance(answer, str) else answer)
        return bare_world.run("doctor", *arguments)

    return run


def diagnose(world: World, answer: Sequence[Diagnosis] | Exception) -> Action:
    action = Action(answer)
    world.monkeypatch.setitem(sys.modules, "cvm.actions.doctor", action)
    return action


# -- the question


def test_what_is_asked(bare_world: World, tmp_path: Path) -> None:
    action = diagnose(bare_world, BY_NAME["ok"])
    bare_world.monkeypatch.setenv("LD_LIBRARY_PATH", "/x")
    bare_world.monkeypatch.chdir(tmp_path)
    bare_world.ok("doctor", "/venv", "b c", "--env", "LD_LIBRARY_PATH=/y", "--env", "BNB_CUDA_VERSION=")
    bare_world.ok("doctor")
    given, usual = action.asked
    assert (given[0], given[2:]) == (("/venv", "b c"), (str(tmp_path), ""))
    assert (given[1]["LD_LIBRARY_PATH"], given[1]["BNB_CUDA_VERSION"]) == ("/y", "")
    assert (usual[0], usual[2:]) == ((), (str(tmp_path), ""))
    assert usual[1]["LD_LIBRARY_PATH"] == "/x"


def test_nothing_of_this_shell_reaches_an_image(bare_world: World, tmp_path: Path) -> None:
    action = diagnose(bare_world, BY_NAME["ok"])
    bare_world.monkeypatch.setenv("LD_LIBRARY_PATH", "/x")
    bare_world.ok("doctor", "--root", tmp_path, "--env", "LD_LIBRARY_PATH=/usr/local/nvidia/lib64")
    assert action.asked == [((), {"LD_LIBRARY_PATH": "/usr/local/nvidia/lib64"}, "/", str(tmp_path))]


@pytest.mark.parametrize("text", ["LD_LIBRARY_PATH", "=/x", ""])
def test_a_variable_needs_a_name_and_a_value(bare_world: World, text: str) -> None:
    outcome = bare_world.run("doctor", "--env", text)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: `{text}` sets no variable\nhint: cvm doctor --env LD_LIBRARY_PATH=/opt/cuda/lib64\n"


def test_a_root_that_is_no_folder(doctor: Doctor, tmp_path: Path) -> None:
    assert doctor("ok", "--root", tmp_path / "nothing").code == 2
    (tmp_path / "file").touch()
    assert doctor("ok", "--root", tmp_path / "file").code == 2


def test_a_target_that_makes_no_sense(doctor: Doctor) -> None:
    outcome = doctor(UsageError("`/x` is not there", hint="cvm doctor"), "/x")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", "error: `/x` is not there\nhint: cvm doctor\n")


# -- the exit code


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("fail_on", [*VERDICTS[1:], "never"])
def test_exit_codes(doctor: Doctor, verdict: str, fail_on: str) -> None:
    # As the help says: the mildest verdict that exits with 1.
    fails = {
        "error": {"error"},
        "warning": {"error", "warning"},
        "unknown": {"error", "warning", "unknown"},
        "never": set(),
    }
    expected = int(verdict in fails[fail_on])
    loud, quiet = doctor(verdict, "--fail-on", fail_on), doctor(verdict, "--fail-on", fail_on, "--quiet")
    document = doctor(verdict, "--fail-on", fail_on, "--quiet", "--json")
    assert (loud.code, quiet.code, document.code) == (expected, expected, expected)
    assert loud.out.startswith(f"{verdict}: ")
    assert quiet.out == (loud.out if expected else "")
    assert document.json["verdict"] == verdict


def test_the_default_is_to_fail_on_errors(doctor: Doctor) -> None:
    assert [doctor(verdict).code for verdict in VERDICTS] == [0, 0, 0, 1]


def test_quiet_before_the_command(bare_world: World) -> None:
    diagnose(bare_world, BY_NAME["warning"])
    outcome = bare_world.ok("-q", "doctor")
    assert (outcome.out, outcome.err) == ("", "")


def test_the_worst_of_several_targets_counts(doctor: Doctor) -> None:
    several = [diagnosis for verdict in ("error", "ok", "warning") for diagnosis in BY_NAME[verdict]]  # type: ignore[union-attr]
    outcome = doctor(several)
    assert outcome.code == 1
    firsts = [line for line in outcome.out.splitlines() if line.split(":")[0] in VERDICTS]
    assert [line.split(":")[0] for line in firsts] == ["error", "ok", "warning"]
    assert doctor(several, "--json").json["verdict"] == "error"


# -- the report


def test_the_report_of_an_error(doctor: Doctor) -> None:
    assert doctor("error").out == REPORT.read_text()


HEADLINES = {
    "ok": "ok: torch 1.13.1 and torchvision 0.14.1 load in /venv",
    "nothing": "ok: nothing in /venv loads CUDA libraries",
    "unknown": "unknown: can't tell whether torch 1.13.1 loads in /venv",
    "warning": "warning: torch 1.13.1 loads in /venv, with 1 warning",
    "error": "error: torch 1.13.1 in /venv won't import",
}


@pytest.mark.parametrize("name", HEADLINES)
def test_the_first_line_is_the_verdict(doctor: Doctor, name: str) -> None:
    assert doctor(name).out.splitlines()[0] == HEADLINES[name]


def test_other_first_lines(doctor: Doctor) -> None:
    late = consumer()._replace(first_use_error="symbol lookup error")
    file = consumer("/x/libops.so", None)._replace(path="/x/libops.so", distribution=None)
    many = tuple(consumer(f"p{number}", "1") for number in range(6))
    error = NOTE._replace(severity="error")
    firsts = {
        "error: torch 1.13.1 in /venv loads, and will fail at the first use": Diagnosis("/venv", PYTHON, (late,), (error,)),
        "warning: torch 1.13.1 loads in /venv, with 1 warning": Diagnosis("/venv", PYTHON, (late,), (WARNING,)),
        "error: torch 1.13.1 loads in /venv, with 2 errors": Diagnosis("/venv", PYTHON, (consumer(),), (error, error)),
        "error: nothing in /venv loads CUDA libraries; 1 error": Diagnosis("/venv", PYTHON, (), (error,)),
        "unknown: can't tell whether anything in /x loads CUDA libraries": Diagnosis("/x", None, (), (), ("?",)),
        "ok: /x/libops.so loads": Diagnosis("/x/libops.so", None, (file,)),
        "ok: p0 1, p1 1, p2 1 and 3 others load in /venv": Diagnosis("/venv", PYTHON, many),
    }  # fmt: skip
    assert [doctor([one]).out.splitlines()[0] for one in firsts.values()] == list(firsts)


def test_notes_are_told_where_there_is_nothing_worse(doctor: Doctor) -> None:
    note = "CVM020 note: LD_LIBRARY_PATH names a folder that isn't there\n"
    assert doctor("ok").out == f"{HEADLINES['ok']}\n\n{note}"
    assert note not in doctor("warning").out
    assert note in doctor("warning", "-v").out


def test_what_follows_from_a_note_is_told_with_it(doctor: Doctor) -> None:
    note = NOTE._replace(consequences=(NOTE._replace(code="CVM021", summary="second"),))
    assert doctor([Diagnosis("/venv", findings=(note,))]).out.endswith("\nCVM021 note: second\n")


def test_lists_in_a_finding(doctor: Doctor) -> None:
    assert doctor("warning").out.splitlines()[2:] == [
        "CVM013 warning: two packages own one file",
        "  why:",
        "    files  /a/b c",
        "           /a/d",
        "  fix:",
        "    pip check",
    ]


def test_long_lists_are_cut(doctor: Doctor) -> None:
    def rows(count: int) -> list[str]:
        searched = tuple(f"/f{number}" for number in range(count))
        error = NOTE._replace(severity="error", evidence={"searched": searched, "culprit": "x"})
        return [line.split("  ")[-1] for line in doctor([Diagnosis("/venv", findings=(error,))]).out.splitlines()[4:-1]]

    assert rows(8) == [f"/f{number}" for number in range(8)]
    assert rows(9) == [*(f"/f{number}" for number in range(7)), "and 2 more, with --json"]


def test_the_tree_keeps_the_loaders_order(doctor: Doctor) -> None:
    names = {"/a": None, "/b": None, "/a1": "/a", "/b1": "/b", "/a2": "/a", "/a11": "/a1"}
    found = tuple(library(path, Found(Rule.CACHE), by) for path, by in names.items())
    lines = doctor([Diagnosis("/venv", PYTHON, (consumer(load=Load((), None, found, 6)),))], "-v").out.splitlines()
    tree = [line.partition("  /")[0] for line in lines[lines.index("  libraries:") + 1 :]]
    assert tree == ["    a", "      a1", "        a11", "      a2", "    b", "      b1"]


def test_a_start_that_fails(doctor: Doctor) -> None:
    started = LoaderOutcome("/venv/bin/python", Failure(Kind.LIBRARY, "libz.so.1: cannot open shared object file"))
    broken = consumer(load=Load((), "no start", (), 0, started=started))
    shown = doctor([Diagnosis("/venv", PYTHON, (broken,))], "-v").out.splitlines()
    assert "    start of /venv/bin/python  fails: libz.so.1: cannot open shared object file" in shown
    assert doctor([Diagnosis("/venv", PYTHON, (broken,))], "--json").json["consumers"][0]["libraries"] == []


def test_why_a_verdict_is_unknown(doctor: Doctor) -> None:
    many = tuple(f"reason {number}" for number in range(7))
    shown = doctor([Diagnosis("/venv", unknown=many)]).out.splitlines()
    assert shown[1:4] == ["", "could not be followed:", "  reason 0"]
    assert shown[-2:] == ["  reason 4", "  and 2 more, with -v"]
    assert doctor([Diagnosis("/venv", unknown=many)], "-v").out.splitlines()[-1] == "  reason 6"
    # Beside an error it is no news.
    assert "one thing" not in doctor("error").out
    assert "could not be followed:\n  one thing\n" in doctor("error", "-v").out


def test_verbose_tells_every_library(doctor: Doctor) -> None:
    tree = doctor("error", "-v").out.partition(f"torch 1.13.1  {SITE}/torch\n")[2].replace(SITE, "SITE")
    assert tree == (
        "  built for CUDA 11.7\n"
        "  built for cuDNN 8.5.0 (torch's metadata); here it is not to be told\n"
        "  steps:\n"
        "    import _ctypes  ctypes/__init__.py:8  loads\n"
        "    dlopen('libmissing.so')  SITE/x.py:3  fails, which is handled: not there\n"
        "    ctypes.CDLL('libtorch_global_deps.so')  torch/__init__.py:217  fails: SITE/nvidia/cublas/lib/libcublas.so.11: "
        "undefined symbol: cublasLtHSHMatmulAlgoInit, version libcublasLt.so.11\n"
        "  libraries:\n"
        "    python3.11  /usr/bin/python3.11  the program itself\n"
        "      libtorch_global_deps.so  SITE/torch/lib/libtorch_global_deps.so  by path  for python3.11\n"
        "        libcublas.so.11  SITE/nvidia/cublas/lib/libcublas.so.11  RPATH of libtorch_global_deps.so"
        "  (nvidia-cublas-cu11 11.10.3.66)\n"
        "          libcublasLt.so.11  /opt/cuda-11.5/lib64/libcublasLt.so.11  LD_LIBRARY_PATH[0]=/opt/cuda-11.5/lib64"
        "  for libcublas.so.11  (11.6.5.2)\n"
    )


def test_a_file_name_controls_no_terminal(doctor: Doctor) -> None:
    hostile = NOTE._replace(severity="error", evidence={"winner": "/a\x1b[2J\n\x7f/ü"})
    outcome = doctor([Diagnosis("/v\x1b", None, (), (hostile,))])
    assert "\x1b" not in outcome.out
    assert "    found  /a\\x1b[2J\\x0a\\x7f/ü" in outcome.out.splitlines()


class Terminal:
    """A stdout that says it is a terminal."""

    def __init__(self, stream: object) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def test_colours(doctor: Doctor, bare_world: World) -> None:
    bare_world.monkeypatch.delenv("NO_COLOR")
    bare_world.monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in doctor("error", "-v").out
    bare_world.monkeypatch.setattr(sys, "stdout", Terminal(sys.stdout))
    assert doctor("error").out.startswith("\x1b[31m\x1b[1merror:\x1b[0m torch 1.13.1 in")
    assert "\x1b" not in doctor("error", "--json").out
    for name, value in {"NO_COLOR": "1", "TERM": "dumb"}.items():
        bare_world.monkeypatch.setenv(name, value)
        assert "\x1b" not in doctor("error").out
        bare_world.monkeypatch.delenv(name)


# -- JSON


@pytest.mark.parametrize("name", HEADLINES)
def test_json_is_as_the_schema_says(doctor: Doctor, name: str) -> None:
    document = doctor(name, "--json").json
    assert document["targets"] == [
        {"target": "/venv", "verdict": HEADLINES[name].split(":")[0], "python": "/venv/bin/python", "prefix": "/venv"}
    ]


def test_the_schema_is_strict(doctor: Doctor) -> None:
    document = doctor("error", "--json")
    for change in ('"code": "CVM1"', '"severity": "bad"', '"code": "CVM001", "other": 1'):
        spoilt = document.out.replace('"code": "CVM001"', change, 1)
        assert spoilt != document.out
        with pytest.raises(jsonschema.ValidationError):
            _ = type(document)(1, spoilt, "").json


def test_json_tells_all(doctor: Doctor) -> None:
    document = doctor("error", "--json").json
    shadowed = document["findings"][1]
    assert shadowed["evidence"]["culprit"] == "LD_LIBRARY_PATH[0]=/opt/cuda-11.5/lib64"
    assert [one["consumer"] for one in shadowed["consequences"]] == ["torchvision 0.14.1"]
    assert document["findings"][0]["evidence"] == {"files": ["/a/b c", "/a/d"]}
    (torch,) = document["consumers"]
    assert torch["verdict"] == "error"
    assert torch["error"].endswith("undefined symbol: cublasLtHSHMatmulAlgoInit, version libcublasLt.so.11")
    assert torch["cudnn"] == {
        "compiled": "8.5.0", "compiled_from": "torch's metadata", "runtime": None, "answered_by": None
    }  # fmt: skip
    # What the failing step had found is there too: the culprit is among it.
    assert torch["libraries"][-1] == {
        "name": "libcublasLt.so.11",
        "path": "/opt/cuda-11.5/lib64/libcublasLt.so.11",
        "soname": "libcublasLt.so.11",
        "found_via": "LD_LIBRARY_PATH[0]=/opt/cuda-11.5/lib64",
        "requested_by": f"{SITE}/nvidia/cublas/lib/libcublas.so.11",
        "version": "11.6.5.2",
        "owner": None,
    }
    assert document["unknown"] == ["one thing"]


def test_json_of_what_fails_late(doctor: Doctor) -> None:
    late = consumer()._replace(first_use_error="symbol lookup error", cuda=None, cudnn=None)
    (torch,) = doctor([Diagnosis("/venv", PYTHON, (late,))], "--json").json["consumers"]
    shown = {name: torch[name] for name in ("verdict", "error", "first_use_error", "cuda", "cudnn")}
    assert shown == {
        "verdict": "error", "error": None, "first_use_error": "symbol lookup error", "cuda": None, "cudnn": None
    }  # fmt: skip


def test_json_on_failure(doctor: Doctor) -> None:
    assert doctor("broken", "--json").json["error"]["kind"] == "disk"


# -- becoming a command


def start(name: str, *arguments: str, **changes: str | None) -> subprocess.Popen[str]:
    script = f"from tests.functional.diagnoses import install; install({name!r})"
    return processes.start("doctor", *arguments, script=script, env=changes)


def run(name: str, *arguments: str, **changes: str | None) -> tuple[int, str, str]:
    return processes.finish(start(name, *arguments, **changes))


def test_a_good_verdict_says_nothing_and_becomes_the_command() -> None:
    running = start("ok", "--", "sh", "-c", "echo $$; exit 7")
    assert processes.finish(running) == (7, f"{running.pid}\n", "")
    assert "libraries:" in run("ok", "-v", "--", "true")[2]


def test_arguments_arrive_as_they_are() -> None:
    arguments = ["a b", "", "--", "--json", "-v", "$HOME", "*"]
    code, out, err = run("ok", "/venv", "--", sys.executable, "-c", "import sys; print(sys.argv[1:])", *arguments)
    assert (code, out, err) == (0, f"{arguments}\n", "")


def test_an_error_keeps_the_command_from_starting() -> None:
    code, out, err = run("error", "--", "echo", "started")
    assert (code, out, err) == (1, "", REPORT.read_text())


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("fail_on", [*VERDICTS[1:], "never"])
def test_the_command_starts_below_the_verdict_to_fail_on(bare_world: World, verdict: str, fail_on: str) -> None:
    diagnose(bare_world, BY_NAME[verdict])
    started: list[list[str]] = []
    bare_world.monkeypatch.setattr("cvm.cli.doctor.become", lambda argv, environment: started.append(argv))
    outcome = bare_world.run("doctor", "--fail-on", fail_on, "--", "echo", "x")
    stops = fail_on != "never" and VERDICTS.index(verdict) >= VERDICTS.index(fail_on)
    assert (outcome.code, outcome.out, started) == (int(stops), "", [] if stops else [["echo", "x"]])
    quiet = bare_world.run("doctor", "-q", "--fail-on", fail_on, "--", "echo", "x")
    assert (quiet.code, quiet.err) == (int(stops), outcome.err if stops else "")
    assert outcome.err.startswith(f"{verdict}: ") or (verdict == "ok" and not outcome.err)


def test_a_command_in_spite_of_all() -> None:
    code, out, err = run("error", "--fail-on", "never", "--", "echo", "started")
    assert (code, out, err) == (0, "started\n", REPORT.read_text())


@pytest.mark.parametrize(("name", "why"), [("broken", "[Errno 5] Input/output error: '/venv'"), ("fault", "too deep")])
def test_a_check_that_breaks_down_keeps_nothing_from_starting(name: str, why: str) -> None:
    said = f"warning: the check broke down ({why}): `echo`"
    assert run(name, "--", "echo", "started") == (0, "started\n", f"{said} starts unchecked\n")
    assert run(name, "--fail-on", "unknown", "--", "echo", "started") == (1, "", f"{said} is not started\n")


def test_no_python_at_all_keeps_nothing_from_starting(bare_world: World) -> None:
    diagnose(bare_world, UsageError("there is no Python on PATH"))
    started: list[list[str]] = []
    bare_world.monkeypatch.setattr("cvm.cli.doctor.become", lambda argv, environment: started.append(argv))
    assert bare_world.run("doctor", "--", "echo").code == 0
    assert started == [["echo"]]
    assert bare_world.run("doctor", "/x", "--", "echo").code == 2


def test_stdin_is_the_commands() -> None:
    script = "from tests.functional.diagnoses import install; install('warning')"
    line = processes.command("doctor", "--", "cat", script=script)
    done = subprocess.run(line, env=processes.environment(), input=b"a\0b" * 100_000, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"a\0b" * 100_000)


def test_signals_reach_the_command() -> None:
    running = start("ok", "--", "sh", "-c", "trap 'echo got it; exit 9' TERM; echo ready; while :; do sleep 0.05; done")
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    running.terminate()
    assert processes.finish(running) == (9, "got it\n", "")
    assert run("ok", "--", "sh", "-c", "kill -TERM $$")[0] == -15
    ignored = int(run("ok", "--", "grep", "^SigIgn", "/proc/self/status")[1].split()[1], 16)
    assert not ignored & (1 << 12)  # SIGPIPE is 13.


def test_the_commands_environment_is_the_callers() -> None:
    code, out, _ = run("ok", "--", "env", LD_LIBRARY_PATH="/x::", LC_CTYPE=None, LC_ALL=None, LANG=None)
    assert code == 0
    variables = dict(line.split("=", 1) for line in out.splitlines())
    expected = processes.environment({"LD_LIBRARY_PATH": "/x::", "LC_CTYPE": None, "LC_ALL": None, "LANG": None})
    assert {name: variables.get(name) for name in expected} == expected
    assert "LC_CTYPE" not in variables


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_a_report_that_nobody_can_read_keeps_nothing_from_starting(closed: str) -> None:
    script = "from tests.functional.diagnoses import install; install('warning')"
    line = ["sh", "-c", f'"$@" {closed}', "sh", *processes.command("doctor", "--", "echo", "started", script=script)]
    done = subprocess.run(line, env=processes.environment(), stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (0, b"started\n")


def test_an_error_that_nobody_can_read_still_counts() -> None:
    script = "from tests.functional.diagnoses import install; install('error')"
    line = ["sh", "-c", '"$@" 2>/dev/full', "sh", *processes.command("doctor", "--", "echo", "started", script=script)]
    done = subprocess.run(line, env=processes.environment(), stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_command_that_cannot_be_run(tmp_path: Path) -> None:
    assert run("ok", "--", "no-such-program") == (
        127, "", "error: `no-such-program` is not on PATH\nhint: cvm doctor -- python train.py\n"
    )  # fmt: skip
    (tmp_path / "data").touch()
    assert run("ok", "--", str(tmp_path / "data"))[0] == 126


def test_wrong_usage_of_a_command(doctor: Doctor) -> None:
    assert doctor("ok", "--").err == "error: there is no command to run\nhint: cvm doctor -- python train.py\n"
    assert doctor("ok", "--json", "--", "true").code == 2
