from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvm.archive import can_unpack, unpack
from cvm.archive import tree as tree_module
from cvm.core.entry import StoredFile
from cvm.errors import IntegrityError
from tests.fakes.archives import (
    HOSTILE_TARS,
    HOSTILE_ZIPS,
    member,
    pseudo_random,
    redist_archive,
    symlink,
    tar_bytes,
    tar_member,
    wheel,
    without_signatures,
    zip_bytes,
)

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = b"\x7fELF program"


def chunks_of(data: bytes, size: int = 1 << 18):
    return (data[at : at + size] for at in range(0, len(data), size))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def contents(folder: Path) -> dict[str, object]:
    """Files, links and their contents below a folder."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in folder.rglob("*")
        if not path.is_symlink()
    }


def test_a_wheel_becomes_files_with_the_hashes_of_its_record(tmp_path):
    made = wheel(
        "demo", "1.0", {"demo/bin/tool": PROGRAM, "demo/lib/libx.so.1": b"library"}, modes={"demo/bin/tool": 0o744}
    )

    files = unpack(chunks_of(made.data), made.name, tmp_path)

    assert [file for file in files if file.path.startswith("demo/")] == [
        StoredFile("demo/bin/tool", 0o744, 12, digest(PROGRAM)),
        StoredFile("demo/lib/libx.so.1", 0o644, 7, digest(b"library")),
    ]
    record = (tmp_path / "demo-1.0.dist-info/RECORD").read_bytes()
    assert StoredFile("demo-1.0.dist-info/RECORD", 0o644, len(record), digest(record)) in files
    assert len(files) == 5


def test_modes_are_read_only_and_programs_can_be_run_by_all(tmp_path):
    old = os.umask(0o077)
    try:
        made = wheel("demo", "1", {"demo/bin/a": PROGRAM, "demo/bin/nvcc.profile": b"TOP = x", "b": b"b"})
        unpack(chunks_of(made.data), made.name, tmp_path)
    finally:
        os.umask(old)

    found = modes(tmp_path)
    assert {path: found[path] for path in ("demo", "demo/bin", "demo/bin/a", "demo/bin/nvcc.profile", "b")} == {
        "demo": 0o755,
        "demo/bin": 0o755,
        "demo/bin/a": 0o555,
        "demo/bin/nvcc.profile": 0o444,
        "b": 0o444,
    }


def test_a_record_is_not_believed_about_a_file_of_another_size(tmp_path):
    record = b"a,sha256=" + b"A" * 43 + b",9\nb,md5=xx,1\nc,sha256=!,1\n"
    data = zip_bytes([member("a", b"1"), member("b", b"2"), member("c", b"3"), member("x.dist-info/RECORD", record)])

    files = unpack(chunks_of(data), "x-1-py3-none-any.whl", tmp_path)

    assert {file.path: file.sha256 for file in files} == {
        "a": digest(b"1"),
        "b": digest(b"2"),
        "c": digest(b"3"),
        "x.dist-info/RECORD": digest(record),
    }


@pytest.mark.parametrize("compression", ["", "gz", "xz"])
def test_a_tar_archive_keeps_links_programs_and_hard_links(tmp_path, compression):
    data = tar_bytes(
        [
            tar_member("top", mode=0o2755, kind=tarfile.DIRTYPE),
            tar_member("top/lib/libx.so.1.2", b"library", 0o755),
            tar_member("top/lib/libx.so", kind=tarfile.SYMTYPE, target="libx.so.1.2"),
            tar_member("top/lib64", kind=tarfile.SYMTYPE, target="lib"),
            tar_member("top/nvvm/lib/libx.so", kind=tarfile.SYMTYPE, target="../../lib64/libx.so"),
            tar_member("top/same", kind=tarfile.LNKTYPE, target="top/lib/libx.so.1.2"),
            tar_member("top/" + "long/" * 40 + "name", b"deep"),
        ],
        compression,
    )

    files = unpack(chunks_of(data, 1000), "x.tar" + (compression and f".{compression}"), tmp_path)

    library = StoredFile("top/lib/libx.so.1.2", 0o755, 7, digest(b"library"))
    assert files == (
        StoredFile("top/lib/libx.so", target="libx.so.1.2"),
        library,
        StoredFile("top/lib64", target="lib"),
        StoredFile("top/" + "long/" * 40 + "name", 0o644, 4, digest(b"deep")),
        StoredFile("top/nvvm/lib/libx.so", target="../../lib64/libx.so"),
        StoredFile("top/same", 0o755, 7, digest(b"library")),
    )
    assert (tmp_path / "top/nvvm/lib/libx.so").read_bytes() == b"library"
    assert modes(tmp_path)["top/same"] == 0o555


def test_zip_links_are_kept(tmp_path):
    data = zip_bytes([member("lib/a.so.1", b"a"), symlink("lib/a.so", "a.so.1"), symlink("lib64", "lib")])

    files = unpack(chunks_of(data), "x.zip", tmp_path)

    assert files[0] == StoredFile("lib/a.so", target="a.so.1")
    assert (tmp_path / "lib64/a.so").read_bytes() == b"a"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("step", [1, 7, 1 << 18])
def test_zip_members_arrive_in_any_pieces(tmp_path, method, zip64, step):
    data = pseudo_random(5000) + bytes(5000)
    archive = zip_bytes(
        [member("a/b", data, method=method), member("c/", b""), member("e", b"", method=method)], zip64=zip64
    )

    files = unpack(chunks_of(archive, step), "x.zip", tmp_path)

    assert files == (StoredFile("a/b", 0o644, 10000, digest(data)), StoredFile("e", 0o644, 0, digest(b"")))
    assert contents(tmp_path) == {"a/b": data, "e": b""}


@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("step", [1, 13, 1 << 18])
def test_zip_members_whose_sizes_follow(tmp_path, zip64, step):
    many = [member(f"f{i}", pseudo_random(i * 37, i) + bytes(i)) for i in range(20)]
    archive = zip_bytes(many, streamed=True, zip64=zip64)

    unpack(chunks_of(archive, step), "x.zip", tmp_path)

    assert contents(tmp_path) == {info.filename: data for info, data in many}


def test_zip_members_whose_sizes_follow_without_a_signature(tmp_path):
    archive = without_signatures(zip_bytes([member("a", b"text " * 99)], streamed=True))

    unpack(chunks_of(archive, 5), "x.zip", tmp_path)

    assert contents(tmp_path) == {"a": b"text " * 99}


def test_several_compressed_streams_in_one_file(tmp_path):
    plain = tar_bytes([tar_member("a", pseudo_random(30000))])
    import gzip
    import lzma

    for name, pack in (("x.tar.gz", gzip.compress), ("x.tar.xz", lzma.compress)):
        target = tmp_path / name
        target.mkdir()
        data = pack(plain[:10000]) + pack(plain[10000:]) + bytes(8)
        unpack(chunks_of(data, 999), name, target)
        assert contents(target) == {"a": pseudo_random(30000)}


@pytest.mark.parametrize("case", HOSTILE_ZIPS)
def test_a_hostile_zip_is_refused(tmp_path, case):
    data, why = HOSTILE_ZIPS[case]
    target = tmp_path / "above" / "target"
    target.mkdir(parents=True)
    with pytest.raises(IntegrityError) as caught:
        unpack(chunks_of(data), "x.zip", target)
    assert caught.value.message in (f"x.zip is refused: {why}", f"x.zip is damaged: {why}")
    assert [path.name for path in tmp_path.rglob("*") if target not in (path, *path.parents)] == ["above"]


@pytest.mark.parametrize("case", HOSTILE_TARS)
def test_a_hostile_tar_is_refused(tmp_path, case):
    data, why = HOSTILE_TARS[case]
    with pytest.raises(IntegrityError) as caught:
        unpack(chunks_of(data), "x.tar", tmp_path)
    assert caught.value.message == f"x.tar is refused: {why}"


ZIP = zip_bytes([member("a", pseudo_random(3000)), member("b", b"text")])
TAR = tar_bytes([tar_member("a", pseudo_random(3000)), tar_member("b", b"text")])
XZ = redist_archive("cuda_x", "1.0", {"a": pseudo_random(3000)}).data


@pytest.mark.parametrize(("name", "data"), [("x.zip", ZIP), ("x.tar", TAR[:4608]), ("x.tar.xz", XZ)])
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_cut_off_archive_is_refused(tmp_path, name, data, part):
    with pytest.raises(IntegrityError, match=f"{name} (ends too early|is damaged)"):
        unpack(chunks_of(data[: int(len(data) * part)]), name, tmp_path)


@pytest.mark.parametrize("name", ["x.whl", "x.zip", "x.tar", "x.tar.gz", "x.tgz", "x.tar.xz", "x.txz"])
@pytest.mark.parametrize("data", [b"<html>not an archive</html>" * 99, pseudo_random(4096)])
def test_garbage_is_refused(tmp_path, name, data):
    with pytest.raises(IntegrityError, match=f"{name} (ends too early|is damaged)"):
        unpack(chunks_of(data), name, tmp_path)


@pytest.mark.parametrize("at", range(0, len(TAR[:5120]), 512))
def test_a_damaged_tar_is_refused_or_read_whole(tmp_path, at):
    damaged = TAR[:at] + b"\xff" + TAR[at + 1 :]
    try:
        files = unpack(chunks_of(damaged), "x.tar", tmp_path)
    except IntegrityError:
        return
    assert [file.path for file in files] == ["a", "b"]


def test_an_archive_that_unpacks_to_more_than_it_may_is_refused(tmp_path):
    data = zip_bytes([member("a", bytes(1 << 20)), member("b", bytes(1 << 20))])
    with pytest.raises(IntegrityError) as caught:
        unpack(chunks_of(data), "x.zip", tmp_path, limit=1_500_000)
    assert caught.value.message == "x.zip is refused: it holds more than the 1500000 bytes that were expected"


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tree_module, "MAX_MEMBERS", 3)
    data = zip_bytes([member(f"d{i}/", b"") for i in range(4)])
    with pytest.raises(IntegrityError, match="more than 3 members"):
        unpack(chunks_of(data), "x.zip", tmp_path)


def test_an_unknown_kind_is_refused(tmp_path):
    assert not can_unpack("cuda_12.1.1_linux.run")
    with pytest.raises(IntegrityError, match=r"x\.rar is no kind of archive"):
        unpack(iter(()), "x.rar", tmp_path)


NAMES = st.text(st.sampled_from("abcdé .-_"), min_size=1, max_size=8).filter(lambda name: name.strip(". "))
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join),
    st.binary(max_size=3000) | st.integers(1, 70000).map(bytes),
    max_size=6,
)


def _no_clash(tree):
    return not any(a != b and b.startswith(a + "/") for a in tree for b in tree)


@given(
    tree=TREES.filter(_no_clash),
    step=st.integers(1, 5000),
    streamed=st.booleans(),
    zip64=st.booleans(),
    stored=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_zips_unpack_to_what_zipfile_reads(tmp_path_factory, tree, step, streamed, zip64, stored):
    method = zipfile.ZIP_STORED if stored and not streamed else zipfile.ZIP_DEFLATED
    data = zip_bytes([member(path, body, method=method) for path, body in tree.items()], streamed=streamed, zip64=zip64)
    target = tmp_path_factory.mktemp("zip")

    files = unpack(chunks_of(data, step), "x.zip", target)

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        expected = {info.filename: archive.read(info) for info in archive.infolist()}
    assert contents(target) == expected
    assert {file.path: file.sha256 for file in files} == {path: digest(body) for path, body in expected.items()}


@given(
    tree=TREES.filter(_no_clash),
    step=st.integers(1, 5000),
    compression=st.sampled_from(["", "gz", "xz"]),
    form=st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tars_unpack_to_what_tarfile_reads(tmp_path_factory, tree, step, compression, form):
    data = tar_bytes([tar_member(path, body) for path, body in tree.items()], compression, form=form)
    target = tmp_path_factory.mktemp("tar")

    files = unpack(chunks_of(data, step), "x.tar" + (compression and f".{compression}"), target)

    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        expected = {info.name: archive.extractfile(info).read() for info in archive}
    assert contents(target) == expected
    assert {file.path: file.sha256 for file in files} == {path: digest(body) for path, body in expected.items()}
