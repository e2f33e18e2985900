"""The same scenarios in each shell: a process of its own, an empty environment, whole outputs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.shell.conftest import WHOLE, Session, World, build, powerless, python_with_torch, session
from tests.shell.shells import BASH, DASH, FISH, ZSH, Shell

NVCC = "Cuda compilation tools, release {0}, V{0}.100\n".format
LISTS = ("PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH")
ODD_TEXT = " \n\t'\"$HOME `id` $(id) \\n \\ \\\\ \\' * ? [a-z] ! # ~ ; & | < > = é \udcff\udcfe \n\\"

# In the first, fish itself changes each byte that isn't ASCII.
ASCII = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
UTF8 = {"LC_ALL": "C.UTF-8"}


def activated(prefix: str, path: str = "$CVM/shims:$BIN:/usr/bin:/bin") -> str:
    """What `say` prints of the path lists while a toolchain is in use."""
    return f"PATH={prefix}/bin:{path}\nLIBRARY_PATH={prefix}/lib:{prefix}/lib/stubs\nLD_LIBRARY_PATH={prefix}/lib\n"


ONE, TEN = "$CVM/toolchains/99.1", "$CVM/toolchains/99.10"
IDLE = "PATH=$CVM/shims:$BIN:/usr/bin:/bin\n"


def test_use_activates(sh: Session) -> None:
    done = sh.run(
        sh.shell.init(),
        "cvm use 99.2",
        "nvcc",
        sh.shell.say("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "CUDNN_PATH", "CUDNN_ROOT", "NCCL_HOME"),
        sh.shell.say("CVM_TOOLCHAIN", *LISTS),
        ready=False,
    )
    prefix = f"$CVM/toolchains/{WHOLE}"
    values = {
        **dict.fromkeys(("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"), prefix),
        "CUDACXX": f"{prefix}/bin/nvcc",
        **dict.fromkeys(("CUDNN_PATH", "CUDNN_ROOT", "NCCL_HOME"), prefix),
        "CVM_TOOLCHAIN": WHOLE,
    }
    said = "".join(f"{name}={value}\n" for name, value in values.items())
    assert done.out == NVCC("99.2") + said + activated(prefix)
    assert (done.err, done.code) == (f"{WHOLE} is in use\n", 0)


def test_a_torch_that_would_break_keeps_its_libraries_unless_told_otherwise(sh: Session) -> None:
    venv = python_with_torch(sh.world, sh.folder)
    say = sh.shell.say("LD_LIBRARY_PATH")
    done = sh.run(
        "cvm use 99.1 --ld-library-path=never", say, "echo .",
        "cvm use 99.1 --ld-library-path always", say, "echo .",
        sh.shell.prepend("PATH", str(venv / "bin")),
        "cvm use 99.10", say, "echo .",
        "cvm use 99.10 --ld-library-path always", say, "echo .",
        sh.shell.export("CVM_LD_LIBRARY_PATH", "always"), "cvm use 99.1", say, "echo .",
        sh.shell.export("CVM_LD_LIBRARY_PATH", "never"), sh.shell.export("LD_LIBRARY_PATH", "/mine"), "cvm use 99.1", say,
    )  # fmt: skip
    one, ten = f"LD_LIBRARY_PATH={ONE}/lib\n", f"LD_LIBRARY_PATH={TEN}/lib\n"
    assert done.out == f".\n{one}.\n.\n{ten}.\n{one}.\nLD_LIBRARY_PATH=/mine\n"
    assert done.err == (
        "99.1 is in use\n99.1 is in use\n99.10 is in use\n"
        "LD_LIBRARY_PATH stays as it is, for otherwise torch 2.99.0 won't import: LD_LIBRARY_PATH puts libcudart.so.99 "
        "of cvm toolchain 99.10 before that of nvidia-cuda-runtime-cu99 99.9.9, and it lacks cudaNewerThanTheToolkit "
        "that _C.so needs (--ld-library-path always insists)\n"
        "99.10 is in use\n99.1 is in use\n99.1 is in use\n"
    )


def test_switching_leaves_nothing_of_the_first_and_back_returns(sh: Session) -> None:
    done = sh.run(
        f"cvm use -; echo {sh.shell.status}",
        "cvm use 99.2",
        "cvm use 99.1; cvm use 99.1", sh.note("first"), sh.shell.say(*LISTS),
        "cvm use -", "nvcc",
        "cvm use -", sh.note("again"), "nvcc",
        "cvm use system", "nvcc", sh.shell.say("CVM_TOOLCHAIN", *LISTS),
        "cvm use -", "nvcc",
    )  # fmt: skip
    system = "CVM_TOOLCHAIN=system\n" + IDLE
    assert done.out == "3\n" + activated(ONE) + NVCC("99.2") + NVCC("99.1") + system + NVCC("99.1")
    assert done.err == (
        "error: no toolchain was in use before in this shell\nhint: cvm use 12.1\n"
        f"{WHOLE} is in use\n99.1 is in use\n99.1 is in use\n{WHOLE} is in use\n99.1 is in use\n"
        "system is in use: no toolchain of cvm's\n"
        "error: nvcc is not on PATH outside cvm's shims (system is set by CVM_TOOLCHAIN)\n99.1 is in use\n"
    )
    first = done.environment("first")
    assert "CUDNN_PATH" not in first
    # All of it, with what is kept for `unuse`: so many uses change as little as two.
    assert done.environment("again") == first


def test_paths_keep_their_lengths_over_fifty_uses(world: World, tmp_path: Path) -> None:
    # In one shell: what is evaluated is the same in all, and each start takes its time.
    here = session(DASH, world, tmp_path)
    done = here.run(
        "export LD_LIBRARY_PATH=/mine",
        "cvm use 99.1; cvm use 99.10",
        here.note("first"),
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do cvm use 99.1; cvm use 99.10; done",
        here.note("last"),
        here.shell.say(*LISTS),
    )
    assert done.out == activated(TEN)[:-1] + ":/mine\n"
    assert done.environment("last") == done.environment("first")


@pytest.mark.parametrize("locale", [{}, UTF8, ASCII], ids=["none", "utf8", "ascii"])
def test_unuse_restores_every_byte(sh: Session, locale: dict[str, str]) -> None:
    text = ODD_TEXT if sh.shell != FISH or locale == UTF8 else ODD_TEXT.encode("ascii", "ignore").decode()
    odd = f"/odd/{text}"
    changes = {
        **locale,
        "PATH": f"{sh.world.bin}:/usr/bin:{odd}:/bin:/usr/bin:/n/e\\n",
        "CUDA_HOME": text,
        "CUDA_PATH": "",
        "CUDACXX": "-n",
        "NCCL_HOME": "=ls",
        "LD_LIBRARY_PATH": f"{odd}:/a:{odd}",
        "MINE": text,
    }
    done = sh.run(
        sh.note("before"), "cvm use 99.2", sh.note("during"), "command ls / >/dev/null && nvcc", "cvm unuse", sh.note("after"),
        changes=changes,
    )  # fmt: skip
    assert (done.out, done.err) == (NVCC("99.2"), f"{WHOLE} is in use\nno toolchain of cvm's is in use any more\n")
    before, prefix = done.environment("before"), sh.world.toolchain(WHOLE)
    assert done.environment("after") == before
    assert {name: before[name] for name in changes} == {**changes, "PATH": f"{sh.world.shims}:{changes['PATH']}"}
    during = done.environment("during")
    assert during["MINE"] == text
    assert during["LD_LIBRARY_PATH"] == f"{prefix}/lib:{odd}:/a"
    assert during["PATH"] == f"{prefix}/bin:{sh.world.shims}:{sh.world.bin}:/usr/bin:{odd}:/bin:/n/e\\n"


def test_the_locale_may_change_between_use_and_unuse(posix: Session) -> None:
    changes = {"CUDA_HOME": ODD_TEXT, "LD_LIBRARY_PATH": f"/odd/{ODD_TEXT}:/odd/{ODD_TEXT}"}
    back = [posix.shell.unset(*ASCII), "cvm unuse"]
    into = [posix.shell.export(name, value) for name, value in ASCII.items()]
    done = posix.run(
        posix.note("before"), "cvm use 99.1", *into, "cvm unuse", posix.shell.unset(*ASCII), posix.note("one"),
        *into, "cvm use 99.1", *back, posix.note("other"),
        changes={**changes, **UTF8, "PYTHONUTF8": None},
    )  # fmt: skip
    before = done.environment("before")
    assert done.environment("one") == {name: value for name, value in before.items() if name != "LC_ALL"}
    assert done.environment("other") == done.environment("one")


def test_no_element_is_ever_empty_and_empty_ones_come_back(sh: Session) -> None:
    values = [(None, ""), ("a", ":a"), ("a:", "a::b"), (":", "b:b:")]
    lines = []
    for number, pair in enumerate(values):
        for name, value in zip(LISTS[1:], pair, strict=True):
            lines.append(sh.shell.unset(name) if value is None else sh.shell.export(name, value))
        lines += [sh.note(f"before{number}"), "cvm use 99.1", sh.shell.say(*LISTS[1:])]
        lines += ["cvm unuse", sh.note(f"after{number}")]
    done = sh.run(*lines, changes={"LD_LIBRARY_PATH": "", "LIBRARY_PATH": ""})
    expected = [("", ""), (":a", ":a"), (":a", ":a:b"), ("", ":b")]
    assert done.out == "".join(
        f"LIBRARY_PATH={ONE}/lib:{ONE}/lib/stubs{one}\nLD_LIBRARY_PATH={ONE}/lib{other}\n" for one, other in expected
    )
    for number in range(len(values)):
        assert done.environment(f"after{number}") == done.environment(f"before{number}")


def test_edits_in_between_survive(sh: Session) -> None:
    done = sh.run(
        sh.shell.export("LD_LIBRARY_PATH", "/old"),
        "cvm use 99.1",
        *(sh.shell.prepend(name, "/my") for name in LISTS),
        sh.shell.export("CUDA_HOME", "/my/cuda"),
        sh.shell.unset("CUDA_PATH"),
        "cvm use 99.10", sh.shell.say(*LISTS),
        sh.shell.prepend("LD_LIBRARY_PATH", "/new"),
        sh.shell.export("CUDACXX", "/my/nvcc"),
        sh.shell.unset("LIBRARY_PATH"),
        "cvm unuse", sh.shell.say(*LISTS, "CUDA_HOME", "CUDA_PATH", "CUDACXX"),
    )  # fmt: skip
    assert done.out == (
        f"PATH={TEN}/bin:/my:$CVM/shims:$BIN:/usr/bin:/bin\nLIBRARY_PATH={TEN}/lib:{TEN}/lib/stubs:/my\n"
        f"LD_LIBRARY_PATH={TEN}/lib:/my:/old\n"
        "PATH=/my:$CVM/shims:$BIN:/usr/bin:/bin\nLD_LIBRARY_PATH=/new:/my:/old\nCUDA_HOME=/my/cuda\nCUDACXX=/my/nvcc\n"
    )


def test_other_tools_that_rewrite_path_leave_nothing_stale(sh: Session) -> None:
    idle = f"{sh.world.shims}:{sh.world.bin}:/usr/bin:/bin"
    ten = sh.world.toolchain("99.10")
    done = sh.run(
        # As direnv does: it puts its copy of PATH back.
        "cvm use 99.1", sh.shell.export("PATH", idle), "nvcc",
        "cvm use 99.10", "nvcc", sh.shell.say("PATH"),
        "cvm unuse", sh.shell.say("PATH"),
        # As conda does: environments are stacked, and taken away below what cvm put in front.
        sh.shell.prepend("PATH", "/conda/a"), "cvm use 99.10", sh.shell.prepend("PATH", "/conda/b"),
        sh.shell.export("PATH", f"/conda/a:{ten}/bin:{idle}"),
        sh.shell.export("PATH", f"{ten}/bin:{idle}"),
        "cvm unuse", sh.shell.say("PATH"),
    )  # fmt: skip
    assert done.out == NVCC("99.1") + NVCC("99.10") + f"PATH={TEN}/bin:{IDLE[5:]}" + IDLE + IDLE


def test_a_nested_shell_has_everything_once(sh: Session) -> None:
    read = sh.shell.read(sh.world.integration(sh.shell.kind))
    say = sh.shell.say("CVM_TOOLCHAIN", *LISTS)
    done = sh.run(
        read,
        "cvm use 99.1",
        sh.shell.child(read, say, "nvcc", "cvm use 99.10", "nvcc"),
        sh.shell.child(read, "cvm unuse", sh.shell.say(*LISTS)),
        say,
        "nvcc",
    )
    one = "CVM_TOOLCHAIN=99.1\n" + activated(ONE)
    assert done.out == one + NVCC("99.1") + NVCC("99.10") + IDLE + one + NVCC("99.1")


def test_a_login_that_reorders_path_gets_the_shims_in_front_again(sh: Session) -> None:
    read = sh.shell.read(sh.world.integration(sh.shell.kind))
    shims, one = sh.world.shims, sh.world.toolchain("99.1")
    done = sh.run(
        sh.shell.export("PATH", f"/usr/bin:{shims}:/bin:{shims}"), read, sh.shell.say("PATH"),
        "cvm use 99.1",
        sh.shell.export("PATH", f"/usr/bin:/bin:{one}/bin:{shims}"), read, sh.shell.say("PATH"), "nvcc",
        sh.shell.export("PATH", f"{one}/bin:/usr/bin:{shims}:/bin"), read, sh.shell.say("PATH"), "nvcc",
        sh.shell.export("PATH", "/usr/bin:/bin"), read, sh.shell.say("PATH"), "nvcc",
        sh.shell.export("PATH", str(shims)), read, sh.shell.say("PATH"),
    )  # fmt: skip
    assert done.out == (
        f"PATH=$CVM/shims:/usr/bin:/bin\nPATH=$CVM/shims:/usr/bin:/bin:{ONE}/bin\n{NVCC('99.1')}"
        f"PATH=$CVM/shims:{ONE}/bin:/usr/bin:/bin\n{NVCC('99.1')}"
        f"PATH=$CVM/shims:/usr/bin:/bin\n{NVCC('99.1')}PATH=$CVM/shims\n"
    )


def test_a_real_login_shell_inside_an_activated_one(world: World, tmp_path: Path) -> None:
    here = session(BASH, world, tmp_path)
    (here.folder / ".bash_profile").write_text(here.shell.read(world.integration("bash")) + "\n")
    done = here.run("cvm use 99.1", """bash -lc 'nvcc; printf "%s\\n" "$PATH"'""")
    nvcc, path = done.out.splitlines()
    # What stands behind the shims is this machine's /etc/profile's business.
    assert f"{nvcc}\n" == NVCC("99.1")
    assert path.removeprefix(f"{ONE}/bin:").startswith("$CVM/shims:")
    assert path.count("$CVM/shims") == 1


def test_a_subshell_keeps_its_switch_to_itself(posix: Session) -> None:
    done = posix.run("cvm use 99.1", "( cvm use 99.10; nvcc )", "nvcc", "( cvm unuse )", "nvcc")
    assert done.out == NVCC("99.10") + NVCC("99.1") + NVCC("99.1")


def strict(shell: Shell) -> str:
    return "set -euo pipefail" if shell in (BASH, ZSH) else "set -eu"


def test_strict_scripts_survive_what_they_handle(posix: Session) -> None:
    done = posix.run(
        strict(posix.shell),
        posix.shell.init(),
        "cvm unuse",
        'cvm use 99.9 || echo "handled $?"',
        'if cvm use 99.9; then echo no; else echo "else $?"; fi',
        "cvm use 99.1; nvcc; cvm unuse; cvm unuse",
        posix.shell.init(),
        'cvm use 99.9; echo "not reached"',
        ready=False,
    )
    assert (done.out, done.code) == ("handled 3\nelse 3\n" + NVCC("99.1"), 3)


def test_the_integration_needs_no_variable(posix: Session) -> None:
    done = posix.run(
        "unset -v PATH HOME PWD OLDPWD TERM SHELL",
        strict(posix.shell),
        posix.shell.read(posix.world.integration(posix.shell.kind)),
        posix.shell.say("PATH"),
        "cvm --version >/dev/null; echo alive",
        ready=False,
        changes=dict.fromkeys(("PATH", "HOME", "CVM_HOME")),
    )
    assert (done.out, done.err, done.code) == ("PATH=$CVM/shims\nalive\n", "", 0)


def test_the_persons_variables_are_untouched_and_none_is_left(sh: Session) -> None:
    names = [
        "code",
        "home",
        "want",
        "line",
        "word",
        "words",
        "rest",
        "verb",
        "up",
        "seen",
        "now",
        "i",
        "file",
        "element",
    ]
    if sh.shell != ZSH:  # There these are the shell's own.
        names += ["path"] if sh.shell == FISH else ["path", "status", "argv"]
    listing = "set -n | grep -i cvm" if sh.shell == FISH else "set | grep -io '^[a-z_]*cvm[a-z_]*=' | tr -d ="
    done = sh.run(
        *(sh.shell.export(name, f"my {name}") for name in names),
        sh.note("before"),
        "cvm current >/dev/null",
        f"{listing} | sort",
        "cvm use 99.1; cvm use 99.10; cvm unuse",
        sh.note("after"),
        f"{listing} | sort",
    )
    assert done.environment("after") == done.environment("before")
    assert {name: done.environment("after")[name] for name in names} == {name: f"my {name}" for name in names}
    # _CVM_PREVIOUS is for `use -`; the others are what the integration must know, and that something was in use.
    also = {"sh": "__cvm_home\n", "fish": "__cvm_files\n__cvm_home\n__cvm_pwd\n__cvm_was\n"}
    hook = also.get(sh.shell.kind, "__cvm_home\n__cvm_was\n")
    assert done.out == f"CVM_HOME\n__cvm_home\nCVM_HOME\n_CVM_PREVIOUS\n{hook}"


def test_the_function_passes_on_words_exit_codes_and_help(sh: Session) -> None:
    code = f"echo {sh.shell.status}"
    done = sh.run(
        f"cvm list --bad; {code}",
        f"cvm exec 99.1 -- sh -c 'exit 7'; {code}",
        f"cvm use; {code}",
        f"cvm use 99.1 --bad; {code}",
        "cvm exec 99.1 -- printf '[%s]' use 'a b' '' '*' '$HOME'; echo",
        "cvm use --help | head -n 1",
        "cvm unuse -h | head -n 1",
        "cvm --help | head -n 1 | cut -c 1-20",
        f"cvm | head -n 1; {code}",
        f"cvm -q use --ld-library-path never 99.1; {code}",
        "nvcc",
        sh.shell.say("LD_LIBRARY_PATH"),
    )
    assert done.out == (
        "2\n7\n3\n2\n[use][a b][][*][$HOME]\nUsage: cvm use [OPTIONS] [SPEC]\nUsage: cvm unuse [OPTIONS]\n"
        "Usage: cvm [OPTIONS]\ncvm keeps CUDA toolkits and cuDNN side by side, without root.\n0\n0\n" + NVCC("99.1")
    )
    assert [line for line in done.err.splitlines() if not line.startswith("hint:")] == [
        "error: No such option '--bad'",
        "error: no toolchain is selected",
        "error: No such option '--bad'",
    ]


def test_who_selected_is_told(sh: Session, own_home: World) -> None:
    here = Session(sh.shell, own_home, sh.folder, sh.notes)
    done = here.run(
        "cvm current; cvm global 99 >/dev/null; cvm current; cvm which nvcc",
        "printf '# mine\\n99.1\\n' > .cuda-version; mkdir -p 'deep er/still'; cd 'deep er/still'",
        "cvm current; cvm which nvcc; nvcc",
        "cvm use 99.2; cvm current; cvm which nvcc; nvcc",
        "cvm unuse; cvm use; nvcc",
    )
    file, newest = f"{sh.folder}/.cuda-version:2", TEN
    assert done.out == (
        "system (nothing is selected)\n"
        f"99.10 (set by $CVM/global:1)\n{newest}/bin/nvcc\n"
        f"99.1 (set by {file})\n{ONE}/bin/nvcc\n{NVCC('99.1')}"
        f"{WHOLE} (set by CVM_TOOLCHAIN)\n$CVM/toolchains/{WHOLE}/bin/nvcc\n{NVCC('99.2')}{NVCC('99.1')}"
    )
    assert done.err == (
        f"99.10 (set by $CVM/global:1)\n99.1 (set by {file})\n{WHOLE} is in use\n{WHOLE} (set by CVM_TOOLCHAIN)\n"
        f"no toolchain of cvm's is in use any more\n99.1 (set by {file}) is in use\n"
    )


def test_a_linked_toolkit_is_used_and_what_the_person_has_of_it_stays(sh: Session) -> None:
    site = sh.world.root / "trees/site"
    done = sh.run(
        "cvm use site", "nvcc", "cvm current", sh.shell.say(*LISTS), "cvm unuse", sh.shell.say(*LISTS),
        sh.shell.export("PATH", f"{sh.world.shims}:{sh.world.path}:{site}/bin"),
        "cvm use site", sh.shell.prepend("PATH", "/my"), "cvm unuse", sh.shell.say("PATH"),
    )  # fmt: skip
    *lines, last = done.out.splitlines(keepends=True)
    said = "site (set by CVM_TOOLCHAIN)\n"
    assert "".join(lines) == NVCC("99.3") + said + activated("$ROOT/trees/site") + IDLE
    mine = f"/my:{IDLE[5:-1]}:$ROOT/trees/site/bin".split(":")
    assert (last[:9], sorted(last[5:-1].split(":"))) == ("PATH=/my:", sorted(mine))


def test_the_commands_of_the_person_stay_where_they_are(sh: Session) -> None:
    (sh.folder / "nvidia-smi").write_text("#!/bin/sh\necho smi\n")
    (sh.folder / "nvidia-smi").chmod(0o755)
    find = "command -v ls; command -v wc; command -v nvidia-smi"
    done = sh.run(
        find, "echo .", "cvm use 99.1", find, "echo .", "command ls / | wc -l >/dev/null && nvidia-smi",
        changes={"PATH": f"{sh.world.bin}:/usr/bin:/bin:{sh.folder}"},
    )  # fmt: skip
    # busybox has some of them inside, and names no file.
    before, after, smi = done.out.split(".\n")
    assert (before.count("\n"), after, smi) == (3, before, "smi\n")


@pytest.mark.parametrize(
    "options",
    [
        "no_sh_word_split no_unset ksh_arrays null_glob",
        "sh_word_split no_nomatch extended_glob glob_subst rc_expand_param ksh_glob",
        "csh_null_glob posix_builtins no_clobber ignore_braces octal_zeroes posix_identifiers",
        "err_exit warn_create_global all_export rc_quotes no_multibyte",
    ],
)
def test_zsh_with_the_options_that_people_have(world: World, tmp_path: Path, options: str) -> None:
    here = session(ZSH, world, tmp_path)
    done = here.run(
        f'setopt {options}; setopt > "$HOME/options"',
        here.shell.init(),
        here.shell.read(world.integration("zsh")),
        'before="${(j.|.)path[@]}"',
        here.note("before"),
        "cvm use 99.1; nvcc; wc </dev/null >/dev/null && echo wc",
        'echo "${#path[@]} $path[1]" >/dev/null; print -r -- "${path[@]:0:2}"',
        "cvm unuse",
        '[[ "${(j.|.)path[@]}" == "$before" ]] && echo intact',
        'setopt | cmp - "$HOME/options" && echo same',
        here.note("after"),
        ready=False,
    )
    assert done.out == NVCC("99.1") + f"wc\n{ONE}/bin $CVM/shims\nintact\nsame\n"
    assert done.err == "99.1 is in use\nno toolchain of cvm's is in use any more\n"
    assert done.environment("after") == done.environment("before")


def test_zsh_is_known_by_itself_not_by_the_variable(world: World, tmp_path: Path) -> None:
    here = session(ZSH, world, tmp_path)
    done = here.run(
        "mine() { :; }; precmd_functions=(mine)",
        'eval "$(command cvm init)"',
        "cvm use 99.1; nvcc; print -r -- $precmd_functions",
        ready=False,
        changes={"SHELL": "/bin/bash"},
    )
    assert done.out == NVCC("99.1") + "mine\n"


@pytest.mark.parametrize("setting", ["IFS=:", "IFS=/", "set -f", "shopt -s nullglob extglob failglob", "set -o posix", "set -o noclobber", "shopt -s xpg_echo; LC_ALL=C"])  # fmt: skip
def test_bash_with_the_settings_that_people_have(world: World, tmp_path: Path, setting: str) -> None:
    here = session(BASH, world, tmp_path)
    done = here.run(
        setting,
        here.shell.init(),
        "before=$(set -o; shopt; declare -p IFS 2>&1)",
        here.note("before"),
        "cvm use 99.1; nvcc",
        here.shell.say("PATH"),
        "cvm unuse",
        here.note("after"),
        '[ "$before" = "$(set -o; shopt; declare -p IFS 2>&1)" ] && echo same',
        ready=False,
    )
    assert done.out == NVCC("99.1") + activated(ONE).partition("LIB")[0] + "same\n"
    assert done.err == "99.1 is in use\nno toolchain of cvm's is in use any more\n"
    assert done.environment("after") == done.environment("before")


# The others export only what they are told to.
HIDE_PATH = {ZSH: "typeset +x PATH", BASH: "export -n PATH"}


def test_a_path_that_is_not_exported_keeps_what_it_has(posix: Session) -> None:
    path, hide = f"{posix.world.shims}:{posix.world.path}", HIDE_PATH.get(posix.shell, ":")
    done = posix.run(
        f"PATH={posix.shell.quote(path)}",
        hide,
        posix.shell.read(posix.world.integration(posix.shell.kind)),
        "cvm use 99.1; nvcc",
        posix.shell.say("PATH"),
        "cvm unuse",
        posix.shell.say("PATH"),
        f"PATH={posix.shell.quote(path)}",
        hide,
        'eval "$(command cvm env 99.10)"; nvcc',
        posix.shell.say("PATH"),
        ready=False,
        changes={"PATH": None},
    )
    assert done.out == (
        NVCC("99.1") + f"PATH={ONE}/bin:{IDLE[5:]}{IDLE}" + NVCC("99.10") + f"PATH={TEN}/bin:{IDLE[5:]}"
    )


def test_a_path_that_is_not_exported_says_which_python_is_active(posix: Session) -> None:
    venv = python_with_torch(posix.world, posix.folder)
    done = posix.run(
        f"PATH={posix.shell.quote(f'{posix.world.shims}:{venv}/bin:{posix.world.path}')}",
        HIDE_PATH.get(posix.shell, ":"),
        posix.shell.read(posix.world.integration(posix.shell.kind)),
        "cvm use 99.1; nvcc",
        posix.shell.say("LD_LIBRARY_PATH"),
        ready=False,
        changes={"PATH": None},
    )
    assert done.out == NVCC("99.1")


def test_shells_side_by_side_have_their_own(sh: Session) -> None:
    read, both = sh.shell.read(sh.world.integration(sh.shell.kind)), sh.shell.quote(str(sh.folder / "both"))
    wait = (
        f"while not test -e {both}; sleep 0.01; end"
        if sh.shell == FISH
        else f"until [ -e {both} ]; do sleep 0.01; done"
    )
    children = [
        sh.shell.child(read, "cvm use 99.1", wait, f"nvcc > {sh.shell.quote(str(sh.folder / 'first'))}"),
        sh.shell.child(read, "cvm use 99.10", f"touch {both}", "nvcc"),
    ]
    done = sh.run(f"{children[0]} &", children[1], "wait")
    assert (done.out, (sh.folder / "first").read_text()) == (NVCC("99.10"), NVCC("99.1"))


def test_a_deleted_folder_is_no_obstacle(sh: Session) -> None:
    gone = sh.folder / "gone"
    gone.mkdir()
    done = sh.run(
        f"cd {sh.shell.quote(str(gone))}", f"rmdir {sh.shell.quote(str(gone))}",
        "cvm use 99.1", "nvcc", "cvm current", "cvm which ptxas", "cvm unuse", "cvm current", sh.shell.say(*LISTS),
    )  # fmt: skip
    assert done.out == (
        NVCC("99.1") + f"99.1 (set by CVM_TOOLCHAIN)\n{ONE}/bin/ptxas\nsystem (nothing is selected)\n" + IDLE
    )


@pytest.mark.parametrize("pwd", [".", "", "/", "/nowhere", "relative/../x"])
def test_a_pwd_that_lies_ends_nothing(world: World, tmp_path: Path, pwd: str) -> None:
    here = session(DASH, world, tmp_path)
    (here.folder / ".cuda-version").write_text("99.1\n")
    done = here.run(f"export PWD={pwd}; cvm which nvcc; nvcc; cvm use; nvcc")
    assert done.out == f"{ONE}/bin/nvcc\n" + NVCC("99.1") * 2


def test_a_broken_home_or_a_missing_cvm_never_ends_the_shell(sh: Session, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("")
    status = f"echo {sh.shell.status}"
    done = sh.run(
        "set -u" if sh.shell.posix else "",
        sh.shell.init(),
        f"cvm use 99.1; {status}; cvm current; cvm unuse; {status}",
        sh.shell.export("CVM_HOME", "/proc/nothing"), f"cvm use 99.1; {status}",
        sh.shell.export("CVM_HOME", str(tmp_path / "a:b")), sh.shell.init(), f"cvm use 99.1; {status}",
        f"rm {sh.shell.quote(str(tmp_path / 'bin/cvm'))}", f"cvm use 99.1; {status}; cvm list; {status}; echo alive",
        ready=False,
        changes={"CVM_HOME": str(broken), "PATH": f"{copied(sh.world, tmp_path)}:/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.out, done.code) == ("3\nsystem (nothing is selected)\n0\n3\n3\n127\n127\nalive\n", 0)


def copied(world: World, folder: Path) -> Path:
    """A folder with a cvm that can be removed."""
    shutil.copytree(world.bin, folder / "bin")
    return folder / "bin"


def test_the_integration_is_read_through_a_link(sh: Session) -> None:
    link = sh.folder / "a link"
    link.symlink_to(sh.world.integration(sh.shell.kind))
    done = sh.run(sh.shell.read(link), "cvm use 99.1; nvcc", sh.shell.say("PATH"), ready=False)
    assert done.out == NVCC("99.1") + f"PATH={ONE}/bin:{IDLE[5:]}"


def test_an_install_that_runs_holds_nobody_up(sh: Session, own_home: World) -> None:
    import fcntl

    here = Session(sh.shell, own_home, sh.folder, sh.notes)
    with (own_home.home / "locks/install.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = here.run(sh.shell.init(), "cvm use 99.1; nvcc; cvm current; cvm unuse", ready=False)
    assert done.out == NVCC("99.1") + "99.1 (set by CVM_TOOLCHAIN)\n"


def test_a_read_only_home_serves_all_that_switch(sh: Session, own_home: World) -> None:
    here = Session(sh.shell, own_home, sh.folder, sh.notes)
    subprocess.run(["chmod", "-R", "a-w", own_home.home], check=True)
    home = sh.shell.quote(str(own_home.home))
    done = here.run(
        f"touch {home}/probe; echo {sh.shell.status}",
        sh.shell.init(),
        "cvm use 99.1; nvcc; cvm current; cvm which nvcc; cvm exec 99.10 -- nvcc; cvm env 99.10 | wc -l",
        "cvm use -; cvm unuse; cvm list | wc -l",
        "echo 99.10 > .cuda-version; cvm use; nvcc",
        f"cvm global 99.1; echo {sh.shell.status}",
        ready=False,
        before=powerless(),
    )
    subprocess.run(["chmod", "-R", "u+w", own_home.home], check=True)
    assert done.out == (
        "1\n"
        + NVCC("99.1")
        + f"99.1 (set by CVM_TOOLCHAIN)\n{ONE}/bin/nvcc\n"
        + NVCC("99.10")
        + "9\n4\n"
        + NVCC("99.10")
        + "8\n"
    )


def test_no_home_folder_is_needed(sh: Session) -> None:
    done = sh.run(
        sh.shell.init(), "cvm use 99.1; nvcc; cvm current; cvm which nvcc; cvm exec 99.10 -- nvcc; cvm unuse",
        ready=False, changes={"HOME": None},
    )  # fmt: skip
    assert done.out == NVCC("99.1") + f"99.1 (set by CVM_TOOLCHAIN)\n{ONE}/bin/nvcc\n" + NVCC("99.10")


def test_a_plain_locale_and_names_that_are_not_ascii(sh: Session, tmp_path: Path) -> None:
    here = Session(sh.shell, build(tmp_path / "ü"), sh.folder, sh.notes)
    (here.folder / ".cuda-version").write_text("99.1  # für torch\n", encoding="utf-8")
    done = here.run(
        sh.shell.init(), here.note("before"),
        "cvm use; nvcc; cvm current; cvm list | wc -l; cvm which nvcc; cvm exec -- nvcc", here.note("during"),
        "cvm unuse", here.note("after"),
        ready=False,
        changes={**(UTF8 if sh.shell == FISH else ASCII), "PATH": f"{here.world.path}:/odd/\udcff"},
    )  # fmt: skip
    nvcc = NVCC("99.1")
    assert done.out == f"{nvcc}99.1 (set by CVM_TOOLCHAIN)\n4\n{ONE}/bin/nvcc\n{nvcc}"
    assert done.environment("after") == done.environment("before")
    path = f"{here.world.shims}:{here.world.path}:/odd/\udcff"
    assert done.environment("before")["PATH"] == path
    assert done.environment("during")["PATH"] == f"{here.world.toolchain('99.1')}/bin:{path}"


def run(*words: str | Path, environment: dict[str, str], folder: Path) -> tuple[str, str, int]:
    done = subprocess.run(
        words, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    return os.fsdecode(done.stdout), os.fsdecode(done.stderr), done.returncode


def test_shims_are_all_that_a_container_or_ssh_needs(world: World, tmp_path: Path) -> None:
    (tmp_path / ".cuda-version").write_text("99.1\n")
    environment = {"PATH": f"{world.shims}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for words in (["nvcc"], ["sh", "-c", "nvcc"], ["bash", "-c", "nvcc"], [world.shims / "nvcc"]):
        found = shutil.which(words[0], path=environment["PATH"]) or words[0]
        assert run(found, *words[1:], environment=environment, folder=tmp_path) == (NVCC("99.1"), "", 0)


def test_exec_needs_neither_home_nor_path(world: World, tmp_path: Path) -> None:
    cvm, bare = world.bin / "cvm", {"CVM_HOME": str(world.home)}
    assert run(cvm, "exec", "99.1", "--", "nvcc", environment=bare, folder=tmp_path)[0] == NVCC("99.1")
    out, err, code = run(
        cvm, "exec", "99.1", "--", "sh", "-c", "env; ls / >/dev/null", environment=bare, folder=tmp_path
    )
    prefix = str(world.toolchain("99.1"))
    variables = dict(line.split("=", 1) for line in out.splitlines())
    assert (code, err) == (0, "")
    assert variables["PATH"].split(":")[0] == f"{prefix}/bin"
    assert variables["LD_LIBRARY_PATH"] == f"{prefix}/lib"
    ours = {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX"}
    ours |= {"CVM_HOME", "CVM_TOOLCHAIN", "_CVM_UNDO"}
    assert set(variables) - ours <= {"PWD", "_", "SHLVL", "OLDPWD"}


def test_sudo_runs_a_shim_and_exec_gives_the_libraries(world: World, tmp_path: Path) -> None:
    if shutil.which("sudo") is None:
        pytest.skip("sudo is not on this machine")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LD_LIBRARY_PATH": "/mine"}
    if subprocess.run(["sudo", "-n", "true"], env=environment, capture_output=True, check=False).returncode:
        pytest.skip("sudo asks for a password here")
    (tmp_path / ".cuda-version").write_text("99.1\n")
    sudo = shutil.which("sudo")
    assert run(sudo, "-n", world.shims / "nvcc", environment=environment, folder=tmp_path)[0] == NVCC("99.1")
    words = ["exec", "--ld-library-path", "always", "99.1", "--", "printenv", "LD_LIBRARY_PATH", "CUDA_HOME"]
    out, _, code = run(
        sudo, "-n", f"CVM_HOME={world.home}", world.bin / "cvm", *words, environment=environment, folder=tmp_path
    )
    assert (out, code) == (f"{world.toolchain('99.1')}/lib\n{world.toolchain('99.1')}\n", 0)


def test_tmux_started_from_an_activated_shell(world: World, tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not on this machine")
    here = session(BASH, world, tmp_path)
    rc, done_file = here.folder / "rc", here.folder / "done"
    quote = here.shell.quote
    rc.write_text(
        "\n".join(
            [
                here.shell.read(world.integration("bash")),
                "echo ready >&2",
                f"nvcc > {quote(str(here.folder / 'nvcc'))}",
                here.note("pane"),
                f"touch {quote(str(done_file))}",
                "exit",
            ]
        )
    )
    tmux = f"tmux -L scenario -f /dev/null new-session -d {quote(f'bash --rcfile {quote(str(rc))} -i')}"
    wait = f"i=0; until [ -e {quote(str(done_file))} ] || [ $i = 200 ]; do sleep 0.05; i=$((i+1)); done"
    # Its socket lies in the test's own folder: no other server is touched.
    sockets = Path("/tmp") / f"cvm-tmux-{os.getpid()}"
    sockets.mkdir(mode=0o700)
    try:
        done = here.run(
            "cvm use 99.1",
            here.note("outside"),
            f"{tmux} && {wait}; tmux -L scenario kill-server 2>/dev/null; echo over",
            changes={"TMUX_TMPDIR": str(sockets), "TERM": "xterm"},
        )
    finally:
        shutil.rmtree(sockets)
    assert (done.out, (here.folder / "nvcc").read_text()) == ("over\n", NVCC("99.1"))
    outside, pane = done.environment("outside"), done.environment("pane")
    ours = {name for name in outside if name.startswith(("CUDA", "CVM", "_CVM")) or name in LISTS}
    assert {name: pane[name] for name in ours} == {name: outside[name] for name in ours}


def test_exec_becomes_the_program_and_signals_reach_it(world: World, tmp_path: Path) -> None:
    started = subprocess.Popen(
        [world.bin / "cvm", "exec", "99.1", "--", "sh", "-c", "echo $$; exec sleep 60"],
        env={"CVM_HOME": str(world.home), "PATH": world.path},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == f"{started.pid}\n"
        started.terminate()
        assert started.wait(timeout=30) == -signal.SIGTERM
