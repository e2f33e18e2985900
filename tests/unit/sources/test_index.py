import json

import pytest
import requests

from cvm.errors import IntegrityError, NetworkError, NoMatchError, UnreachableError, UsageError
from cvm.sources.index import IndexClient, IndexFile, certificates, index_url, redacted
from tests.fakes.server import Behaviour, Server

SHA = "a" * 64
NAME = "nvidia_nccl_cu12-2.18.3-py3-none-manylinux1_x86_64.whl"
JSON_PAGE = {
    "meta": {"api-version": "1.1"},
    "name": "nvidia-nccl-cu12",
    "versions": ["2.18.3"],
    "files": [
        {
            "filename": NAME,
            "url": f"../files/{NAME}",
            "hashes": {"sha256": SHA},
            "size": 11,
            "upload-time": "2023-07-01T12:00:00.123456Z",
            "yanked": "broken",
        }
    ],
}


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path / "www") as running:
        running.content_types["index.json"] = "application/vnd.pypi.simple.v1+json"
        yield running


@pytest.fixture
def session():
    with requests.Session() as opened:
        yield opened


def publish(server, name, text):
    page = server.folder / "simple" / "nvidia-nccl-cu12" / name
    page.parent.mkdir(parents=True)
    page.write_text(text)


def html(url):
    return f'<!DOCTYPE html><html><body><a href="{url}#sha256={SHA}" data-yanked="broken">{NAME}</a></body></html>'


def test_a_json_listing_says_everything(server, session):
    publish(server, "index.json", json.dumps(JSON_PAGE))

    files = IndexClient(session, f"{server.url}/simple/").files("nvidia-nccl-cu12")

    url = f"{server.url}/simple/files/{NAME}"
    assert files == (IndexFile(NAME, url, SHA, 11, "2023-07-01", yanked=True),)


def test_an_html_listing_will_do(server, session):
    publish(server, "index.html", html(f"../../files/{NAME}"))

    files = IndexClient(session, f"{server.url}/simple").files("nvidia-nccl-cu12")

    assert files == (IndexFile(NAME, f"{server.url}/files/{NAME}", SHA, yanked=True),)


def test_a_folder_will_do(tmp_path, session):
    page = tmp_path / "a folder" / "nvidia-nccl-cu12" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(html(f"../{NAME}"))

    client = IndexClient(session, (tmp_path / "a folder").as_uri())

    assert client.files("nvidia_nccl_cu12") == (
        IndexFile(NAME, (tmp_path / "a folder" / NAME).as_uri(), SHA, yanked=True),
    )
    with pytest.raises(NoMatchError):
        client.files("other")


def test_each_project_is_asked_for_once(server, session):
    publish(server, "index.json", json.dumps(JSON_PAGE))
    client = IndexClient(session, f"{server.url}/simple/")

    client.files("nvidia-nccl-cu12")
    client.find("nvidia-nccl-cu12", NAME, SHA)

    assert server.count() == 1


def test_a_yanked_file_that_a_manifest_names_is_found(server, session):
    publish(server, "index.json", json.dumps(JSON_PAGE))

    assert IndexClient(session, f"{server.url}/simple/").find("nvidia-nccl-cu12", NAME, SHA).size == 11


def test_a_missing_file_is_told_without_the_password(server, session):
    publish(server, "index.json", json.dumps(JSON_PAGE))
    client = IndexClient(session, f"{server.url}/simple/".replace("//", "//user:secret@"))

    with pytest.raises(NoMatchError) as caught:
        client.find("nvidia-nccl-cu12", "other.whl", SHA)

    assert caught.value.message == (f"the package index {server.url}/simple/ has no file other.whl of nvidia-nccl-cu12")


def test_a_missing_project_is_told(server, session):
    with pytest.raises(NoMatchError) as caught:
        IndexClient(session, f"{server.url}/simple/").files("nvidia-nccl-cu12")

    assert caught.value.message == f"the package index {server.url}/simple/ has no project nvidia-nccl-cu12"


def test_another_file_of_the_same_name_is_an_integrity_error(server, session):
    publish(server, "index.json", json.dumps(JSON_PAGE))

    with pytest.raises(IntegrityError) as caught:
        IndexClient(session, f"{server.url}/simple/").find("nvidia-nccl-cu12", NAME, "b" * 64)

    assert caught.value.message == (
        f"the package index {server.url}/simple/ has another {NAME}: sha256 {SHA}, expected {'b' * 64}"
    )


def test_no_connection_is_unreachable(tmp_path, session):
    with Server(tmp_path) as server:
        url = server.url

    with pytest.raises(UnreachableError) as caught:
        IndexClient(session, f"{url}/simple/").files("nvidia-nccl-cu12")

    assert caught.value.message == f"the package index {url}/simple/ can't be reached: connection refused"


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (Behaviour(status=503), "answers 503 Service Unavailable"),
        (Behaviour(body=b"{"), "does not answer with a listing that can be read"),
    ],
)
def test_a_bad_answer_is_a_network_error_but_not_unreachable(server, session, behaviour, message):
    publish(server, "index.json", json.dumps(JSON_PAGE))
    server.behave("simple/nvidia-nccl-cu12/", behaviour)

    with pytest.raises(NetworkError) as caught:
        IndexClient(session, f"{server.url}/simple/").files("nvidia-nccl-cu12")

    assert not isinstance(caught.value, UnreachableError)
    assert caught.value.message == f"the package index {server.url}/simple/ {message}"


