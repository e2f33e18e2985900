"""The completion files, in the shells themselves: each starts with an empty environment, and completes a real line."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cvm.actions.integrate import completions
from cvm.cli.app import COMMANDS
from cvm.core.platform import INSTALLABLE

ROOT = Path(__file__).parents[2]
FILES = {"bash": "cvm.bash", "zsh": "_cvm", "fish": "cvm.fish"}
SHELLS = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name} on this machine"))
    for name in FILES
]

BASH = """\
{before}
. {file}
[[ $(complete -p cvm) =~ -F\\ ([^ ]+) ]]
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE={line}; COMP_POINT=${{#COMP_LINE}}
"${{BASH_REMATCH[1]}}" cvm "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
if [ ${{#COMPREPLY[@]}} != 0 ]; then printf '%s\\n' "${{COMPREPLY[@]}}"; fi
"""

# A terminal with an interactive shell in it, and a key that lists what TAB would offer.
ZSH = """\
zmodload zsh/zpty
zpty shell {zsh} -f -i
zpty -w shell "source {setup}"
zpty -r shell seen '*READY*'
zpty -w -n shell {line}$'\\C-t'
zpty -r shell seen '*FINISHED*'
print -r -- "$seen" >&2
zpty -d shell
"""
ZSH_SETUP = """\
unsetopt beep zle_bracketed_paste prompt_sp
PS1= LISTMAX=100000 COLUMNS=500
{before}
compadd() {{
    if [[ ${{@[1,(i)(-|--)]}} != *-[OAD]\\ * ]]; then
        local -a offered
        builtin compadd -O offered "$@"
        print -rl -- $offered >>{hits}
    fi
    builtin compadd "$@"
}}
finish() {{ zle list-choices; zle .kill-whole-line; zle -R; print -n 'FINI''SHED' }}
zle -N finish
bindkey '^T' finish
print 'REA''DY'
"""
AUTOLOADED = "fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {folder}/dump"
EVALUATED = 'autoload -Uz compinit; compinit -u -D; eval "$(<{folder}/_cvm)"'


@dataclass
class Shell:
    """One shell with cvm's completion; `before` is what the person's own settings did."""

    name: str
    folder: Path
    environment: dict[str, str]
    before: str = ""
    shown: str = field(default="", init=False)

    @property
    def file(self) -> Path:
        return self.folder / FILES[self.name]

    def offers(self, line: str) -> list[str]:
        """Return what TAB offers at the end of a line, sorted; nothing may be said beside it."""
        return sorted(set(getattr(self, f"_{self.name}")(line)))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = shutil.which(self.name)
        assert program
        done = subprocess.run(
            [program, *arguments],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert not (self.folder / "started").exists()
        return done

    def _bash(self, line: str) -> list[str]:
        words = re.findall(r"=|[^\s=]+", line) + [""] * line.endswith((" ", "="))
        script = BASH.format(before=self.before, file=self.file, words=shlex.join(words), line=shlex.quote(line))
        done = self.run("--norc", "--noprofile", "-c", script)
        assert done.stderr == ""
        return done.stdout.splitlines()

    def _zsh(self, line: str) -> list[str]:
        hits, setup = self.folder / "hits", self.folder / "setup.zsh"
        hits.write_text("")
        before = (self.before or AUTOLOADED).format(folder=self.folder)
        setup.write_text(ZSH_SETUP.format(before=before, hits=hits))
        script = ZSH.format(zsh=shutil.which("zsh"), setup=setup, line=shlex.quote(line))
        self.shown = self.run("-f", "-c", script).stderr
        assert not re.search(r"^\S+:\d+: |^zsh: ", self.shown, re.MULTILINE), self.shown
        return hits.read_text().split()

    def _fish(self, line: str) -> list[str]:
        script = f"{self.before}\nsource {self.file}; complete -C {shlex.quote(line)}"
        done = self.run("--no-config", "-c", script)
        assert done.stderr == ""
        self.shown = done.stdout
        return [text.partition("\t")[0] for text in done.stdout.splitlines()]


def install(home: Path, *names: str) -> None:
    for name in names:
        receipt = home / "toolchains" / name / ".cvm" / "receipt.json"
        receipt.parent.mkdir(parents=True)
        receipt.write_text("{}")


def link(home: Path, **requests: str) -> None:
    (home / "resolved").mkdir(parents=True, exist_ok=True)
    for request, name in requests.items():
        (home / "resolved" / request).symlink_to(f"../toolchains/{name}")


def program(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two toolchains, beside folders that are none."""
    home = tmp_path / "my home's"
    install(home, "11.8.0", "12.1.1-cudnn8.9.4.25", ".staging-1", "odd name", "$(touch started)")
    (home / "toolchains" / "12.9.9").mkdir()
    newest = "12.1.1-cudnn8.9.4.25"
    requests = {"12": newest, "12.1": newest, "12.1-cudnn8.9": newest, newest: newest, "11.8": "11.8.0"}
    link(home, **requests, latest=newest, dangling="13.0.0")
    for tool in ("nvcc", "ptxas", "cu++filt"):
        program(home / "shims" / tool)
    return home


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Shell:
    """A shell on whose PATH are only programs that must not be started, and one command."""
    folder = tmp_path / "shell"
    for name in ("cvm", "python", "python3"):
        program(folder / "bin" / name, f"echo {name} >>{folder}/started")
    program(folder / "bin" / "mytool")
    environment = {"PATH": str(folder / "bin"), "HOME": str(folder), "CVM_HOME": str(home), "TERM": "dumb"}
    shell = Shell(request.param, folder, environment)
    shell.file.write_text(completions(shell.name))
    return shell


def arguments(shell: Shell, line: str) -> list[str]:
    """Leave out the options, which zsh offers where there is nothing else."""
    return [text for text in shell.offers(line) if not text.startswith("-")]


EXACT = ["11.8.0", "12.1.1-cudnn8.9.4.25"]
SELECTABLE = sorted([*EXACT, "11.8", "12", "12.1", "latest"])


def test_the_files_are_what_the_script_makes() -> None:
    command = [sys.executable, ROOT / "scripts" / "refresh_completions", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", SHELLS)
def test_the_shell_can_read_its_file(name: str) -> None:
    subprocess.run([name, "-n", ROOT / "completions" / FILES[name]], check=True)


def test_shellcheck_finds_nothing() -> None:
    checker = Path(sys.executable).with_name("shellcheck")
    subprocess.run([checker, ROOT / "completions" / "cvm.bash"], check=True)


def test_commands(shell: Shell) -> None:
    assert shell.offers("cvm ") == sorted(COMMANDS)
    assert shell.offers("cvm lis") == ["list", "list-remote"]
    assert shell.offers("cvm -q uni") == ["uninstall"]
    assert shell.offers("cvm cache ") == ["clear", "dir"]
    assert shell.offers("cvm nonsense ") == []


def test_summaries(shell: Shell) -> None:
    if shell.name == "bash":
        return
    shell.offers("cvm uni")
    shell.offers("cvm ")
    assert "Remove a toolchain, and the archives that no other one uses." in shell.shown
    shell.offers("cvm uninstall --")
    assert "Say what would be removed, and remove nothing." in shell.shown


def test_options(shell: Shell) -> None:
    assert shell.offers("cvm --v") == ["--version"]
    assert shell.offers("cvm uninstall --") == ["--dry-run", "--help", "--json"]
    assert set(shell.offers("cvm install --with-")) == {"--with-cudnn", "--with-nccl"}
    assert shell.offers("cvm cache dir --j") == ["--json"]
    assert shell.offers("cvm install 12.1 --source pypi --dry") == ["--dry-run"]


def test_hidden_options_are_not_offered(shell: Shell) -> None:
    assert "--auto" not in shell.offers("cvm use --")
    assert "--prefix" not in shell.offers("cvm which --")


def test_values_of_choices(shell: Shell) -> None:
    assert shell.offers("cvm install --source ") == ["auto", "file", "pypi", "redist"]
    assert shell.offers("cvm install 12.1 --profile r") == ["runtime"]
    assert shell.offers("cvm env --shell ") == ["bash", "fish", "sh", "zsh"]
    assert shell.offers("cvm env --format d") == ["dockerfile", "dotenv"]
    assert shell.offers("cvm install --platform ") == sorted(INSTALLABLE)
    assert shell.offers("cvm init ") == ["bash", "fish", "sh", "zsh"]
    assert shell.offers("cvm completions z") == ["zsh"]
    assert shell.offers("cvm doctor --fail-on ") == ["error", "never", "unknown", "warning"]


def test_values_behind_an_equals_sign(shell: Shell) -> None:
    assert [text.removeprefix("--source=") for text in shell.offers("cvm install --source=re")] == ["redist"]
    assert len(shell.offers("cvm install --source=")) == 4
    assert shell.offers("cvm install --source=pypi --dry") == ["--dry-run"]


def test_a_value_of_any_form_offers_nothing(shell: Shell) -> None:
    assert shell.offers("cvm install --component ") == []
    assert arguments(shell, "cvm list ") == []


@pytest.mark.parametrize("command", ["uninstall", "verify"])
def test_installed_toolchains(shell: Shell, command: str) -> None:
    assert shell.offers(f"cvm {command} ") == EXACT
    assert shell.offers(f"cvm {command} 11.8.0 12") == ["12.1.1-cudnn8.9.4.25"]


def test_selectable_toolchains(shell: Shell) -> None:
    assert shell.offers("cvm env ") == SELECTABLE
    assert shell.offers("cvm exec ") == SELECTABLE
    assert shell.offers("cvm global ") == sorted([*SELECTABLE, "system"])
    assert shell.offers("cvm local l") == ["latest"]
    assert [text for text in shell.offers("cvm use ") if text != "-"] == sorted([*SELECTABLE, "system"])
    assert "-" in shell.offers("cvm use ")
    assert shell.offers("cvm use --ld-library-path auto 12.1.") == ["12.1.1-cudnn8.9.4.25"]
    assert arguments(shell, "cvm use 12.1 ") == []


def test_a_site_home(shell: Shell, tmp_path: Path) -> None:
    site = tmp_path / "the site"
    install(site, "10.2.0", "11.8.0")
    link(site, **{"10.2": "10.2.0"})
    shell.environment["CVM_SITE_HOME"] = str(site)
    assert shell.offers("cvm verify ") == ["10.2.0", *EXACT]
    assert shell.offers("cvm env 10") == ["10.2", "10.2.0"]
    # What belongs to the site can't be removed from here.
    assert shell.offers("cvm uninstall ") == EXACT


def test_the_usual_home(shell: Shell, home: Path) -> None:
    del shell.environment["CVM_HOME"]
    (shell.folder / ".local" / "share").mkdir(parents=True)
    shutil.copytree(home, shell.folder / ".local" / "share" / "cvm", symlinks=True)
    assert shell.offers("cvm uninstall ") == EXACT
    shell.environment["XDG_DATA_HOME"] = str(shell.folder / "data")
    assert shell.offers("cvm uninstall ") == []
    shutil.copytree(home, shell.folder / "data" / "cvm", symlinks=True)
    assert shell.offers("cvm uninstall ") == EXACT


def test_an_empty_home(shell: Shell, tmp_path: Path) -> None:
    shell.environment["CVM_HOME"] = str(tmp_path / "nothing")
    assert shell.offers("cvm uninstall ") == []
    assert shell.offers("cvm env ") == []
    assert shell.offers("cvm which ") == []


def test_releases(shell: Shell, home: Path) -> None:
    added = home / "manifests" / "cuda" / "99.1.0.toml"
    added.parent.mkdir(parents=True)
    added.write_text("")
    assert {"12.1.1", "99.1.0", "latest"} <= set(shell.offers("cvm install "))
    assert shell.offers("cvm install 12.1.1 99") == ["99.1.0"]
    assert shell.offers("cvm install --with-cudnn 8.9.4") == ["8.9.4"]
    assert {"auto", "8.9.4"} <= set(shell.offers("cvm install --with-cudnn "))
    assert {"auto"} < set(shell.offers("cvm install --with-nccl "))
    assert shell.offers("cvm install --with cut") == ["cutensor"]


def test_products(shell: Shell) -> None:
    assert shell.offers("cvm list-remote ") == ["cuda", "cudnn", "cusparselt", "cutensor", "nccl"]
    assert shell.offers("cvm list-remote cudnn ") == []
    assert shell.offers("cvm manifest refresh cuda cud") == ["cuda", "cudnn"]


def test_the_file_as_it_is_in_the_repository(shell: Shell, home: Path) -> None:
    shutil.copy(ROOT / "completions" / shell.file.name, shell.file)
    assert shell.offers("cvm install ") == ["latest"]
    assert shell.offers("cvm uninstall ") == EXACT


def test_tools(shell: Shell) -> None:
    assert shell.offers("cvm which ") == ["cu++filt", "nvcc", "ptxas"]


def test_files(shell: Shell) -> None:
    (shell.folder / "archives").mkdir()
    if shell.name == "bash":  # There it is readline that offers them.
        assert shell.offers("cvm install --from arch") == []
        return
    assert [text.rstrip("/") for text in shell.offers("cvm install --from arch")] == ["archives"]
    assert [text.rstrip("/") for text in shell.offers("cvm link site arch")] == ["archives"]
    assert shell.offers("cvm link arch") == []
    assert [text.rstrip("/") for text in shell.offers("cvm doctor arch")] == ["archives"]
    assert [text.rstrip("/") for text in shell.offers("cvm doctor --root arch")] == ["archives"]


def test_a_command_behind_dashes(shell: Shell) -> None:
    assert shell.offers("cvm exec 12.1 -- myt") == ["mytool"]
    assert shell.offers("cvm exec -- myt") == ["mytool"]
    assert shell.offers("cvm exec -- nonsense") == []
    assert shell.offers("cvm doctor -- myt") == ["mytool"]
    assert shell.offers("cvm doctor /venv --fail-on warning -- myt") == ["mytool"]
    assert "mytool" in shell.offers("cvm exec -- ")
    assert shell.offers("cvm exec 12.1 -- mytool --") == []


def test_strict_settings_of_the_person(shell: Shell) -> None:
    strict = {
        "bash": "set -eu; shopt -s failglob dotglob",
        "zsh": f"{AUTOLOADED}; setopt nounset errexit globdots nomatch",
        "fish": "",
    }
    shell.before = strict[shell.name]
    assert shell.offers("cvm uninstall ") == EXACT
    assert shell.offers("cvm nonsense ") == []


def test_without_a_home_at_all(shell: Shell) -> None:
    strict = {"bash": "set -u; unset HOME", "zsh": f"{AUTOLOADED}; setopt nounset; unset HOME", "fish": "set -e HOME"}
    shell.before = strict[shell.name]
    del shell.environment["CVM_HOME"]
    assert shell.offers("cvm uninstall ") == []
    assert shell.offers("cvm which ") == []
    assert shell.offers("cvm install --with-cudnn 8.9.4") == ["8.9.4"]


@pytest.mark.parametrize("shell", SHELLS[:1], indirect=True)
def test_bash_lets_its_completion_package_complete_commands(shell: Shell) -> None:
    shell.before = '_command_offset() { COMPREPLY=("from$1"); }'
    assert shell.offers("cvm exec 12.1 -- my") == ["from4"]


@pytest.mark.parametrize("shell", SHELLS[:1], indirect=True)
def test_bash_in_a_terminal(shell: Shell) -> None:
    (shell.folder / "my archives").mkdir()
    (shell.folder / "my archives" / "one.tar").touch()
    typed = {
        "cvm install --sou": "cvm install --source ",
        "cvm install --source=re": "cvm install --source=redist ",
        "cvm install --from my": "cvm install --from my\\ archives/",
        "cvm install --from my\\ archives/o": "cvm install --from my\\ archives/one.tar ",
        "cvm install --from=my": "cvm install --from=my\\ archives/",
        "cvm link site my": "cvm link site my\\ archives/",
        "cvm uninstall '12": "cvm uninstall '12.1.1-cudnn8.9.4.25' ",
        "cvm exec 12.1 -- ./my": "cvm exec 12.1 -- ./my\\ archives/",
        "cvm exec -- myt": "cvm exec -- mytool ",
        "X=1 cvm -q unin": "X=1 cvm -q uninstall ",
    }
    rc = shell.folder / "rc"
    rc.write_text(f". {shell.file}; PS1=; bind 'set enable-bracketed-paste off'; echo READY\n")
    program = shutil.which("bash")
    assert program
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [program, "--noprofile", "--rcfile", rc, "-i"],
        env={**shell.environment, "INPUTRC": "/dev/null"},
        cwd=shell.folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as bash:
        try:
            read_until(ours, "READY\r\n")
            for line, completed in typed.items():
                os.write(ours, f"{line}\t".encode())
                assert completed in read_until(ours, completed)
                os.write(ours, b"\x15")  # empties the line
        finally:
            bash.kill()
    os.close(ours)
    os.close(theirs)


def read_until(terminal: int, text: str) -> str:
    """Return what a terminal shows until there is a text, or nothing more for a while."""
    seen = b""
    while text.encode() not in seen and select.select([terminal], [], [], 10)[0]:
        seen += os.read(terminal, 65536)
    return seen.decode()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_is_left_as_it_was(tmp_path: Path) -> None:
    script = f"""
        state() {{ set +o; shopt -p; compgen -v | grep -Ev '^(_|BASH.*|COMP.*|PIPESTATUS|FUNCNAME|LINENO)$'; }}
        shopt -s failglob
        state >{tmp_path}/before
        . {ROOT}/completions/cvm.bash
        COMP_WORDS=(cvm use ""); COMP_CWORD=2
        _cvm
        state >{tmp_path}/after
    """
    subprocess.run(["bash", "--norc", "-c", script], check=True)
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh on this machine")
@pytest.mark.parametrize("shell", ["zsh"], indirect=True)
def test_zsh_can_evaluate_the_file(shell: Shell) -> None:
    shell.before = EVALUATED
    assert shell.offers("cvm uninstall ") == EXACT


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh on this machine")
def test_zsh_without_its_completion_stays_silent() -> None:
    script = f'setopt nounset; eval "$(<{ROOT}/completions/_cvm)"; typeset -m "*cvm*"'
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
