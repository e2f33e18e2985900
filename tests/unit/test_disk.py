from __future__ import annotations

import subprocess

import pytest

from cvm import disk
from cvm.disk import discard_folder, make_folder, readable_folder, remove_tree, replace_folder, staging_folder
from cvm.errors import DiskError
from tests.fakes.disks import mounted


def folder(path, text):
    path.mkdir()
    (path / "file").write_text(text)
    return path


def names(path):
    return sorted(child.name for child in path.iterdir())


@pytest.mark.parametrize("exchange", [True, False], ids=["in one step", "in two"])
def test_a_folder_takes_the_place_of_another(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(disk, "_exchange", lambda *_: False)
    target = folder(tmp_path / "target", "old")
    replace_folder(folder(tmp_path / "staged", "new"), target)
    assert (target / "file").read_text() == "new"
    assert names(tmp_path) == ["target"]


@pytest.mark.parametrize("exchange", [True, False], ids=["in one step", "in two"])
def test_links_and_files_in_the_way_are_replaced_themselves(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(disk, "_exchange", lambda *_: False)
    elsewhere = folder(tmp_path / "elsewhere", "not ours")
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "plain").write_text("")
    for name in ("link", "dangling", "plain"):
        replace_folder(folder(tmp_path / "staged", "new"), tmp_path / name)
        assert not (tmp_path / name).is_symlink()
        assert (tmp_path / name / "file").read_text() == "new"
    assert (elsewhere / "file").read_text() == "not ours"
    assert names(tmp_path) == ["dangling", "elsewhere", "link", "plain"]


def test_a_link_is_discarded_without_what_it_leads_to(tmp_path):
    elsewhere = folder(tmp_path / "elsewhere", "not ours")
    (tmp_path / "link").symlink_to(elsewhere)
    discard_folder(tmp_path / "link")
    discard_folder(tmp_path / "link")
    assert names(tmp_path) == ["elsewhere"]
    assert (elsewhere / "file").exists()


def test_read_only_folders_are_removed(tmp_path):
    inner = folder(tmp_path / "outer", "x") / "inner"
    folder(inner, "y").chmod(0o555)
    remove_tree(tmp_path / "outer")
    remove_tree(tmp_path / "outer")
    assert names(tmp_path) == []


def test_folders_of_a_lower_layer_are_replaced_and_discarded(tmp_path):
    # As in a container image: an overlay can't rename what an earlier layer brought.
    with mounted(tmp_path / "layers", "size=1m") as layers:
        for name in ("lower", "upper", "work", "merged"):
            (layers / name).mkdir()
        for name in ("replaced", "discarded"):
            folder(layers / "lower" / name, "old")
        merged = layers / "merged"
        options = f"lowerdir={layers}/lower,upperdir={layers}/upper,workdir={layers}/work"
        command = ["mount", "-t", "overlay", "overlay", "-o", options, str(merged)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs overlay")
        try:
            replace_folder(folder(merged / "staged", "new"), merged / "replaced")
            discard_folder(merged / "discarded")
            assert (merged / "replaced" / "file").read_text() == "new"
            assert names(merged) == ["replaced"]
        finally:
            subprocess.run(["umount", str(merged)], check=True)


def test_what_is_in_the_way_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError) as caught:
        make_folder(tmp_path / "file" / "below")
    assert (caught.value.message, caught.value.hint) == (
        f"{tmp_path / 'file' / 'below'} can't be made: a file is in the way",
        "set CVM_HOME to a folder",
    )


def test_the_umask_does_not_keep_others_out(tmp_path):
    before = disk.os.umask(0o077)
    try:
        staged = staging_folder(readable_folder(tmp_path / "home" / "toolchains"))
    finally:
        disk.os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "home", tmp_path / "home" / "toolchains", staged)]
    assert modes == [0o700, 0o755, 0o700]
