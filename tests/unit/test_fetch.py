from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from cvm import fetch
from cvm.errors import CvmError, DiskError, IntegrityError, NetworkError, NoMatchError
from cvm.fetch import FetchJob, Finished, Progress, Retrying, Started, default_workers, fetch_all
from cvm.fetch.ahead import ahead
from cvm.fetch.jobs import Task
from cvm.fetch.single import unpacked_limit
from cvm.layout import Layout
from cvm.net import Location, Wanted
from cvm.store import Store
from tests.fakes.archives import Made, pseudo_random, redist_archive, wheel
from tests.fakes.server import Behaviour, Server, wait_until

ROOT = Path(__file__).resolve().parents[2]
BIG = wheel("big", "1.0", {"big/lib/libbig.so.1": pseudo_random(900_000, 1)})
MIDDLE = wheel("middle", "1.0", {"middle/a": pseudo_random(500_000, 2)})
SMALL = redist_archive(
    "cuda_small", "1.0", {"bin/tool": b"#!/bin/sh\n", "lib/libs.so.1": b"x"}, {"lib/libs.so": "libs.so.1"}
)
ALL = (SMALL, BIG, MIDDLE)


@dataclass
class World:
    """A server with three archives, and an empty home."""

    server: Server
    layout: Layout

    def job(self, made: Made, **changes) -> FetchJob:
        location = Location(f"{self.server.url}/{made.name}")
        fields = {"sha256": made.sha256, "size": made.size, "filename": made.name, "locate": lambda: location}
        return FetchJob(**{**fields, **changes})

    def fetch(self, *made: Made, workers: int | None = None) -> list:
        events: list = []
        fetch_all([self.job(each) for each in made or ALL], self.layout, workers=workers, on_event=events.append)
        return events

    def stored(self) -> set[str]:
        return {entry.filename for entry in Store(self.layout).entries()}

    def leftovers(self) -> list[str]:
        """Staging folders, and parts that hold something."""
        parts = [path.name for path in self.layout.cache.glob("*") if path.stat().st_size]
        return sorted([path.name for path in self.layout.store.glob(".*")] + parts)


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "_SMALL", 0)
    folder = tmp_path / "served"
    folder.mkdir()
    for made in ALL:
        (folder / made.name).write_bytes(made.data)
    with Server(folder) as server:
        yield World(server, Layout(tmp_path / "home"))


def children(pid: int) -> set[int]:
    try:
        return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    except FileNotFoundError:
        return set()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("workers", [1, 2, None])
def test_archives_come_into_the_store(world, workers):
    before = children(os.getpid())
    events = world.fetch(workers=workers)

    assert world.stored() == {made.name for made in ALL}
    assert world.leftovers() == []
    assert list(world.layout.cache.iterdir()) == []
    for made in ALL:
        own = [event for event in events if event.sha256 == made.sha256]
        assert own[0] == Started(made.sha256, 0)
        assert own[-1] == Finished(made.sha256)
        assert all(isinstance(event, Progress) for event in own[1:-1])
    tree = Store(world.layout).find(SMALL.sha256).tree
    assert (next(tree.iterdir()) / "lib/libs.so").read_bytes() == b"x"
    assert children(os.getpid()) == before


def test_the_largest_comes_first(world):
    world.fetch(workers=1)
    assert [request.path for request in world.server.requests] == [BIG.name, MIDDLE.name, SMALL.name]


def test_nothing_to_do(world):
    assert fetch_all([], world.layout, on_event=print) is None


def test_an_archive_that_is_named_twice_comes_once(world):
    world.fetch(BIG, BIG, SMALL)
    assert world.server.count(BIG.name) == 1


def test_local_archives_leave_nothing_in_the_cache(world):
    jobs = [
        world.job(made, locate=lambda made=made: Location(str(world.server.folder / made.name)))
        for made in (BIG, SMALL)
    ]
    fetch_all(jobs, world.layout, workers=2, on_event=lambda _: None)
    assert world.stored() == {BIG.name, SMALL.name}
    assert world.server.requests == []
    assert not world.layout.cache.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_part_is_continued(world, workers):
    world.layout.cache.mkdir(parents=True)
    world.layout.part(BIG.sha256).write_bytes(BIG.data[:600_000])
    events = world.fetch(BIG, SMALL, workers=workers)
    assert Started(BIG.sha256, 600_000) in events
    assert world.server.ranges(BIG.name) == ["bytes=600000-"]
    assert world.leftovers() == []


