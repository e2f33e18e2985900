"""The shim, under each shell that a machine's `sh` may be: what it selects, runs, passes on and refuses."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / "shims" / "shim.sh").read_bytes()
CASES = json.loads((ROOT / "tests" / "data" / "selection.json").read_text())
SHELLS = {"dash": "dash", "busybox": "busybox sh", "bash": "bash --posix"}
# How a process is started that isn't root's.
COMMON_USER: dict[str, Any] = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
# Says everything that a tool is told, in parts that end with NUL.
REPORT = """#!/bin/sh
printf '%s\\000' {label} "$0" "${{PATH-unset}}" "${{CUDA_HOME-unset}}" "$@"
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: str

    @property
    def said(self) -> list[str]:
        """The report of the tool that ran: its label, its own path, PATH, CUDA_HOME, arguments."""
        assert (self.code, self.err) == (0, ""), self
        return [os.fsdecode(part) for part in self.out.split(b"\0")[:-1]]

    @property
    def label(self) -> str:
        return self.said[0]

    def refuses(self, code: int, error: str, hint: str | None) -> None:
        """The complaint is all that is said."""
        lines = f"error: {error}\n" + (f"hint: {hint}\n" if hint else "")
        assert (self.code, self.out, self.err) == (code, b"", lines)


class World:
    """A home with shims and toolchains under `root`, a site's home, and a machine's own `bin`."""

    def __init__(self, root: Path, shell: str) -> None:
        self.shell = shell
        self.root = root / "work"
        self.home = root / "home"
        self.site = root / "site"
        self.bin = root / "bin"
        for folder in (self.root, self.home, self.site, self.bin):
            folder.mkdir()
        self.shims = self.make_shims(self.home)

    @property
    def shim(self) -> Path:
        return self.shims / "nvcc"

    def make_shims(self, home: Path, *tools: str) -> Path:
        name, *options = self.shell.split()
        first = " ".join([f"#!{shutil.which(name)}", *options])
        text = TEMPLATE.replace(b"@CVM_HOME@", os.fsencode(shlex.quote(str(home))))
        for tool in tools or ("nvcc",):
            path = home / "shims" / tool
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(first.encode() + text[text.index(b"\n") :])
            path.chmod(0o755)
        return home / "shims"

    def toolchain(self, name: str, *requests: str, home: Path | None = None, tool: str | None = "nvcc") -> Path:
        """Make a toolchain with one tool, and the links that lead to it."""
        base = home or self.home
        prefix = base / "toolchains" / name
        (prefix / "bin").mkdir(parents=True)
        (prefix / ".cvm").mkdir()
        (prefix / ".cvm" / "prefix").write_bytes(os.fsencode(prefix) + b"\n")
        if tool:
            program(prefix / "bin" / tool, name)
        for request in (name, *requests):
            self.link(request, prefix, home=base)
        return prefix

    def link(self, request: str, prefix: Path, *, home: Path | None = None) -> Path:
        path = (home or self.home) / "resolved" / request
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(prefix)
        return path

    def pin(self, text: str, folder: str = ".") -> Path:
        path = self.root / folder / ".cuda-version"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(
        self,
        *arguments: str | bytes,
        cwd: str | Path = ".",
        path: str | None = "",
        shim: Path | None = None,
        options: dict[str, Any] | None = None,
        **variables: str,
    ) -> Done:
        """Run the shim in an environment that has nothing but a PATH; `path` follows the shims in it."""
        env = dict(variables)
        if path is not None:
            env["PATH"] = f"{self.shims}:{self.bin}" + (f":{path}" if path else "")
        shim = shim or self.shim
        done = subprocess.run(
            [shim, *arguments],
            check=False,
            cwd=self.root / cwd,
            env=env,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            **(options or {}),
        )
        return Done(done.returncode, done.stdout, os.fsdecode(done.stderr))


def program(path: Path, label: str) -> Path:
    return script(path, REPORT.format(label=shlex.quote(label)))


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.fsencode(text))
    path.chmod(0o755)
    return path


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    words = SHELLS[request.param]
    if shutil.which(words.split()[0]) is None:
        pytest.skip(f"{request.param} is not on this machine")
    return words


