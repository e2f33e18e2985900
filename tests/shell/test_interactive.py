"""What happens at the prompt of a real interactive shell: each sits at a terminal, and a person types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shell.conftest import Opened, Session, World, powerless, python_with_torch, session
from tests.shell.shells import BASH, FISH, ZSH, Shell, interactive

if TYPE_CHECKING:
    from pathlib import Path

INTERACTIVE = (BASH, ZSH, FISH)


@pytest.fixture(params=INTERACTIVE, ids=lambda shell: shell.name)
def here(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Session:
    """A folder with `project`, which selects 99.1, and folders in it; `elsewhere` selects nothing."""
    found = session(request.param, world, tmp_path)
    (found.folder / "project/src/deep").mkdir(parents=True)
    (found.folder / "elsewhere").mkdir()
    (found.folder / "project/.cuda-version").write_text("99.1\n")
    return found


def read(here: Session) -> str:
    return here.shell.read(here.world.integration(here.shell.kind))


def test_the_folder_is_followed(here: Session, terminal: Opened) -> None:
    person = terminal(here)
    one, ten = str(here.world.toolchain("99.1")), str(here.world.toolchain("99.10"))
    assert (person.told(), person.starts(), "CUDA_HOME" in person.first) == ([], [], False)

    inside = person.type("cd project")
    assert (inside["CUDA_HOME"], "CVM_TOOLCHAIN" in inside) == (one, False)
    assert inside["PATH"] == f"{one}/bin:{here.world.shims}:{here.world.path}"
    file = f"{here.folder}/project/.cuda-version"
    assert person.told() == [f"cvm: 99.1 (set by {file}:1)"]
    assert person.starts() == ["use --auto"]

    assert person.type("cd src", "cd deep", "cd ../..", "true", "cd src") == inside
    assert (person.told(), person.starts()) == ([], [])

    assert person.type("cd ../../elsewhere") == person.first
    assert (person.told(), person.starts()) == ([], ["use --auto"])

    # What a person uses wins over a folder, until `unuse`.
    assert person.type("cvm use 99.10")["CVM_TOOLCHAIN"] == "99.10"
    assert person.type("cd ../project", "cd src", "cd ..")["CUDA_HOME"] == ten
    assert (person.told(), person.starts()) == ([], ["use 99.10"])
    assert person.type("cvm unuse") == inside
    assert person.told() == [f"cvm: 99.1 (set by {file}:1)"]
    assert person.starts() == ["unuse", "use --auto"]

    assert person.type("cvm local 99.10")["CUDA_HOME"] == ten
    assert person.told() == [f"cvm: 99.10 (set by {file}:1)"]
    assert person.starts() == ["local 99.10", "use --auto"]

    assert person.type("cd ..") == person.first


def test_a_version_that_is_missing_is_told_once_and_the_prompt_lives(here: Session, terminal: Opened) -> None:
    person = terminal(here)
    file = here.folder / "elsewhere/.cuda-version"
    file.write_text("99.77\n")
    person.type("cd project")
    person.told()
    assert person.type("cd ../elsewhere", "true", "cd .", "true").items() >= person.first.items()
    (line,) = person.told()
    assert line.startswith("cvm: `99.77` is not installed; installed are ")
    assert line.endswith(f" (set by {file}:1) (cvm install 99.77)")
    assert person.starts() == ["use --auto", "use --auto"]
    person.type("cd ..")
    file.write_text("garbage in here\n")
    person.type("cd elsewhere")
    (line,) = person.told()
    assert line.startswith(f"cvm: {file}:1 can't be read")


def test_the_global_default_is_active_and_nested_shells_start_nothing(
    here: Session, own_home: World, terminal: Opened
) -> None:
    mine = Session(here.shell, own_home, here.folder, here.notes)
    (own_home.home / "global").write_text("99.10\n")
    person = terminal(mine)
    assert person.first["CUDA_HOME"] == str(own_home.toolchain("99.10"))
    assert person.told() == ["cvm: 99.10 (set by $CVM/global:1)"]
    assert person.starts() == ["use --auto"]
    again = " ".join(mine.shell.quote(word) for word in interactive(mine.shell, mine.folder, read(mine)))
    assert person.type(again, "true", "cd elsewhere") == person.first
    assert (person.told(), person.starts()) == ([], [])
    assert person.type("exit", "cd project")["CUDA_HOME"] == str(own_home.toolchain("99.1"))
    person.type("cvm global --unset", "cd ..")
    assert "CUDA_HOME" not in person.type("true")


def test_another_python_is_weighed_anew(here: Session, terminal: Opened) -> None:
    venv = python_with_torch(here.world, here.folder)
    say = here.shell
    person = terminal(here)
    used = person.type("cvm use 99.10")
    assert used["LD_LIBRARY_PATH"] == str(here.world.toolchain("99.10") / "lib")
    person.told()
    within = person.type(f"{say.prepend('PATH', str(venv / 'bin'))}; {say.export('VIRTUAL_ENV', str(venv))}")
    assert "LD_LIBRARY_PATH" not in within
    assert (within["CVM_TOOLCHAIN"], within["VIRTUAL_ENV"]) == ("99.10", str(venv))
    (line,) = person.told()
    assert line.startswith("cvm: LD_LIBRARY_PATH stays as it is, for otherwise torch 2.99.0 won't import: ")
    assert person.starts() == ["use 99.10", "use --auto"]
    assert person.type("cd project", "true") == within
    assert person.starts() == []
    left = person.type(f"{say.export('PATH', used['PATH'])}; {say.unset('VIRTUAL_ENV')}")
    assert left == used
    assert person.starts() == ["use --auto"]


def test_a_file_that_somebody_else_writes_is_followed(here: Session, terminal: Opened) -> None:
    person = terminal(here)
    person.type("cd project/src")
    person.starts()
    changed = person.type("echo 99.10 >../.cuda-version")
    assert changed["CUDA_HOME"] == str(here.world.toolchain("99.10"))
    assert person.starts() == ["use --auto"]
    assert person.type("true", "true") == changed
    assert person.starts() == []
    assert person.type("rm ../.cuda-version") == person.first
    assert person.type("echo 99.1 >../.cuda-version")["CUDA_HOME"] == str(here.world.toolchain("99.1"))
    assert person.type("rm ../.cuda-version; mkfifo ../.cuda-version", "true") == person.first


def test_what_a_virtual_environment_puts_back_does_not_stay(here: Session, terminal: Opened) -> None:
    person = terminal(here)
    inside = person.type("cd project")["PATH"]
    person.type("cd ../elsewhere")
    assert person.type(here.shell.export("PATH", inside)) == person.first
    assert person.type("cvm use 99.10", "cvm unuse", here.shell.export("PATH", inside)) == person.first


def test_an_endless_file_harms_no_prompt(here: Session, terminal: Opened) -> None:
    person = terminal(here)
    (here.folder / "elsewhere/.cuda-version").write_text("# " + "x" * 140_000 + "\n99.1\n")
    assert person.type("cd elsewhere", "sh -c true") == {
        **person.first,
        "_CVM_AUTO": person.type("true").get("_CVM_AUTO"),
    }
    (line,) = person.told()
    assert "is too long to name a CUDA version" in line
    assert person.type("cd ../project")["CUDA_HOME"] == str(here.world.toolchain("99.1"))


def test_a_program_that_is_gone_is_told_and_tried_again(here: Session, own_home: World, terminal: Opened) -> None:
    person = terminal(Session(here.shell, own_home, here.folder, here.notes))
    launcher = own_home.bin / "cvm"
    launcher.rename(own_home.bin / "away")
    assert person.type("cd project", "true") == person.first
    (line,) = person.told()
    assert line.endswith("cvm is gone; install cvm again, then: cvm init --write")
    (own_home.bin / "away").rename(launcher)
    assert person.type("cd ..", "cd project")["CUDA_HOME"] == str(own_home.toolchain("99.1"))


@pytest.mark.parametrize(
    "before", ["alias cvm=/no/such/cvm", "alias -g -- --help='--help | cat'; alias -g uninstall=no"]
)
def test_aliases_of_the_person_change_nothing(here: Session, terminal: Opened, before: str) -> None:
    if "-g" in before and here.shell != ZSH:
        return
    person = terminal(here, before, read(here))
    assert person.type("cvm use 99.1")["CUDA_HOME"] == str(here.world.toolchain("99.1"))


def test_nothing_is_left_when_what_decided_goes(here: Session, own_home: World, terminal: Opened) -> None:
    person = terminal(Session(here.shell, own_home, here.folder, here.notes))
    assert "CUDA_HOME" in person.type("cvm global 99.1")
    assert person.type("cvm global --unset") == person.first
    assert "CUDA_HOME" in person.type("cd elsewhere", "cvm local 99.10")
    assert person.type("cvm local --unset") == person.first


@pytest.mark.parametrize("rule", ["always", "never"])
def test_what_a_person_insists_on_holds_whatever_python_is_active(here: Session, terminal: Opened, rule: str) -> None:
    venv = python_with_torch(here.world, here.folder)
    say = here.shell
    person = terminal(here)
    used = person.type(f"cvm use --ld-library-path {rule} 99.10")
    assert ("LD_LIBRARY_PATH" in used) is (rule == "always")
    within = person.type(f"{say.prepend('PATH', str(venv / 'bin'))}; {say.export('VIRTUAL_ENV', str(venv))}")
    assert within.get("LD_LIBRARY_PATH") == used.get("LD_LIBRARY_PATH")
    person.type(f"{say.export('PATH', used['PATH'])}; {say.unset('VIRTUAL_ENV')}")
    assert person.type("cvm unuse") == person.first


_OWN_HOOKS = {
    "bash": 'mine() {{ echo "$?" >> {log}; }}; PROMPT_COMMAND="mine;"',
    "zsh": 'mine() {{ echo "$?" >> {log}; }}; precmd_functions=(mine)',
    "fish": "function fish_prompt; echo $status >> {log}; echo '> '; end",
}


@pytest.mark.parametrize("order", ["before", "after"])
def test_hooks_of_the_person_are_kept_and_see_the_status(here: Session, terminal: Opened, order: str) -> None:
    log = here.folder / "statuses"
    mine = _OWN_HOOKS[here.shell.name].format(log=here.shell.quote(str(log)))
    if order == "after":
        mine = mine.replace('="mine;"', "=\"$PROMPT_COMMAND\"$'\\n'mine").replace("=(mine)", "+=(mine)")
    rc = [mine, read(here)] if order == "before" else [read(here), mine]
    person = terminal(here, *rc)
    inside = person.type("sh -c 'exit 7'", "true", "cd project", "sh -c 'exit 3'", "true")
    assert inside["CUDA_HOME"] == str(here.world.toolchain("99.1"))
    assert [line for line in log.read_text().split() if line != "0"] == ["7", "3"]


def test_an_array_of_prompt_commands_is_kept(world: World, tmp_path: Path, terminal: Opened) -> None:
    here = session(BASH, world, tmp_path)
    (here.folder / ".cuda-version").write_text("99.1\n")
    mine = """PROMPT_COMMAND=('echo a$? >> "$HOME/log"' 'echo b$? >> "$HOME/log"')"""
    person = terminal(here, mine, read(here), read(here))
    kept = 'printf \'%s\\n\' "${PROMPT_COMMAND[@]}" > "$HOME/kept"'
    assert person.type("sh -c 'exit 7'", kept)["CUDA_HOME"] == str(world.toolchain("99.1"))
    assert {"a7", "b7"} <= set((here.folder / "log").read_text().split())
    lines = ['echo a$? >> "$HOME/log"', 'echo b$? >> "$HOME/log"', "__cvm_hook"]
    assert (here.folder / "kept").read_text().splitlines() == lines
    assert person.starts() == ["use --auto"]


def test_zsh_options_hide_no_folder_and_nothing_is_complained_of(
    world: World, tmp_path: Path, terminal: Opened
) -> None:
    here = session(ZSH, world, tmp_path)
    odd = here.folder / "[a-z]*"
    odd.mkdir()
    (odd / ".cuda-version").write_text("99.1\n")
    options = "setopt warn_create_global ksh_arrays glob_subst null_glob sh_word_split no_unset"
    person = terminal(here, options, read(here))
    person.type(f"cd {here.shell.quote(str(odd))}", "true", "true")
    assert person.told("_cvm_") == [f"cvm: 99.1 (set by {odd}/.cuda-version:1)"]
    assert person.type("cvm use 99.10", "cd ..", "cvm unuse", "true") == person.first
    assert (person.told("_cvm_"), person.starts()) == ([], ["use --auto", "use 99.10", "unuse"])


@pytest.mark.parametrize("shell", [BASH, ZSH], ids=lambda shell: shell.name)
def test_strict_options_end_no_prompt(shell: Shell, world: World, tmp_path: Path, terminal: Opened) -> None:
    here = session(shell, world, tmp_path)
    for name, content in {"project": "99.1", "missing": "99.77", "garbage": "x y", "closed": "99.1"}.items():
        (here.folder / name).mkdir()
        (here.folder / name / ".cuda-version").write_text(content)
    (here.folder / "closed/.cuda-version").chmod(0)
    person = terminal(here, before=powerless())
    person.type("set -eu")
    person.type("cd project", "cd ../missing", "cd ../garbage", "cd ../project", "cd ../closed")
    assert (
        person.told("denied")[-1]
        == f"cvm: {here.folder}/closed/.cuda-version can't be read: permission denied (make it readable)"
    )
    inside = person.type("cd ..", "cvm unuse", "! true", "cd project")
    assert inside["CUDA_HOME"] == str(world.toolchain("99.1"))
    assert person.type("cvm use 99.10", "cvm unuse", "cd ..", "set +eu") == person.first


def test_without_auto_switch_no_folder_is_followed(here: Session, terminal: Opened) -> None:
    person = terminal(here, here.shell.init(" --no-auto-switch"))
    assert person.starts() == [f"init {here.shell.kind} --no-auto-switch"]
    assert person.type("cd project", "true") == person.first
    assert person.starts() == []
    assert person.type("cvm use")["CUDA_HOME"] == str(here.world.toolchain("99.1"))
    assert person.type("cvm unuse", "true") == person.first


def test_the_integration_can_be_typed(here: Session, terminal: Opened) -> None:
    person = terminal(here, "true")
    inside = person.type(here.shell.init(), "cd project")
    assert inside["CUDA_HOME"] == str(here.world.toolchain("99.1"))
    person.type(here.shell.init(), "cd src", "cd ..")
    assert person.starts() == [f"init {here.shell.kind}", "use --auto", f"init {here.shell.kind}"]


@pytest.mark.parametrize("home", ["/proc/nothing", "/dev/null", "/nowhere"])
def test_a_broken_home_ends_no_shell(here: Session, terminal: Opened, home: str) -> None:
    person = terminal(here, here.shell.init(), changes={"CVM_HOME": home})
    assert person.type("cd project", "true", "cvm use 99.1", "cvm unuse", "cd ..") == person.first


def test_scripts_are_not_followed_and_hear_nothing(sh: Session) -> None:
    (sh.folder / "project").mkdir()
    (sh.folder / "project/.cuda-version").write_text("99.1\n")
    hooks = {"bash": 'echo "${PROMPT_COMMAND-none}"', "zsh": "echo ${precmd_functions-none}"}.get(
        sh.shell.name, "echo none"
    )
    before = len(sh.world.starts())
    done = sh.run(sh.note("before"), "cd project; true", "cd ..", hooks, sh.note("after"))
    assert (done.out, done.err, sh.world.starts()[before:]) == ("none\n", "", [])
    outside = {name: value for name, value in done.environment("after").items() if name != "OLDPWD"}
    assert outside == {name: value for name, value in done.environment("before").items() if name != "OLDPWD"}


def test_a_folder_with_any_name_is_followed(here: Session, terminal: Opened) -> None:
    odd = here.folder / """it's a "$HOME" [x]* `id` \\n é"""
    odd.mkdir()
    (odd / ".cuda-version").write_text("# for torch\n99.10")
    person = terminal(here)
    inside = person.type(f"cd {here.shell.quote(str(odd))}", "true")
    assert inside["CUDA_HOME"] == str(here.world.toolchain("99.10"))
    assert person.told() == [f"cvm: 99.10 (set by {odd}/.cuda-version:2)"]
    assert person.type("cd ..") == person.first
    assert person.starts() == ["use --auto", "use --auto"]