@pytest.mark.parametrize("damage", [b"garbage", BIG.data[:100] + b"!" + BIG.data[101:400_000]])
def test_a_damaged_part_is_fetched_once_more(world, damage):
    world.layout.cache.mkdir(parents=True)
    world.layout.part(BIG.sha256).write_bytes(damage)
    events = world.fetch(BIG)
    assert Retrying(BIG.sha256, "what was here of it already is damaged") in events
    assert world.server.ranges(BIG.name) == [f"bytes={len(damage)}-", None]
    assert world.stored() == {BIG.name}
    assert world.leftovers() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_a_wrong_archive_names_both_hashes_and_leaves_nothing(world, workers):
    lie = b"\0" * BIG.size
    world.server.behave(BIG.name, Behaviour(body=lie))
    with pytest.raises(IntegrityError) as caught:
        world.fetch(BIG, SMALL, workers=workers)
    lied = Made("", lie).sha256
    assert caught.value.message == f"{BIG.name} has the sha256 {lied} instead of {BIG.sha256}"
    assert BIG.name not in world.stored()
    assert world.leftovers() == []


def test_a_right_hash_of_a_bad_archive_says_what_is_bad(world):
    bad = Made("bad.whl", b"not a zip archive")
    (world.server.folder / bad.name).write_bytes(bad.data)
    with pytest.raises(IntegrityError) as caught:
        world.fetch(bad)
    assert caught.value.message == "bad.whl is damaged: it is not a zip archive"


def test_the_first_failure_ends_all_and_keeps_what_came_of_the_others(world):
    world.server.behave(BIG.name, Behaviour(hang_after=400_000))
    world.server.behave(SMALL.name, Behaviour(status=404))
    wait = world.server
    job = world.job(
        SMALL, locate=lambda: wait_until(lambda: wait.sent >= 400_000) or Location(f"{wait.url}/{SMALL.name}")
    )
    before = children(os.getpid())
    with pytest.raises(NetworkError, match=rf"{SMALL.name} answered 404"):
        fetch_all([world.job(BIG), job], world.layout, workers=2, on_event=lambda _: None)
    assert children(os.getpid()) == before
    assert world.leftovers() == [f"{BIG.sha256}.part"]
    assert 0 < world.layout.part(BIG.sha256).stat().st_size <= 400_000


def test_an_archive_that_nobody_can_locate(world):
    def locate():
        raise NoMatchError("no such wheel", hint="cvm list-remote")

    with pytest.raises(NoMatchError) as caught:
        fetch_all([world.job(BIG, locate=locate), world.job(SMALL)], world.layout, workers=2, on_event=lambda _: None)
    assert (caught.value.message, caught.value.hint) == ("no such wheel", "cvm list-remote")


def test_errors_keep_their_hints_across_processes(world):
    world.server.behave(BIG.name, Behaviour(status=401))
    with pytest.raises(NetworkError) as caught:
        world.fetch(BIG, SMALL, workers=2)
    assert caught.value.hint == "check the credentials for this host, for instance in ~/.netrc"


def test_a_worker_that_dies_is_reported(world):
    world.server.behave(BIG.name, Behaviour(hang_after=400_000))
    before = children(os.getpid())

    def kill(event):
        if isinstance(event, Started) and event.sha256 == BIG.sha256:
            wait_until(lambda: world.server.sent >= 400_000)
            for pid in children(os.getpid()) - before:
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(CvmError) as caught:
        fetch_all([world.job(BIG), world.job(MIDDLE)], world.layout, workers=2, on_event=kill)
    assert caught.value.message in {
        f"the process that unpacked {name} was killed by SIGKILL" for name in (BIG.name, MIDDLE.name, "archives")
    }
    assert not [name for name in world.leftovers() if name.startswith(".")]


def test_the_cache_may_be_on_another_disk(world):
    folder = Path("/dev/shm") / f"cvm-test-{os.getpid()}"
    try:
        layout = Layout(world.layout.home, cache_home=folder)
        fetch_all([world.job(made) for made in ALL], layout, workers=2, on_event=lambda _: None)
        assert len(list(Store(layout).entries())) == 3
        assert list(folder.iterdir()) == []
        assert not world.layout.cache.exists()
    finally:
        if folder.exists():
            folder.rmdir()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk(world, small_disk, workers):
    layout = Layout(small_disk / "home", cache_home=world.layout.cache)
    big = wheel("wide", "1", {"wide/a": bytes(3 << 20)})
    (world.server.folder / big.name).write_bytes(big.data)
    with pytest.raises(DiskError, match=r"no space is left on .* while unpacking \S+"):
        fetch_all([world.job(big), world.job(SMALL)], layout, workers=workers, on_event=lambda _: None)
    assert list(layout.store.glob(".staging*")) == []


