from __future__ import annotations

import hashlib
import socket
from dataclasses import dataclass, field

import pytest

from cvm import __version__
from cvm.errors import DiskError, IntegrityError, NetworkError, UnreachableError, UsageError
from cvm.net import Client, Location, Policy, Wanted, session, shown, stream
from tests.fakes.archives import pseudo_random
from tests.fakes.server import Behaviour, Server

DATA = pseudo_random(300_000)
SHA = hashlib.sha256(DATA).hexdigest()
WANTED = Wanted(SHA, len(DATA), "a.bin")
QUICK = Client({}, Policy(connect=2, read=0.3, tries=3, pause=0.001))


@dataclass
class Log:
    """A watch that remembers."""

    here: list[int] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    last: int = 0

    def started(self, here):
        self.here.append(here)

    def progress(self, here):
        self.last = here

    def retrying(self, reason):
        self.reasons.append(reason)


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "a.bin").write_bytes(DATA)
    with Server(folder) as running:
        yield running


@pytest.fixture
def part(tmp_path):
    return tmp_path / "cache" / f"{SHA}.part"


def fetch(server, part, wanted=WANTED, *, log=None, headers=None, path="a.bin"):
    return b"".join(stream(wanted, Location(f"{server.url}/{path}", headers or {}), part, QUICK, log or Log()))


def test_all_bytes_come_and_are_kept(server, part):
    log = Log()
    assert fetch(server, part, log=log) == DATA
    assert part.read_bytes() == DATA
    assert (log.here, log.last, log.reasons) == ([0], len(DATA), [])
    assert server.ranges() == [None]
    sent = server.requests[0].headers
    assert (sent["User-Agent"], sent["Accept-Encoding"]) == (f"cvm/{__version__}", "identity")


def test_a_part_is_continued(server, part):
    part.parent.mkdir()
    part.write_bytes(DATA[:100_000])
    log = Log()
    assert fetch(server, part, log=log) == DATA
    assert part.read_bytes() == DATA
    assert log.here == [100_000]
    assert server.ranges() == ["bytes=100000-"]


def test_a_whole_part_needs_no_request(server, part):
    part.parent.mkdir()
    part.write_bytes(DATA)
    assert fetch(server, part) == DATA
    assert server.requests == []


def test_a_part_that_is_too_long_is_thrown_away(server, part):
    part.parent.mkdir()
    part.write_bytes(DATA + b"more")
    assert fetch(server, part) == DATA
    assert server.ranges() == [None]


def test_a_server_that_ignores_ranges(server, part):
    part.parent.mkdir()
    part.write_bytes(DATA[:100_000])
    server.behave("a.bin", Behaviour(ignore_range=True))
    assert fetch(server, part) == DATA
    assert part.read_bytes() == DATA
    assert [(r.range, r.status) for r in server.requests] == [("bytes=100000-", 200)]


@pytest.mark.parametrize("shift", [5000, 1])
def test_a_range_that_begins_too_early_is_skipped_up_to_what_is_missing(server, part, shift):
    part.parent.mkdir()
    part.write_bytes(DATA[:100_000])
    server.behave("a.bin", Behaviour(wrong_start=shift))
    assert fetch(server, part) == DATA
    assert server.ranges() == ["bytes=100000-"]


def test_a_range_that_begins_too_late_is_refused(server, part):
    part.parent.mkdir()
    part.write_bytes(DATA[:100_000])
    server.behave("a.bin", Behaviour(wrong_start=-5000))
    log = Log()
    assert fetch(server, part, log=log) == DATA
    assert log.reasons == ["the server sent another range than it was asked for"]
    assert server.ranges() == ["bytes=100000-", None]


def test_a_broken_connection_is_taken_up_where_it_broke(server, part):
    server.behave("a.bin", Behaviour(cut_after=50_000))
    log = Log()
    assert fetch(server, part, log=log) == DATA
    assert server.ranges() == [None, *[f"bytes={n}-" for n in range(50_000, 300_000, 50_000)]]
    assert len(log.reasons) == 5
    assert part.read_bytes() == DATA


