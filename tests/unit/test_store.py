from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cvm.core.entry import StoredFile
from cvm.errors import DiskError, IntegrityError
from cvm.layout import Layout, store_entry
from cvm.store import Store
from tests.fakes.archives import Made, member, pseudo_random, wheel, zip_bytes

MADE = wheel("demo", "1.0", {"demo/bin/tool": b"\x7fELF", "demo/a.txt": b"text"})


def add(store: Store, made: Made = MADE):
    return store.add(made.sha256, made.name, iter([made.data]))


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path / "home")


def left_in(layout: Layout) -> list[str]:
    return sorted(path.name for path in layout.store.iterdir()) if layout.store.exists() else []


def test_what_was_added_is_found_again(layout):
    store = Store(layout)
    entry = add(store)

    assert entry.folder == store_entry(layout.store, MADE.sha256)
    assert (entry.sha256, entry.filename, len(entry.files)) == (MADE.sha256, MADE.name, 5)
    tool = StoredFile("demo/bin/tool", 0o644, 4, hashlib.sha256(b"\x7fELF").hexdigest())
    assert [file for file in entry.files if "bin" in file.path] == [tool]
    assert (entry.tree / "demo/a.txt").read_bytes() == b"text"
    assert Store(layout).find(MADE.sha256) == entry
    assert list(store.entries()) == [entry]
    assert store.size(entry) == sum(path.stat().st_size for path in entry.tree.rglob("*") if path.is_file())
    assert left_in(layout) == [MADE.sha256[:2]]


def test_what_is_not_there_is_not_found(layout):
    assert Store(layout).find("0" * 64) is None
    assert list(Store(layout).entries()) == []


def test_an_added_entry_is_for_all_users_and_read_only(layout):
    old = os.umask(0o077)
    try:
        entry = add(Store(layout))
    finally:
        os.umask(old)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (entry.folder, *entry.folder.rglob("*"))}
    assert (modes[entry.folder.name], modes["tree"], modes["entry.json"]) == (0o755, 0o755, 0o644)
    assert (modes["tool"], modes["a.txt"]) == (0o555, 0o444)


def test_the_site_is_searched_and_never_written(tmp_path):
    site = Layout(tmp_path / "site")
    there = add(Store(site))
    store = Store(Layout(tmp_path / "home", site.home))
    assert store.find(MADE.sha256) == there
    assert list(store.entries()) == []
    own = add(store)
    assert own.folder != there.folder
    assert store.find(MADE.sha256) == own


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"schema": 2}', '{"schema":1,"files":[[1]]}'])
def test_an_entry_whose_record_is_damaged_is_replaced(layout, damage):
    store = Store(layout)
    entry = add(store)
    (entry.folder / "entry.json").write_text(damage)
    (entry.tree / "stray").write_text("")
    assert store.find(MADE.sha256) is None
    assert list(store.entries()) == []

    assert add(store) == entry
    assert not (entry.tree / "stray").exists()
    assert left_in(layout) == [MADE.sha256[:2]]


def test_an_entry_without_a_record_is_replaced(layout):
    store = Store(layout)
    entry = add(store)
    (entry.folder / "entry.json").unlink()
    assert add(store) == entry


def test_an_entry_of_another_archive_is_not_taken(layout):
    store = Store(layout)
    entry = add(store)
    record = json.loads((entry.folder / "entry.json").read_text())
    (entry.folder / "entry.json").write_text(json.dumps({**record, "sha256": "0" * 64}))
    assert store.find(MADE.sha256) is None


def test_nothing_stays_of_a_bad_archive(layout):
    def chunks():
        yield MADE.data[:-30]

    with pytest.raises(IntegrityError):
        Store(layout).add(MADE.sha256, MADE.name, chunks())
    assert left_in(layout) == []


def test_nothing_stays_when_the_bytes_stop_coming(layout):
    def chunks():
        yield MADE.data[:100]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(layout).add(MADE.sha256, MADE.name, chunks())
    assert left_in(layout) == []


def test_two_that_add_the_same_archive_both_get_it(layout):
    gate = threading.Barrier(2)
    found = []

    def chunks():
        yield MADE.data[:100]
        gate.wait()
        yield MADE.data[100:]

    def work():
        found.append(Store(layout).add(MADE.sha256, MADE.name, chunks()))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == Store(layout).find(MADE.sha256)
    assert left_in(layout) == [MADE.sha256[:2]]


def test_remove(layout):
    store = Store(layout)
    entry = add(store)
    store.remove(entry)
    assert store.find(MADE.sha256) is None
    assert not entry.folder.exists()
    store.remove(entry)


def test_only_what_dead_processes_left_is_swept(layout):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f".staging-{dead.pid}-a", f".staging-{os.getpid()}-b", ".staging-old-c"):
        (layout.store / name / "tree" / "deep").mkdir(parents=True)
        (layout.store / name / "tree" / "deep").chmod(0o555)
    Store(layout).sweep_staging()
    assert left_in(layout) == [f".staging-{os.getpid()}-b"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk(layout, monkeypatch, code):
    def full(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("cvm.archive.tree.os.write", full)
    with pytest.raises(DiskError) as caught:
        add(Store(layout))
    assert caught.value.message == f"no space is left on {layout.store} while unpacking {MADE.name}"
    assert caught.value.hint == "cvm prune, or set CVM_HOME to a larger disk"
    assert left_in(layout) == []


def test_a_really_full_disk(small_disk):
    big = Made("big.zip", zip_bytes([member("a", pseudo_random(3 << 20))]))
    layout = Layout(small_disk / "home")
    with pytest.raises(DiskError, match=r"no space is left on .* while unpacking big\.zip"):
        add(Store(layout), big)
    assert left_in(layout) == []


def test_a_read_only_home(read_only_disk):
    with pytest.raises(DiskError) as caught:
        add(Store(Layout(read_only_disk / "home")))
    assert caught.value.message == f"{read_only_disk / 'home'} can't be written: read-only file system"


def test_a_folder_of_somebody_else(tmp_path):
    if os.getuid() != 0:
        pytest.skip("needs root to be somebody else")
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    code = (
        "import os, sys; from pathlib import Path; from cvm.layout import Layout; from cvm.store import Store\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: Store(Layout(Path(sys.argv[1]))).add('a' * 64, 'x.zip', iter(()))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout == f"DiskError {home}/store can't be written: permission denied\n"