def test_a_full_cache(world, small_disk):
    layout = Layout(world.layout.home, cache_home=small_disk)
    big = wheel("wide", "1", {"wide/a": pseudo_random(3 << 20)})
    (world.server.folder / big.name).write_bytes(big.data)
    with pytest.raises(DiskError, match=rf"no space is left for .*{big.sha256}\.part"):
        fetch_all([world.job(big)], layout, on_event=lambda _: None)


SCRIPT = """
import json, sys
from pathlib import Path
from cvm import fetch
from cvm.fetch import FetchJob, fetch_all
from cvm.layout import Layout
from cvm.net import Location
fetch._SMALL = 0
told = json.loads(sys.argv[1])
jobs = [FetchJob(j["sha256"], j["size"], j["name"], lambda j=j: Location(j["url"])) for j in told["jobs"]]
try:
    fetch_all(jobs, Layout(Path(told["home"])), workers=told["workers"], on_event=lambda _: None)
except KeyboardInterrupt:
    print("interrupted")
else:
    print("done")
"""


def start(world: World, *made: Made, workers: int = 2) -> subprocess.Popen:
    jobs = [{"sha256": m.sha256, "size": m.size, "name": m.name, "url": f"{world.server.url}/{m.name}"} for m in made]
    told = json.dumps({"jobs": jobs, "home": str(world.layout.home), "workers": workers})
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, told],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_fetch_is_continued(world, workers):
    world.server.behave(BIG.name, Behaviour(hang_after=400_000, times=1))
    running = start(world, BIG, SMALL, workers=workers)
    wait_until(lambda: world.server.sent >= 400_000)
    time.sleep(0.2)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=10)
    assert (out, err) == ("interrupted\n", "")
    assert [name for name in world.leftovers() if name.startswith(".")] == []
    here = world.layout.part(BIG.sha256).stat().st_size
    assert 200_000 < here <= 400_000

    assert Started(BIG.sha256, here) in world.fetch(BIG)
    assert world.server.ranges(BIG.name) == [None, f"bytes={here}-"]
    assert world.leftovers() == []


def test_nothing_outlives_a_killed_parent_and_the_next_run_goes_on(world):
    for made in (BIG, MIDDLE):
        world.server.behave(made.name, Behaviour(hang_after=400_000, times=1))
    running = start(world, BIG, MIDDLE)
    wait_until(lambda: world.server.sent >= 800_000)
    time.sleep(0.2)
    workers = children(running.pid)
    assert len(workers) == 2
    running.kill()
    running.communicate()
    wait_until(lambda: not any(map(alive, workers)))
    left = world.leftovers()
    assert len([name for name in left if name.startswith(".staging-")]) == 2

    world.fetch(BIG, MIDDLE, workers=2)

    assert world.stored() == {BIG.name, MIDDLE.name}
    assert world.leftovers() == []
    assert [r.range is not None for r in world.server.requests] == [False, False, True, True]


def test_two_processes_that_fetch_the_same_archive_both_have_it(world):
    world.server.behave(BIG.name, Behaviour(drip=0.01, drip_size=100_000))
    both = [start(world, BIG, workers=1) for _ in range(2)]
    assert [running.communicate(timeout=20) for running in both] == [("done\n", ""), ("done\n", "")]
    assert world.stored() == {BIG.name}
    assert world.leftovers() == []


def test_how_much_may_be_unpacked():
    location = Location("x")
    assert unpacked_limit(Task(Wanted("", 10, ""), location, 800)) == 900 + (64 << 20)
    assert unpacked_limit(Task(Wanted("", 10, ""), location, None)) == 2000 + (1 << 30)
    assert unpacked_limit(Task(Wanted("", 0, ""), location, None)) is None


def test_there_is_a_worker_more_than_cores_and_not_more_than_four(monkeypatch):
    for cores, expected in ((1, 2), (2, 3), (3, 4), (64, 4)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        assert default_workers() == expected


def test_reading_ahead_stops_when_nobody_reads():
    closed = []

    def blocks():
        try:
            for _ in range(10_000):
                yield b"x"
        finally:
            closed.append(True)

    reader = ahead(blocks())
    assert next(reader) == b"x"
    reader.close()
    wait_until(lambda: closed)


def test_reading_ahead_raises_what_reading_raises():
    def blocks():
        yield b"x"
        raise ValueError("broken")

    reader = ahead(blocks())
    assert next(reader) == b"x"
    with pytest.raises(ValueError, match="broken"):
        next(reader)