def test_errors_of_the_server_pass(server, part):
    server.behave("a.bin", Behaviour(status=503, times=1, retry_after=0), Behaviour(drop=True, times=1))
    log = Log()
    assert fetch(server, part, log=log) == DATA
    assert log.reasons[0] == "the server answered 503"
    assert len(log.reasons) == 2


def test_errors_of_the_server_that_do_not_pass(server, part):
    server.behave("a.bin", Behaviour(status=500))
    with pytest.raises(NetworkError) as caught:
        fetch(server, part)
    assert caught.value.message == f"{server.url}/a.bin: the server answered 500, 3 times in a row"
    assert not isinstance(caught.value, UnreachableError)
    assert server.count() == 3


def test_tries_that_bring_almost_nothing_come_to_an_end(server, part):
    server.behave("a.bin", Behaviour(cut_after=10))
    with pytest.raises(NetworkError, match="3 times in a row"):
        fetch(server, part)
    assert part.read_bytes() == DATA[:30]


@pytest.mark.parametrize("status", [404, 410, 403])
def test_a_refusal_is_final(server, part, status):
    server.behave("a.bin", Behaviour(status=status))
    secret = Location(f"http://user:secret@{server.url[7:]}/a.bin?token=secret")
    with pytest.raises(NetworkError) as caught:
        b"".join(stream(WANTED, secret, part, QUICK, Log()))
    assert caught.value.message.startswith(f"{server.url}/a.bin answered {status} ")
    assert "secret" not in caught.value.message
    assert server.count() == 1


def test_headers_and_redirects(server, part):
    server.behave("old.bin", Behaviour(redirect="/a.bin"))
    server.behave("a.bin", Behaviour(authorization="Bearer x"))
    assert fetch(server, part, headers={"Authorization": "Bearer x"}, path="old.bin") == DATA


@pytest.mark.parametrize("hang", [Behaviour(hang=True), Behaviour(hang_after=1000)])
def test_a_server_that_hangs_is_given_up(server, part, hang):
    server.behave("a.bin", hang)
    with pytest.raises(NetworkError) as caught:
        fetch(server, part)
    assert caught.value.message == f"{server.url}/a.bin: no answer in time, 3 times in a row"


def test_what_comes_before_each_stall_adds_up(server, part):
    server.behave("a.bin", Behaviour(hang_after=60_000))
    assert fetch(server, part) == DATA
    assert server.count() < 10


def test_nobody_listens(tmp_path, part):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/a.bin"
    with pytest.raises(UnreachableError) as caught:
        b"".join(stream(WANTED, Location(url), part, QUICK, Log()))
    assert caught.value.message == f"{url} can't be reached: connection refused"


def test_a_host_without_an_address(part):
    with pytest.raises(UnreachableError, match=r"^http://nowhere\.invalid/a can't be reached: "):
        b"".join(stream(WANTED, Location("http://nowhere.invalid/a"), part, QUICK, Log()))


def test_other_bytes_are_refused_and_thrown_away(server, part):
    lie = DATA[:-1] + b"!"
    server.behave("a.bin", Behaviour(body=lie))
    with pytest.raises(IntegrityError) as caught:
        fetch(server, part)
    assert caught.value.message == f"a.bin has the sha256 {hashlib.sha256(lie).hexdigest()} instead of {SHA}"
    assert not part.exists()


@pytest.mark.parametrize("length", [299_999, 300_001])
def test_another_length_is_refused_before_the_body(server, part, length):
    server.behave("a.bin", Behaviour(body=pseudo_random(length)))
    with pytest.raises(IntegrityError) as caught:
        fetch(server, part)
    assert caught.value.message == f"a.bin has {length} bytes at {server.url}/a.bin instead of 300000"


