from __future__ import annotations

import base64
import hashlib

import pytest

from cvm.core.packages import Distribution, PythonEnvironment
from cvm.elf.files import Disk
from cvm.host.records import lost_files, shared_files

NCCL = "nvidia/nccl/lib/libnccl.so.2"


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


class Site:
    """A folder of packages, in which distributions are installed the way pip does: the last one wins."""

    def __init__(self, root):
        self.root = root
        self.found = []

    def install(self, name, files, *, record=None, installer="pip", folder="site"):
        info = self.root / folder / f"{name}.dist-info"
        info.mkdir(parents=True)
        (info / "INSTALLER").write_text(f"{installer}\n")
        for path, content in files.items():
            file = self.root / folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        lines = [f"{path},{digest(content)},{len(content)}" for path, content in files.items()]
        (info / "RECORD").write_text(
            "\n".join([*(lines if record is None else record), f"{name}.dist-info/RECORD,,", ""])
        )
        self.found.append(Distribution(name, "1", f"/{folder}", f"/{folder}/{name}.dist-info"))
        return self.found[-1]

    @property
    def environment(self):
        return PythonEnvironment("/p", "/p", "/", (3, 11), (), tuple(self.found))

    @property
    def shared(self):
        return shared_files(self.environment, Disk(str(self.root)))

    @property
    def lost(self):
        return [(one.path, one.owner.name) for one in lost_files(self.environment, Disk(str(self.root)))]


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.mark.parametrize("contents", [(b"cu11", b"cu12 is longer"), (b"cu11", b"cu12"), (b"cu12 is longer", b"cu11")])
def test_the_last_one_installed_holds_the_file(site, contents):
    first = site.install("nvidia-nccl-cu11", {NCCL: contents[0]})
    second = site.install("nvidia-nccl-cu12", {NCCL: contents[1]})
    (shared,) = site.shared
    assert shared == (f"/site/{NCCL}", (first, second), second, True)
    (site.root / "site" / NCCL).write_bytes(contents[0])
    assert site.shared[0].holder == first


def test_nobody_holds_a_file_that_neither_brought(site):
    site.install("nvidia-nccl-cu11", {NCCL: b"cu11"})
    site.install("nvidia-nccl-cu12", {NCCL: b"cu12"})
    for content in (b"cuXX", b"of another size"):
        (site.root / "site" / NCCL).write_bytes(content)
        assert (site.shared[0].holder, site.shared[0].there) == (None, True)


def test_after_an_uninstall_the_file_is_gone(site):
    site.install("nvidia-nccl-cu11", {NCCL: b"cu11"})
    site.install("nvidia-nccl-cu12", {NCCL: b"cu12"})
    (site.root / "site" / NCCL).unlink()
    assert (site.shared[0].holder, site.shared[0].there) == (None, False)
    assert site.lost == [(f"/site/{NCCL}", "nvidia-nccl-cu11"), (f"/site/{NCCL}", "nvidia-nccl-cu12")]


def test_the_same_content_twice_is_no_clash(site):
    site.install("nvidia-nccl-cu11", {NCCL: b"same"})
    site.install("nvidia-nccl-cu12", {NCCL: b"same"})
    assert site.shared == ()


def test_what_is_no_library_is_shared_by_nature(site):
    names = [
        "nvidia/__init__.py",
        "nvidia/__pycache__/x.so.pyc",
        "LICENSE",
        "nvidia/so.txt",
        "nvidia/x.so.json",
        "a.sources",
    ]
    site.install("nvidia-a", dict.fromkeys(names, b"1"))
    site.install("nvidia-b", dict.fromkeys(names, b"22"))
    assert site.shared == ()
    assert site.lost == []


def test_other_packages_are_not_looked_at(site):
    site.install("numpy", {"x.so": b"1"})
    site.install("scipy", {"x.so": b"22"})
    (site.root / "site/x.so").unlink()
    assert (site.shared, site.lost) == ((), [])


@pytest.mark.parametrize(
    "name", ["torch", "jaxlib", "tensorflow", "tensorrt-cu12-libs", "cupy-cuda12x", "jax-cuda12-plugin"]
)
def test_lost_libraries(site, name):
    site.install(name, {"p/lib/a.so": b"1", "p/lib/b.so.1.2": b"2", "p/c.py": b"3"})
    assert site.lost == []
    for path in ("p/lib/a.so", "p/lib/b.so.1.2", "p/c.py"):
        (site.root / "site" / path).unlink()
    assert site.lost == [("/site/p/lib/a.so", name), ("/site/p/lib/b.so.1.2", name)]


def test_paths_lead_out_of_the_folder(site):
    (site.root / "lib").mkdir()
    one = site.install("nvidia-a", {"../lib/x.so": b"1"})
    two = site.install("nvidia-b", {"x.so": b"22"}, folder="lib")
    (shared,) = site.shared
    assert shared == ("/lib/x.so", (one, two), two, True)


def test_conda_may_move_the_files_of_its_packages(site):
    site.install("torch", {}, record=["torch/lib/libtorch.so,,"], installer="conda")
    assert site.lost == []


@pytest.mark.parametrize("row", ["", '"', '"a,b.so",,', "x.so", "x.so,md5=abc,9", "x.so,sha256=!,z", "x.so,sha256=a,1,2,3", "\0.so,,"])  # fmt: skip
def test_a_damaged_record_does_no_harm(site, row):
    site.install("nvidia-a", {}, record=[row])
    site.install("nvidia-b", {}, record=["x.so,sha256=abc,5"])
    assert all(isinstance(one.path, str) for one in site.shared)
    assert "nvidia-b" in {name for _, name in site.lost}


def test_a_record_without_hashes_is_told_by_size(site):
    site.install("nvidia-a", {}, record=["x.so,,1"])
    two = site.install("nvidia-b", {}, record=["x.so,,2"])
    (site.root / "site/x.so").write_bytes(b"22")
    assert site.shared[0].holder == two
