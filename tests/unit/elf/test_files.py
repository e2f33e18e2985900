"""The disk below a root: links count from there, and none leads out."""

from __future__ import annotations

import errno
import os

import pytest

from cvm.elf.files import Disk
from cvm.elf.tokens import expand


@pytest.fixture
def image(tmp_path):
    root = tmp_path / "image"
    (root / "usr/lib").mkdir(parents=True)
    (root / "usr/lib/libx.so.1").write_bytes(b"\x7fELF, inside")
    (root / "lib").symlink_to("usr/lib")
    (root / "absolute.so").symlink_to("/usr/lib/libx.so.1")
    (root / "out.so").symlink_to("../../../../../../usr/lib/libx.so.1")
    (root / "loop.so").symlink_to("loop.so")
    return Disk(str(root))


@pytest.mark.parametrize("path", ["/absolute.so", "/out.so", "/lib/libx.so.1", "/usr/../lib/./libx.so.1"])
def test_links_are_followed_within_the_root(image, path):
    assert image.elf(path).data[:] == b"\x7fELF, inside"
    assert image.identity(path) == image.identity("/usr/lib/libx.so.1")
    assert image.real(path) == "/usr/lib/libx.so.1"


def test_what_is_not_there_has_an_error_number(image):
    assert image.identity("/none") == errno.ENOENT
    assert image.identity("/loop.so") == errno.ELOOP
    assert image.identity("/usr/lib/libx.so.1/more") == errno.ENOTDIR
    assert not image.is_folder("/none")
    assert image.is_folder("/lib")
    assert image.names("/none") == ()
    with pytest.raises(IsADirectoryError):
        image.elf("/lib")
    with pytest.raises(FileNotFoundError):
        image.content("/none")


def test_a_file_is_read_once_by_whatever_path(image):
    assert image.elf("/absolute.so") is image.elf("/lib/libx.so.1")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$ORIGIN/../lib", "/here/../lib"),
        ("${ORIGIN}x$LIB", "/herexlib64"),
        ("$ORIGINAL", "$ORIGINAL"),
        ("$HOME/${none}", "$HOME/${none}"),
        ("a/$PLATFORM", ""),
        ("plain", "plain"),
    ],
)
def test_tokens_are_replaced(text, expanded):
    assert expand(text, {"ORIGIN": "/here", "LIB": "lib64", "PLATFORM": ""}) == expanded


def test_what_never_ends_is_read_to_a_limit_and_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    files = Disk()
    assert files.content(str(tmp_path / "pipe")) == b""
    assert len(files.content("/dev/zero")) == 64 << 20
    (tmp_path / "small").write_bytes(b"x" * 100_000)
    assert files.content(str(tmp_path / "small")) == b"x" * 100_000
    assert files.content("/proc/sys/kernel/osrelease").decode().strip() == os.uname().release