def test_a_body_without_end_is_stopped(server, part):
    server.behave("a.bin", Behaviour(body=DATA * 30, no_length=True))
    with pytest.raises(IntegrityError, match=r"a\.bin has \d+ bytes or more instead of 300000"):
        fetch(server, part)
    assert server.sent < len(DATA) * 30


def test_a_part_longer_than_the_file_of_the_server(server, part):
    part.parent.mkdir()
    part.write_bytes(bytes(300_000))
    with pytest.raises(IntegrityError, match=r"a\.bin is shorter on the server than the 300000 bytes of it here"):
        fetch(server, part, Wanted(SHA, 0, "a.bin"))
    assert not part.exists()


@pytest.mark.parametrize("behaviour", [Behaviour(), Behaviour(cut_after=100_000, times=1), Behaviour(no_length=True)])
def test_an_unknown_size(server, part, behaviour):
    server.behave("a.bin", behaviour)
    assert fetch(server, part, Wanted(SHA, 0, "a.bin")) == DATA


def test_a_part_that_another_process_writes_is_left_alone(server, part):
    part.parent.mkdir()
    part.write_bytes(b"theirs")
    import fcntl

    with part.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert fetch(server, part) == DATA
    assert part.read_bytes() == b"theirs"


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_files_of_this_machine(tmp_path, part, form):
    file = tmp_path / "a b.bin"
    file.write_bytes(DATA)
    location = Location(form.format(str(file).replace(" ", "%20") if "file" in form else file))
    log = Log()
    assert b"".join(stream(WANTED, location, part, QUICK, log)) == DATA
    assert (log.here, log.last, part.exists()) == ([0], len(DATA), False)


def test_a_file_that_is_not_there(tmp_path, part):
    with pytest.raises(DiskError) as caught:
        b"".join(stream(WANTED, Location(str(tmp_path / "no")), part, QUICK, Log()))
    assert caught.value.message == f"{tmp_path / 'no'} can't be read: no such file or directory"


def test_a_file_with_other_bytes(tmp_path, part):
    file = tmp_path / "a.bin"
    file.write_bytes(b"short")
    with pytest.raises(IntegrityError, match=r"a\.bin has 5 bytes instead of 300000"):
        b"".join(stream(WANTED, Location(str(file)), part, QUICK, Log()))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, True),
        ({"PIP_CERT": "/pip.pem"}, "/pip.pem"),
        ({"SSL_CERT_FILE": "/ssl.pem"}, "/ssl.pem"),
        ({"SSL_CERT_FILE": "/ssl.pem", "PIP_CERT": "/pip.pem"}, "/pip.pem"),
        ({"REQUESTS_CA_BUNDLE": "/own.pem", "PIP_CERT": "/pip.pem"}, True),
    ],
)
def test_certificates(environment, expected):
    with session(environment) as made:
        assert made.verify == expected


def test_timeouts():
    assert Policy.from_environment({}) == Policy(10.0, 30.0)
    assert Policy.from_environment({"CVM_HTTP_TIMEOUT": "60"}) == Policy(10.0, 60.0)
    assert Policy.from_environment({"CVM_HTTP_TIMEOUT": "0.5"}) == Policy(0.5, 0.5)
    for wrong in ("soon", "0", "-1", "inf", "nan"):
        with pytest.raises(UsageError) as caught:
            Policy.from_environment({"CVM_HTTP_TIMEOUT": wrong})
        assert caught.value.message == f"CVM_HTTP_TIMEOUT is '{wrong}', not a number of seconds"


def test_pauses_grow_and_have_a_limit():
    policy = Policy(pause=1.0)
    assert 0.75 <= policy.pause_after(1) <= 1.25
    assert 3.0 <= policy.pause_after(3) <= 5.0
    assert policy.pause_after(20) == 30.0
    assert policy.pause_after(1, 7.0) == 7.0


def test_shown():
    assert shown("https://user:secret@host:1/a/b.whl?token=x#y") == "https://host:1/a/b.whl"