@pytest.fixture
def world(tmp_path: Path, shell: str) -> World:
    return World(tmp_path, shell)


@pytest.fixture
def open_world(shell: str) -> Iterator[World]:
    """A world that other users can enter: root may read everything and start as many processes as it likes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield World(Path(folder), shell)


@pytest.fixture
def pinned(world: World) -> World:
    """A world in which 12.1 is selected, and is 12.1.1."""
    world.toolchain("12.1.1", "12", "12.1", "latest")
    world.pin("12.1\n")
    return world


# --- The table


def lay_out(world: World, case: dict[str, Any]) -> None:
    for name, text in case["files"].items():
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    for name, text in case.get("files_hex", {}).items():
        (world.root / name).write_bytes(bytes.fromhex(text))
    for home, text in ((world.home, case["global"]), (world.site, case["site_global"])):
        if text is not None:
            (home / "global").write_bytes(text.encode())


def run_case(world: World, case: dict[str, Any]) -> Done:
    variables = {"CVM_SITE_HOME": str(world.site)}
    if case["variable"] is not None:
        variables["CVM_TOOLCHAIN"] = case["variable"]
    return world.run(cwd=case["cwd"], **variables)


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["name"]))
def test_selection(world: World, case: dict[str, Any]) -> None:
    def filled(text: str) -> str:
        for name, folder in (("root", world.root), ("home", world.home), ("site", world.site)):
            text = text.replace("{" + name + "}", str(folder))
        return text

    lay_out(world, case)
    done = run_case(world, case)
    expect = case["expect"]
    if "error" in expect:
        hint = None if " twice: " in expect["error"] else "write it as 12.1 or 12.1-cudnn8.9.4"
        done.refuses(expect["exit"], filled(expect["error"]), hint)
        return
    request = expect["request"]
    if request is None:
        done.refuses(127, "no toolchain is selected, and no other nvcc is on PATH", "cvm install 12.1")
        return
    origin = filled(expect["origin"])
    if request == "system":
        done.refuses(127, f"nvcc is not on PATH outside cvm's shims (system is set by {origin})", None)
        return
    hint = "cvm list" if request[0].isalpha() and not request.startswith("latest") else f"cvm install {request}"
    done.refuses(3, f"`{request}` is not installed (set by {origin})", hint)
    world.link(request, world.toolchain("the one"))
    assert run_case(world, case).label == "the one"


def test_the_table_covers_every_shape_of_answer() -> None:
    assert len(CASES) >= 60
    assert {tuple(sorted(case["expect"])) for case in CASES} == {("error", "exit"), ("origin", "request"), ("request",)}


# --- Running a tool


def test_the_tool_runs_as_itself(pinned: World) -> None:
    prefix = pinned.home / "toolchains" / "12.1.1"
    path = f"{prefix}/bin:{pinned.shims}:{pinned.bin}"
    assert pinned.run("-c", "x.cu").said == ["12.1.1", f"{prefix}/bin/nvcc", path, str(prefix), "-c", "x.cu"]


def test_arguments_pass_byte_for_byte(pinned: World) -> None:
    odd = ["", " ", "a b", "*", "$HOME", "`id`", "'", '"', "\\n", "-n", "--", "two\nlines", "tab\t", "é", "#"]
    assert pinned.run(*odd, b"\xff\xfe").said[4:] == [*odd, os.fsdecode(b"\xff\xfe")]


def test_streams_and_exit_status_pass(pinned: World) -> None:
    script(pinned.home / "toolchains/12.1.1/bin/nvcc", "#!/bin/sh\nread -r line\necho $line\necho no >&2\nexit 42\n")
    done = subprocess.run([pinned.shim], check=False, cwd=pinned.root, env={}, input=b"in\nmore", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (42, b"in\n", b"no\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_a_signal_passes(pinned: World, number: signal.Signals) -> None:
    script(pinned.home / "toolchains/12.1.1/bin/nvcc", f"#!/bin/sh\nkill -{number.value} $$\nsleep 5\n")
    assert pinned.run().code == -number


def test_the_tool_takes_the_shims_process(pinned: World) -> None:
    script(pinned.home / "toolchains/12.1.1/bin/nvcc", "#!/bin/sh\necho $$\n")
    with subprocess.Popen([pinned.shim], cwd=pinned.root, env={}, stdout=subprocess.PIPE) as process:
        out, _ = process.communicate()
    assert int(out) == process.pid


def test_many_at_once(pinned: World) -> None:
    pinned.pin("11.8\n", "old")
    pinned.toolchain("11.8.0", "11.8")
    with ThreadPoolExecutor(64) as pool:
        done = list(pool.map(lambda n: pinned.run(str(n), cwd="old" if n % 2 else "."), range(64)))
    assert [(d.label, d.said[4]) for d in done] == [("11.8.0" if n % 2 else "12.1.1", str(n)) for n in range(64)]


def test_other_tools(pinned: World) -> None:
    pinned.make_shims(pinned.home, "cuobjdump", "compute-sanitizer")
    program(pinned.home / "toolchains/12.1.1/bin/compute-sanitizer", "sanitizer")
    assert pinned.run(shim=pinned.shims / "compute-sanitizer").label == "sanitizer"


def test_a_file_of_many_lines_is_as_good(pinned: World) -> None:
    pinned.pin("# ours\n\n12.1\n")
    assert pinned.run().label == "12.1.1"


def test_options_of_the_shell_change_nothing(pinned: World) -> None:
    name, *options = pinned.shell.split()
    for folder, expected in ((pinned.root, 0), (pinned.bin, 127)):
        for flags in ("-eu", "-f", "-euf"):
            words = [str(shutil.which(name)), *options, flags, str(pinned.shim)]
            env = {"PATH": str(pinned.bin)}
            done = subprocess.run(words, check=False, cwd=folder, env=env, capture_output=True)
            assert done.returncode == expected, done


# --- The prefix


def test_a_linked_toolkit_is_reached_through_its_link(world: World, tmp_path: Path) -> None:
    program(tmp_path / "cuda-12.4" / "bin" / "nvcc", "theirs")
    link = world.link("site", tmp_path / "cuda-12.4")
    said = world.run(CVM_TOOLCHAIN="site").said
    assert (said[0], said[1], said[3]) == ("theirs", f"{link}/bin/nvcc", str(link))


@pytest.mark.parametrize("recorded", ["", "\n", "/nowhere\n", "/\n", "{home}\n"])
def test_a_record_that_is_wrong_is_passed_over(pinned: World, recorded: str) -> None:
    record = pinned.home / "toolchains/12.1.1/.cvm/prefix"
    record.write_text(recorded.replace("{home}", str(pinned.home)))
    assert pinned.run().said[3] == f"{pinned.home}/resolved/12.1"


def test_a_record_without_a_newline_is_passed_over(pinned: World) -> None:
    record = pinned.home / "toolchains/12.1.1/.cvm/prefix"
    record.write_text(record.read_text().rstrip("\n"))
    assert pinned.run().said[3] == f"{pinned.home}/resolved/12.1"


def test_the_home_comes_before_the_site(world: World) -> None:
    world.toolchain("12.1.1", "12.1")
    theirs = world.toolchain("12.4.1", "12.1", "12.4", home=world.site)
    site = str(world.site)
    assert world.run(CVM_TOOLCHAIN="12.1", CVM_SITE_HOME=site).label == "12.1.1"
    assert world.run(CVM_TOOLCHAIN="12.4", CVM_SITE_HOME=site).said[3] == str(theirs)
    assert world.run(CVM_TOOLCHAIN="12.4", CVM_SITE_HOME="").code == 3


def test_a_link_that_leads_nowhere(world: World) -> None:
    world.link("12.1", world.home / "toolchains" / "12.1.1")
    world.toolchain("12.1.0", "12.1", home=world.site)
    done = world.run(CVM_TOOLCHAIN="12.1")
    done.refuses(3, "`12.1` is not installed (set by CVM_TOOLCHAIN)", "cvm install 12.1")
    assert world.run(CVM_TOOLCHAIN="12.1", CVM_SITE_HOME=str(world.site)).label == "12.1.0"


def test_a_name_that_the_form_does_not_know_counts_where_it_has_a_link(world: World) -> None:
    world.toolchain("12.1.1-linux-sbsa")
    assert world.run(CVM_TOOLCHAIN="12.1.1-linux-sbsa").label == "12.1.1-linux-sbsa"


@pytest.mark.parametrize("text", [".", "..", "../resolved/12.1", "12.1/", "/", "./12.1"])
def test_no_text_leads_out_of_the_links(pinned: World, text: str) -> None:
    program(pinned.home / "bin" / "nvcc", "outside")
    program(pinned.home / "resolved" / "bin" / "nvcc", "outside")
    assert pinned.run(CVM_TOOLCHAIN=text).code == 2
    pinned.pin(text + "\n")
    assert pinned.run().code == 2


# --- Asking cvm


def test_cvm_is_asked_for_what_has_no_link(world: World, tmp_path: Path) -> None:
    prefix = tmp_path / "far away"
    program(prefix / "bin" / "nvcc", "found")
    script(
        world.bin / "cvm", f'#!/bin/sh\necho "$CVM_HOME" "$@" >{shlex.quote(str(tmp_path))}/asked\necho "{prefix}"\n'
    )
    world.pin("nccl=2.18\n12.1\n")
    assert world.run().said[3] == str(prefix)
    assert (tmp_path / "asked").read_text() == f"{world.home} which --prefix -- 12.1-nccl2.18\n"


@pytest.mark.parametrize("answer", ["exit 3", "echo /nowhere", "echo; echo oh no >&2", "cat"])
def test_cvm_does_not_know_either(world: World, answer: str) -> None:
    script(world.bin / "cvm", f"#!/bin/sh\n{answer}\n")
    done = world.run(CVM_TOOLCHAIN="12.3")
    done.refuses(3, "`12.3` is not installed (set by CVM_TOOLCHAIN)", "cvm install 12.3")


def test_cvm_does_not_eat_the_tools_input(world: World, tmp_path: Path) -> None:
    script(tmp_path / "far" / "bin" / "nvcc", '#!/bin/sh\nread -r line\necho "$line"\n')
    script(world.bin / "cvm", f"#!/bin/sh\nread -r line\necho {shlex.quote(str(tmp_path))}/far\n")
    env = {"PATH": f"{world.shims}:{world.bin}", "CVM_TOOLCHAIN": "12.3"}
    done = subprocess.run([world.shim], check=False, cwd=world.root, env=env, input=b"in\n", capture_output=True)
    assert done.stdout == b"in\n"


# --- PATH and CUDA_HOME


def test_a_path_that_begins_with_the_toolchain_stays(pinned: World) -> None:
    path = f"{pinned.home}/toolchains/12.1.1/bin:/usr/bin"
    assert pinned.run(path=None, PATH=path).said[2] == path


def test_a_path_that_only_looks_alike_does_not(pinned: World) -> None:
    first = f"{pinned.home}/toolchains/12.1.1/bin"
    assert pinned.run(path=None, PATH=f"{first}2:/usr/bin").said[2] == f"{first}:{first}2:/usr/bin"


def test_no_path_at_all(pinned: World) -> None:
    first = f"{pinned.home}/toolchains/12.1.1/bin"
    assert pinned.run(path=None, PATH="").said[2] == first
    said = pinned.run(path=None).said[2].split(":")
    assert said[0] == first
    assert "" not in said


def test_cuda_home_is_the_toolchain_that_runs(pinned: World) -> None:
    assert pinned.run(CUDA_HOME="/usr/local/cuda").said[3] == f"{pinned.home}/toolchains/12.1.1"


def test_the_rest_of_the_environment_stays(pinned: World) -> None:
    tool = pinned.home / "toolchains/12.1.1/bin/nvcc"
    tool.unlink()
    tool.symlink_to(str(shutil.which("env")))
    theirs = {
        "LD_LIBRARY_PATH": "/opt/lib::",
        "CDPATH": "/:/tmp",
        "ENV": "/nowhere/profile",
        "BASH_ENV": "/nowhere/bash",
        **dict.fromkeys(("tool", "home", "request", "line", "file", "folder", "origin", "prefix", "text"), "mine * '"),
        "REPLY": "mine",
        "CUDA_PATH": "/opt/cuda",
        "CVM_SITE_HOME": "/nowhere/site",
    }
    for variables in (theirs, {**theirs, "CVM_TOOLCHAIN": "12.1-cudnn"}):
        pinned.link("12.1-cudnn", tool.parents[1]) if len(variables) > len(theirs) else None
        done = pinned.run("-0", **variables)
        after = dict(part.split(b"=", 1) for part in done.out.split(b"\0")[:-1])
        said = {os.fsdecode(name): os.fsdecode(value) for name, value in after.items()}
        for name, value in variables.items():
            assert said[name] == value, name
        # Bash adds its own.
        added = set(said) - set(variables) - {"PWD", "OLDPWD", "SHLVL", "_"}
        assert added == {"PATH", "CUDA_HOME", "_CVM_DEPTH"}


def test_an_exported_ifs_does_not_split_anything(pinned: World) -> None:
    for text in ("12.1\n", "# x\n12.1\n"):
        pinned.pin(text)
        assert pinned.run("a.b", IFS="./1").said[4:] == ["a.b"]


# --- The tool isn't there


def test_the_tool_is_in_other_toolchains(world: World) -> None:
    world.toolchain("12.1.1", "12.1", tool=None)
    world.toolchain("11.8.0", "11", "11.8")
    world.toolchain("12.4.1", "12.4", "latest")
    world.toolchain("12.4.1-copy", home=world.site, tool=None)
    world.toolchain("12.6.0", "12.6", home=world.site)
    done = world.run(CVM_TOOLCHAIN="12.1.1")
    hint = "cvm exec NAME -- nvcc, where NAME is one of 11.8.0, 12.4.1"
    done.refuses(127, "nvcc is not in 12.1.1 (set by CVM_TOOLCHAIN)", hint)
    world.toolchain("12.4.1", home=world.site)
    world.pin("# ours\n12.1\n")
    done = world.run(CVM_SITE_HOME=str(world.site))
    hint = "cvm exec NAME -- nvcc, where NAME is one of 11.8.0, 12.4.1, 12.6.0"
    done.refuses(127, f"nvcc is not in 12.1 (set by {world.root}/.cuda-version:2)", hint)


@pytest.mark.parametrize("kind", ["missing", "folder", "not executable"])
def test_the_tool_is_nowhere(world: World, kind: str) -> None:
    tool = world.toolchain("12.1.1", tool=None) / "bin" / "nvcc"
    if kind == "folder":
        tool.mkdir()
    if kind == "not executable":
        tool.write_text("x")
    done = world.run(CVM_TOOLCHAIN="12.1.1")
    done.refuses(127, "nvcc is not in 12.1.1 (set by CVM_TOOLCHAIN)", "no installed toolchain has it")


# --- Nothing selected, or `system`


def test_without_a_selection_the_next_on_path_runs(world: World) -> None:
    program(world.bin / "nvcc", "machine's")
    said = world.run("x", CUDA_HOME="/opt/cuda").said
    assert said == ["machine's", f"{world.bin}/nvcc", f"{world.shims}:{world.bin}", "/opt/cuda", "x"]
    assert world.run().said[3] == "unset"


def test_system_hides_what_is_above(pinned: World) -> None:
    program(pinned.bin / "nvcc", "machine's")
    pinned.pin("system\n", "plain")
    assert pinned.run(cwd="plain").label == "machine's"
    assert pinned.run(CVM_TOOLCHAIN="system").label == "machine's"
    assert pinned.run().label == "12.1.1"


def test_nothing_selected_but_something_installed(world: World) -> None:
    world.toolchain("11.8.0", "11")
    world.toolchain("12.1.1", "12")
    hint = "cvm use NAME, where NAME is one of 11.8.0, 12.1.1"
    world.run().refuses(127, "no toolchain is selected, and no other nvcc is on PATH", hint)


def test_shims_are_passed_over_however_they_are_spelled(world: World, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(world.shims)
    (tmp_path / "single").mkdir()
    (tmp_path / "single" / "nvcc").symlink_to(world.shim)
    program(tmp_path / "last" / "nvcc", "last")
    folders = [world.shims, f"{world.shims}/", f"{tmp_path}/link", f"{tmp_path}/single", f"{world.home}/./shims"]
    path = ":".join(map(str, [*folders, *folders, tmp_path / "last"]))
    for shim in (world.shim, tmp_path / "link" / "nvcc", tmp_path / "single" / "nvcc"):
        assert world.run(path=None, PATH=path, shim=shim).label == "last"


def test_what_is_no_program_is_passed_over(world: World, tmp_path: Path) -> None:
    (tmp_path / "folder" / "nvcc").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "nvcc").write_text("x")
    (tmp_path / "dangling").mkdir()
    (tmp_path / "dangling" / "nvcc").symlink_to("nowhere")
    program(tmp_path / "last" / "nvcc", "last")
    folders = ("folder", "plain", "dangling", "missing", "last")
    assert world.run(path=":".join(str(tmp_path / name) for name in folders)).label == "last"


@pytest.mark.parametrize("path", ["{shims}:", ":{shims}", "{shims}::{bin}", "", ":", "::"])
def test_an_empty_element_does_not_mean_the_current_folder(world: World, path: str) -> None:
    program(world.root / "nvcc", "planted")
    path = path.format(shims=world.shims, bin=world.bin)
    done = world.run(path=None, PATH=path)
    done.refuses(127, "no toolchain is selected, and no other nvcc is on PATH", "cvm install 12.1")


def test_the_next_on_path_and_not_the_one_before(world: World, tmp_path: Path) -> None:
    for name in ("before", "after"):
        program(tmp_path / name / "nvcc", name)
    before, after = tmp_path / "before", tmp_path / "after"
    assert world.run(path=None, PATH=f"{before}:{world.shims}:{after}").label == "after"
    assert world.run(path=None, PATH=f"{before}:{world.shims}:{after}:{world.shims}:{before}").label == "after"
    assert world.run(path=None, PATH=f"{before}:{world.shims}").label == "before"
    assert world.run(path=None, PATH=f"{before}:{after}").label == "before"


# --- Loops


def test_two_homes_on_path(world: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    theirs = world.make_shims(other)
    program(world.bin / "nvcc", "machine's")
    for path in (f"{world.shims}:{theirs}:{world.bin}", f"{theirs}:{world.shims}:{world.bin}"):
        assert world.run(path=None, PATH=path).label == "machine's"
    world.toolchain("12.4.1", home=other)
    (other / "global").write_text("12.4.1\n")
    assert world.run(path=None, PATH=f"{world.shims}:{theirs}:{world.bin}").label == "12.4.1"


def test_two_homes_that_lead_to_each_other(world: World, tmp_path: Path) -> None:
    theirs = world.make_shims(tmp_path / "other")
    path = f"{world.shims}:{theirs}"
    ends(world, path, lambda: world.run(path=None, PATH=path))


def test_a_tool_that_calls_itself_by_name(pinned: World) -> None:
    tool = pinned.home / "toolchains/12.1.1/bin/nvcc"
    script(tool, f'#!/bin/sh\nPATH={shlex.quote(str(pinned.shims))} exec nvcc "$@"\n')
    ends(pinned, str(pinned.shims), pinned.run)


def ends(world: World, path: str, call: Any) -> None:
    start = time.monotonic()
    done = call()
    # Well under a second when nothing else runs.
    assert time.monotonic() - start < 5
    done.refuses(127, f"nvcc calls itself through cvm's shims; PATH is {path}", None)


def test_a_toolchain_that_holds_the_shim(world: World, tmp_path: Path) -> None:
    prefix = world.toolchain("12.1.1", tool=None)
    path = f"{world.shims}:{world.bin}"
    (prefix / "bin" / "nvcc").symlink_to(world.shim)
    world.run(CVM_TOOLCHAIN="12.1.1").refuses(127, f"nvcc calls itself through cvm's shims; PATH is {path}", None)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "bin").symlink_to(world.shims)
    world.link("odd", tmp_path / "odd")
    world.run(CVM_TOOLCHAIN="odd").refuses(127, f"nvcc calls itself through cvm's shims; PATH is {path}", None)


def test_calls_inside_calls(pinned: World) -> None:
    tool = pinned.home / "toolchains/12.1.1/bin/nvcc"
    inner = f"exec {shlex.quote(str(pinned.shim))} $(($1 - 1))"
    script(tool, f'#!/bin/sh\nif [ "$1" = 0 ]; then echo "done at $_CVM_DEPTH"; else {inner}; fi\n')
    assert pinned.run("20").out == b"done at 21\n"


@pytest.mark.parametrize("depth", ["", "x", "08", "1;2", "$(id)", "-1", "99999999999999999999", "a[0]", "*", "1 2"])
def test_a_depth_that_is_no_number(pinned: World, depth: str) -> None:
    script(pinned.home / "toolchains/12.1.1/bin/nvcc", "#!/bin/sh\necho $_CVM_DEPTH\n")
    done = pinned.run(_CVM_DEPTH=depth)
    assert (done.code, done.out, done.err) == (0, b"1\n", "")


def test_the_depth_is_counted(pinned: World) -> None:
    script(pinned.home / "toolchains/12.1.1/bin/nvcc", "#!/bin/sh\necho $_CVM_DEPTH\n")
    assert pinned.run(_CVM_DEPTH="40").out == b"41\n"
    assert pinned.run(_CVM_DEPTH="41").code == 127


# --- The current folder


@pytest.mark.parametrize(
    "pwd", [".", "/nowhere", "", "work", "..", "/", "{root}/a/..", "{root}/./a", "{root}/a/../../work"]
)
def test_a_pwd_that_lies(pinned: World, pwd: str) -> None:
    pinned.pin("11.8\n", "a/b")
    (pinned.root / "a" / "c").mkdir()
    assert pinned.run(cwd="a/c", PWD=pwd.format(root=pinned.root)).label == "12.1.1"
    assert pinned.run(cwd=".", PWD=pwd.format(root=pinned.root)).label == "12.1.1"


def test_a_pwd_with_dots_names_no_folder_that_is_not_above(pinned: World) -> None:
    pinned.pin("11.8\n", "side")
    (pinned.root / "main").mkdir()
    assert pinned.run(cwd="main", PWD=f"{pinned.root}/side/../main").label == "12.1.1"


def test_a_folder_reached_through_a_link_is_below_the_link(world: World, tmp_path: Path) -> None:
    world.toolchain("12.1.1", "12.1")
    world.pin("12.1\n")
    (tmp_path / "elsewhere").mkdir()
    (world.root / "link").symlink_to(tmp_path / "elsewhere")
    assert world.run(cwd="link", PWD=f"{world.root}/link").label == "12.1.1"
    assert world.run(cwd="link").code == 127


def test_the_root_folder(world: World) -> None:
    program(world.bin / "nvcc", "machine's")
    for pwd in ("/", "//", "/.", "/tmp"):
        assert world.run(cwd="/", PWD=pwd).label == "machine's"


def test_a_deleted_folder(world: World) -> None:
    world.toolchain("12.1.1", "12.1")
    (world.home / "global").write_text("12.1\n")
    line = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    for pwd in ({}, {"PWD": f"{world.root}/gone"}, {"PWD": "."}):
        done = subprocess.run(
            ["/bin/sh", "-c", line, "sh", "env", *(f"{k}={v}" for k, v in pwd.items()), str(world.shim)],
            check=False,
            cwd=world.root,
            capture_output=True,
            timeout=10,
        )
        assert done.stdout.startswith(b"12.1.1\0"), done


def test_a_deep_folder(pinned: World) -> None:
    deep = pinned.root / "/".join(["d" * 20] * 100)
    deep.mkdir(parents=True)
    assert pinned.run(cwd=deep).label == "12.1.1"


def test_a_file_that_may_not_be_read(open_world: World) -> None:
    world = open_world
    world.toolchain("12.1.1", "12.1")
    path = world.pin("12.1\n")
    assert world.run(options=COMMON_USER).label == "12.1.1"
    path.chmod(0)
    world.run(options=COMMON_USER).refuses(8, f"{path} can't be read: permission denied", "make it readable")
    path.unlink()
    (world.home / "global").touch(0)
    done = world.run(options=COMMON_USER)
    done.refuses(8, f"{world.home}/global can't be read: permission denied", "make it readable")


def test_a_record_that_may_not_be_read_is_passed_over(open_world: World) -> None:
    prefix = open_world.toolchain("12.1.1", "12.1")
    (prefix / ".cvm" / "prefix").chmod(0)
    assert open_world.run(options=COMMON_USER, CVM_TOOLCHAIN="12.1").said[3] == f"{open_world.home}/resolved/12.1"


def test_a_file_that_is_a_link(pinned: World, tmp_path: Path) -> None:
    shutil.move(pinned.root / ".cuda-version", tmp_path / "shared")
    (pinned.root / ".cuda-version").symlink_to(tmp_path / "shared")
    assert pinned.run().label == "12.1.1"
    (tmp_path / "shared").unlink()
    assert pinned.run().code == 127


def test_a_pipe_of_the_name_is_no_file(pinned: World) -> None:
    (pinned.root / "a").mkdir()
    os.mkfifo(pinned.root / "a" / ".cuda-version")
    assert pinned.run(cwd="a").label == "12.1.1"


# --- Odd paths

ODD = {
    "blanks": "a  b ",
    "quotes": 'it\'s "so"',
    "dollars": "$HOME`id`$(id)",
    "newlines": "a\nb",
    "globs": "[a]*?{b}",
    "backslashes": "a\\b\\n",
    "signs": "-n #;&|<>~%s",
    "not UTF-8": os.fsdecode(b"\xff\xfeb"),
    "letters": "ünï→日本",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_paths(tmp_path: Path, shell: str, name: str) -> None:
    folder = tmp_path / ODD[name]
    folder.mkdir()
    world = World(folder, shell)
    prefix = world.toolchain("12.1.1", "12.1")
    if name == "newlines":
        (prefix / ".cvm" / "prefix").unlink()
        prefix = world.home / "resolved" / "12.1"
    for text in ("12.1\n", "# x\n12.1\n"):
        path = world.pin(text)
        (world.root / ODD[name] / "x").mkdir(parents=True, exist_ok=True)
        said = world.run("a", cwd=f"{ODD[name]}/x").said
        assert (said[0], said[1], said[3], said[4:]) == ("12.1.1", f"{prefix}/bin/nvcc", str(prefix), ["a"])
    world.pin("12.4\n")
    world.run().refuses(3, f"`12.4` is not installed (set by {path}:1)", "cvm install 12.4")
    path.unlink()
    program(world.bin / "nvcc", "machine's")
    assert world.run().label == "machine's"
    (world.home / "global").write_text("12.1\n")
    assert world.run().label == "12.1.1"
    hint = "cvm exec NAME -- nvcc, where NAME is one of 12.1.1"
    world.toolchain("11.8.0", tool=None)
    world.run(CVM_TOOLCHAIN="11.8.0").refuses(127, "nvcc is not in 11.8.0 (set by CVM_TOOLCHAIN)", hint)


# --- The template


def test_the_template_has_one_place_for_the_home() -> None:
    assert TEMPLATE.count(b"@CVM_HOME@") == 1
    assert TEMPLATE.startswith(b"#!/bin/sh\n")
    assert TEMPLATE.isascii()


def test_the_ordinary_way_starts_no_process(open_world: World) -> None:
    world, options = open_world, {**COMMON_USER, "preexec_fn": no_more_processes}
    world.toolchain("12.1.1", "12.1", "12.1-cudnn8")
    world.toolchain("12.4.1", "12.4", home=world.site)
    for text in ("12.1\n", "12.1", "# x\n12.1\n", "12.1\ncudnn = 8\n"):
        world.pin(text, "a")
        (world.root / "a/b/c").mkdir(parents=True, exist_ok=True)
        assert world.run(cwd="a/b/c", options=options).label == "12.1.1"
    assert world.run(CVM_TOOLCHAIN="12.4", CVM_SITE_HOME=str(world.site), options=options).label == "12.4.1"
    program(world.bin / "nvcc", "machine's")
    assert world.run(options=options).label == "machine's"
    # The limit is in force: this program starts another.
    assert subprocess.run(["timeout", "5", "true"], check=False, capture_output=True, **options).returncode != 0


def no_more_processes() -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
