"""The model on trees that no machine has: made-up files, other architectures, older releases of glibc, unpacked images."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvm.elf.elf import Elf
from cvm.elf.files import Disk, Identity
from cvm.elf.found import Found, Rule
from cvm.elf.mapped import Mapped
from cvm.elf.order import relocation_order
from cvm.elf.outcome import Kind
from cvm.elf.process import Mode, Process
from cvm.elf.runtime import Processor, read_runtime
from tests.unit.elf.tiny import AARCH64, X86_64, tiny

LOADER = "/lib/ld.so"
MULTIARCH = b"\0/lib/aarch64-linux-gnu/\0/usr/lib/aarch64-linux-gnu/\0/lib/\0/usr/lib/\0"


class Tree:
    """Files that exist only here."""

    def __init__(self, files):
        self.files = {path: Elf(data, path) for path, data in files.items()}

    def identity(self, path):
        return Identity(1, list(self.files).index(path)) if path in self.files else errno.ENOENT

    def is_folder(self, path):
        return any(name.startswith(path.rstrip("/") + "/") for name in self.files)

    def elf(self, path):
        return self.files[path]

    def content(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        return bytes(self.files[path].data)

    def names(self, folder):
        return [name[len(folder) + 1 :] for name in self.files if name.startswith(folder + "/")]

    def real(self, path):
        return path


def loader(machine=X86_64, release=b"2.36", folders=b"\0/lib64/\0/usr/lib64/\0"):
    return tiny(soname="ld.so", machine=machine) + folders + b"ld.so (made up) stable release version " + release + b"."


def process(files, machine=X86_64, **options):
    tree = Tree({LOADER: loader(machine), **files})
    runtime = read_runtime(tree, LOADER, Processor(3))
    return Process("/bin/prog", runtime, tree, **options)


PROGRAM = tiny((b"liba.so",), interpreter=LOADER, runpath="/app")


def test_a_whole_process_in_a_made_up_tree():
    files = {"/bin/prog": PROGRAM, "/opt/x/liba.so": tiny((b"libb.so",)), "/usr/lib64/libb.so": tiny()}
    made = process(files, environment={"LD_LIBRARY_PATH": "/none:/opt/x/"})
    assert made.started.ok
    assert [(one.path, str(one.found), one.requested_by) for one in made.loaded] == [
        ("/bin/prog", "the program itself", None),
        ("/lib/ld.so", "the program's interpreter", None),
        ("/opt/x/liba.so", "LD_LIBRARY_PATH[1]=/opt/x/", "/bin/prog"),
        ("/usr/lib64/libb.so", "default folder /usr/lib64", "/opt/x/liba.so"),
    ]


def test_everything_that_is_missing_is_told_with_the_places_tried():
    files = {"/bin/prog": PROGRAM, "/app/liba.so": tiny((b"libb.so", b"libc1.so"), rpath="$ORIGIN/../r")}
    failure = process(files, environment={"LD_LIBRARY_PATH": "/env"}).started.failure
    assert failure is not None
    assert (failure.kind, failure.text) == (
        Kind.LIBRARY,
        "libb.so: cannot open shared object file: No such file or directory",
    )
    assert [(one.requester, one.name) for one in failure.libraries] == [
        ("/app/liba.so", "libb.so"),
        ("/app/liba.so", "libc1.so"),
    ]
    assert [(str(one.found), one.path) for one in failure.libraries[0].places] == [
        ("RPATH of /app/liba.so", "/app/../r/"),
        ("LD_LIBRARY_PATH[0]=/env", "/env/"),
        ("default folder /lib64", "/lib64/"),
        ("default folder /usr/lib64", "/usr/lib64/"),
    ]


def test_every_request_is_told_with_its_answer():
    files = {
        "/bin/prog": PROGRAM,
        "/app/liba.so": tiny((b"libb.so",), soname="liba.so"),
        "/lib64/libb.so": tiny((b"liba.so",)),
    }
    made = process(files)
    assert [(one.requester, one.name, one.path, str(one.found)) for one in made.started.requests] == [
        ("/bin/prog", "liba.so", "/app/liba.so", "RUNPATH of /bin/prog"),
        ("/app/liba.so", "libb.so", "/lib64/libb.so", "default folder /lib64"),
        ("/lib64/libb.so", "liba.so", "/app/liba.so", "already loaded as /app/liba.so"),
    ]


def test_a_failed_load_leaves_the_process_as_it_was():
    files = {"/bin/prog": PROGRAM, "/app/liba.so": tiny(), "/new/libn.so": tiny((b"libgone.so",))}
    made = process(files)
    before = made.loaded
    outcome = made.dlopen("/new/libn.so", Mode.NOW | Mode.GLOBAL)
    assert not outcome.ok
    assert [one.path for one in outcome.loaded] == ["/new/libn.so"]
    assert made.loaded == before
    assert made.find("/new/libn.so") is None
    with pytest.raises(KeyError):
        made.dlopen("libx.so", caller="/new/libn.so")


def test_another_machines_files_are_read_and_skipped():
    files = {
        "/bin/prog": tiny((b"liba.so",), interpreter=LOADER, machine=AARCH64),
        "/one/liba.so": tiny(machine=X86_64),
        "/two/liba.so": tiny(machine=AARCH64),
    }
    made = process(files, AARCH64, environment={"LD_LIBRARY_PATH": "/one:/two"})
    assert made.find("liba.so").path == "/two/liba.so"


def test_a_damaged_library_is_told_as_such():
    broken = tiny((b"libb.so",)).replace(b"\1" + b"\0" * 7 + b"\1", b"\1" + b"\0" * 7 + b"\x70")
    made = process({"/bin/prog": PROGRAM, "/app/liba.so": broken})
    assert made.started.failure.kind is Kind.DAMAGED


def test_the_loaders_own_folders_and_release_are_read_from_it():
    tree = Tree({LOADER: loader(AARCH64, b"2.31", MULTIARCH)})
    runtime = read_runtime(tree, LOADER, Processor())
    assert runtime.folders == ("/lib/aarch64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/lib/", "/usr/lib/")
    assert (runtime.library, runtime.platform, runtime.glibc) == ("lib/aarch64-linux-gnu", "aarch64", (2, 31))
    assert runtime.subfolders == ("tls/aarch64/", "tls/", "aarch64/", "")


@pytest.mark.parametrize(
    ("glibc", "level", "subfolders"),
    [
        ((2, 31), 1, ("tls/x86_64/", "tls/", "x86_64/", "")),
        ((2, 37), 3, ("glibc-hwcaps/x86-64-v3/", "glibc-hwcaps/x86-64-v2/", "")),
        ((2, 37), 1, ("",)),
        ((2, 34), 2, ("glibc-hwcaps/x86-64-v2/", "tls/x86_64/", "tls/", "x86_64/", "")),
    ],
)
def test_folders_for_processors_depend_on_the_release(glibc, level, subfolders):
    tree = Tree({LOADER: loader()})
    assert read_runtime(tree, LOADER, Processor(level), glibc).subfolders == subfolders


def test_an_unpacked_image_is_a_world_of_its_own(tmp_path):
    for path, data in {
        "usr/lib/ld.so": loader(folders=b"\0/lib/\0/usr/lib/\0"),
        "usr/bin/prog": tiny((b"liba.so",), interpreter="/lib/ld.so", runpath="$ORIGIN/../../opt"),
        "data/liba.so": tiny((b"libb.so",)),
        "usr/lib/libb.so": tiny(),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "lib").symlink_to("usr/lib")
    (tmp_path / "bin").symlink_to("/usr/bin")
    (tmp_path / "opt").symlink_to("/data")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ld.so.preload").write_text("# none of these is there\n/lib/libp.so\n")
    disk = Disk(str(tmp_path))
    made = Process("/bin/prog", read_runtime(disk, "/lib/ld.so", Processor()), disk)
    assert [one.path for one in made.loaded] == [
        "/usr/bin/prog",
        "/lib/ld.so",
        "/usr/bin/../../opt/liba.so",
        "/lib/libb.so",
    ]
    assert made.started.printed("prog") == (
        "ERROR: ld.so: object '/lib/libp.so' from /etc/ld.so.preload cannot be preloaded (cannot open shared object file): ignored.\n"
    )


@given(st.lists(st.lists(st.integers(0, 7), max_size=4), min_size=1, max_size=8), st.sampled_from([(2, 31), (2, 36)]))
def test_without_circles_dependencies_are_relocated_first(edges, glibc):
    group = [Mapped(str(number), Elf(b"", ""), Found(Rule.PATH), name="", folder="/") for number in range(len(edges))]
    for number, targets in enumerate(edges):
        group[number].needed = [group[target] for target in dict.fromkeys(targets) if number < target < len(group)]
    order = relocation_order(group, glibc)
    assert sorted(one.path for one in order) == sorted(one.path for one in group)
    assert order[-1] is group[0]
    for one in group[1:]:
        assert all(order.index(other) < order.index(one) for other in one.needed)