def test_an_answer_that_is_no_listing_is_a_network_error(server, session):
    publish(server, "index.json", "{}")
    server.content_types["index.json"] = "text/plain"

    with pytest.raises(NetworkError, match="does not answer with a listing that can be read"):
        IndexClient(session, f"{server.url}/simple/").files("nvidia-nccl-cu12")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class Machine:
    """A home and an `/etc` of its own."""

    def __init__(self, folder):
        self.home = folder / "home"
        self.root = folder / "root"

    def index(self, **environment):
        return index_url(environment, self.home, self.root)

    def certificates(self, **environment):
        return certificates(environment, self.home, self.root)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def pip(url, section="global", option="index-url"):
    return f"[{section}]\n{option} = {url}\n"


def test_nothing_configured_is_the_default(machine):
    assert machine.index() is None


def test_variables_count_before_files_and_pip_before_uv(machine):
    write(machine.home / ".config/pip/pip.conf", pip("https://file/"))

    assert machine.index(UV_DEFAULT_INDEX="https://uv/") == "https://uv/"
    assert machine.index(UV_DEFAULT_INDEX="https://new/", UV_INDEX_URL="https://old/") == "https://old/"
    assert machine.index(UV_INDEX_URL="https://uv/", PIP_INDEX_URL="https://pip/") == "https://pip/"
    assert machine.index(PIP_INDEX_URL="") == "https://file/"


def test_a_name_before_an_index_of_uv_is_taken_off(machine):
    assert machine.index(UV_DEFAULT_INDEX="my-site=https://uv/?a=b") == "https://uv/?a=b"
    assert machine.index(UV_DEFAULT_INDEX="https://uv/?a=http://b") == "https://uv/?a=http://b"


def test_each_of_pips_files_wins_over_the_ones_before(machine, tmp_path):
    seen = []
    for path in (
        machine.root / "etc/xdg/pip/pip.conf",
        machine.root / "etc/pip.conf",
        machine.home / ".pip/pip.conf",
        machine.home / ".config/pip/pip.conf",
        tmp_path / "venv/pip.conf",
        tmp_path / "named.conf",
    ):
        write(path, pip(f"https://{path.parent.name}-{path.name}/"))
        seen.append(machine.index(VIRTUAL_ENV=str(tmp_path / "venv"), PIP_CONFIG_FILE=str(tmp_path / "named.conf")))

    assert seen == [
        "https://pip-pip.conf/",
        "https://etc-pip.conf/",
        "https://.pip-pip.conf/",
        "https://pip-pip.conf/",
        "https://venv-pip.conf/",
        f"https://{tmp_path.name}-named.conf/",
    ]


def test_the_install_section_wins_over_global_in_any_file(machine):
    write(machine.root / "etc/pip.conf", pip("https://install/", "install"))
    write(machine.home / ".config/pip/pip.conf", pip("https://global/"))

    assert machine.index() == "https://install/"


def test_pips_other_spellings_of_the_option_are_read(machine):
    write(machine.home / ".config/pip/pip.conf", "[download]\nindex_url: https://a%20b/\n")

    assert machine.index() == "https://a%20b/"


def test_dev_null_tells_pip_to_read_no_file(machine):
    write(machine.home / ".config/pip/pip.conf", pip("https://file/"))

    assert machine.index(PIP_CONFIG_FILE="/dev/null") is None


def test_xdg_folders_move_the_files(machine, tmp_path):
    write(tmp_path / "config/pip/pip.conf", pip("https://moved/"))

    assert machine.index(XDG_CONFIG_HOME=str(tmp_path / "config")) == "https://moved/"


@pytest.mark.parametrize(
    "text",
    [
        'index-url = "https://uv/"',
        '[[index]]\nurl = "https://extra/"\n[[index]]\nurl = "https://uv/"\ndefault = true',
        '[pip]\nindex-url = "https://uv/"',
    ],
)
def test_uvs_file_counts_where_pip_has_none(machine, text):
    write(machine.root / "etc/uv/uv.toml", 'index-url = "https://system/"')
    write(machine.home / ".config/uv/uv.toml", text)

    assert machine.index() == "https://uv/"
    assert machine.index(UV_NO_CONFIG="1") is None


def test_an_unreadable_file_is_named(machine):
    pip_file = write(machine.home / ".config/pip/pip.conf", "no section\n")
    with pytest.raises(UsageError, match=f"{pip_file} can't be read as pip's configuration"):
        machine.index()
    pip_file.unlink()
    uv_file = write(machine.home / ".config/uv/uv.toml", "= nothing")
    with pytest.raises(UsageError, match=f"{uv_file} can't be read as uv's configuration"):
        machine.index()


def test_certificates_are_requests_own_business_where_it_has_a_variable(machine):
    assert machine.certificates(REQUESTS_CA_BUNDLE="/r", PIP_CERT="/p") is None
    assert machine.certificates(CURL_CA_BUNDLE="/c", PIP_CERT="/p") is None
    assert machine.certificates(PIP_CERT="/p", SSL_CERT_FILE="/s") == "/p"
    assert machine.certificates(SSL_CERT_FILE="/s") == "/s"
    write(machine.home / ".config/pip/pip.conf", pip("/conf", option="cert"))
    assert machine.certificates() == "/conf"


def test_a_client_takes_index_and_certificates_from_the_environment(tmp_path, session):
    environment = {"PIP_INDEX_URL": "https://user:secret@host/simple", "PIP_CERT": "/ca.pem"}

    client = IndexClient.from_environment(environment, tmp_path, session)

    assert (client.name, session.verify) == ("the package index https://host/simple", "/ca.pem")
    assert IndexClient(session).name == "the default package index"


def test_redacted_addresses_keep_everything_else():
    assert redacted("https://u:p@host:8443/simple/?x=1#y") == "https://host:8443/simple/?x=1#y"
