"""Cases made by hand: an environment with packages, its consumers, and what came of their loads."""

from __future__ import annotations

import shlex

from cvm.consumers.consumer import Consumer, LibraryFile
from cvm.consumers.load import Load, Step
from cvm.core.machine import Machine
from cvm.core.packages import Distribution, PythonEnvironment, SearchFolder
from cvm.doctor.case import Case, PathElement
from cvm.elf.found import Found, Rule
from cvm.elf.outcome import Failure, Kind, Loaded, Missing, Outcome

SITE = "/venv/lib/python3.11/site-packages"
USER = "/home/me/.local/lib/python3.11/site-packages"
SEARCH = (SearchFolder("/usr/lib/python3.11", "standard library"), SearchFolder(SITE, "site-packages"))
ON_X86 = ' ; platform_system == "Linux" and platform_machine == "x86_64"'
NO_LOADER = Loaded("/lib64/ld-linux-x86-64.so.2", None, "x", Found(Rule.INTERPRETER), None, None)


def dist(name, version, *requires, folder=SITE):
    return Distribution(name, version, folder, f"{folder}/{name}-{version}.dist-info", requires)


def torch_dist(
    version="2.5.1", *, folder=SITE, pins=(("nvidia-cudnn-cu12", "9.1.0.70"), ("nvidia-nccl-cu12", "2.21.5"))
):
    return dist("torch", version, *(f"{name} (=={pin}){ON_X86}" for name, pin in pins), "filelock", folder=folder)


def python(*distributions, search=SEARCH, version=(3, 11), executable="/venv/bin/python"):
    order = [one.path for one in search]
    ordered = sorted(distributions, key=lambda one: order.index(one.folder))
    return PythonEnvironment(executable, "/usr/bin/python3.11", "/venv", version, search, tuple(ordered))


def loaded(path, found=None, soname=None):
    name = path.rpartition("/")[2]
    return Loaded(path, soname or name, name, found or Found(Rule.CACHE), None, None)


def load(*missing, error=None, kind=Kind.LIBRARY, handled=False, files=(NO_LOADER,)):
    """A load that misses some names; it ends in an error if there is one."""
    if not missing:
        return Load((), error, files, len(files))
    lists = tuple(Missing("/x", name, (), f"{name}: cannot open") for name in missing)
    failure = Failure(kind, lists[0].text, lists)
    step = Step("ctypes.CDLL(…)", "torch/__init__.py:1", Outcome("libtorch_global_deps.so", failure), handled)
    return Load((step,), error, files, len(files))


def consumer(distribution, *, now=None, clean=None, cuda="12.4", elsewhere=None, libraries=None, name=None):
    now = now or load()
    version = distribution.version if distribution else None
    path = f"{distribution.folder if distribution else SITE}/torch"
    name = name or (distribution.name if distribution else "torch")
    return Consumer(name, version, path, distribution, now, clean or now, libraries or {}, elsewhere or {}, cuda)


def library(path, real):
    return LibraryFile(path, real, "libcuda.so.1", None, None, real)


def element(number, text, folder=..., cuda=()):
    return PathElement(number, text, (text.rstrip("/") or None) if folder is ... else folder, tuple(cuda))


def case(*consumers, python=None, path=(), variables=None, **more):
    if path and variables is None:
        variables = {"LD_LIBRARY_PATH": ":".join(one.text for one in path)}
    return Case(variables or {}, consumers, python, tuple(path), more.pop("machine", Machine()), **more)


def opened(path, found=None):
    one = loaded(path, found)
    return Outcome("libcuda.so.1", None, one, (one,))


def not_opened():
    text = "libcuda.so.1: cannot open shared object file: No such file or directory"
    return Outcome("libcuda.so.1", Failure(Kind.LIBRARY, text, (Missing("/python", "libcuda.so.1", (), text),)))


def from_variable(number, text):
    return Found(Rule.ENVIRONMENT, text, number)


def brief(findings):
    return [(one.code, one.severity, one.consumer) for one in findings]


def commands(finding):
    """The commands of a hint, in words; comments are left out."""
    return [shlex.split(line) for line in finding.hint if not line.startswith("# ")]


def assert_never_leaves_a_hole(findings):
    """Nothing is uninstalled without something being installed in the same line."""
    for finding in findings:
        for words in commands(finding):
            if "uninstall" in words:
                assert "&&" in words
                assert "install" in words[words.index("&&") :]
