"""The package index: which files it has of a project, with their addresses and hashes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

from cvm.errors import IntegrityError, NetworkError, NoMatchError
from cvm.net import Policy
from cvm.sources.index_settings import certificates, index_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import requests
    from pypi_simple import DistributionPackage, ProjectPage, PyPISimple

_ELSEWHERE = "try another index in PIP_INDEX_URL, or --source redist"


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One file of a project. Hash, size and upload date are empty where the index does not say them."""

    filename: str
    url: str
    sha256: str = ""
    size: int | None = None
    uploaded: str = ""
    yanked: bool = False


class IndexClient:
    """Asks one index, each project once. A session holds proxies, netrc and certificates."""

    def __init__(self, session: requests.Session, url: str | None = None, policy: Policy | None = None) -> None:
        self._session = session
        self._policy = policy or Policy()
        self._url = url
        self._pages: dict[str, tuple[IndexFile, ...]] = {}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], home: Path, session: requests.Session) -> IndexClient:
        """Ask the index that pip or uv is configured with; the session learns pip's certificates."""
        bundle = certificates(environment, home)
        if bundle:
            session.verify = bundle
        return cls(session, index_url(environment, home), Policy.from_environment(environment))

    @property
    def name(self) -> str:
        """How to call the index in a message: its address without user and password."""
        return f"the package index {redacted(self._url)}" if self._url else "the default package index"

    def files(self, project: str) -> tuple[IndexFile, ...]:
        """List the files of a project.

        Raises UnreachableError without a connection, NetworkError for an answer that is no listing,
        NoMatchError where the index has no such project.
        """
        if project not in self._pages:
            self._pages[project] = tuple(map(_file, self._page(project).packages))
        return self._pages[project]

    def find(self, project: str, filename: str, sha256: str) -> IndexFile:
        """Return the file that a manifest names, yanked or not.

        Raises NoMatchError where the index has it not, IntegrityError where it has another of that name.
        """
        found = next((item for item in self.files(project) if item.filename == filename), None)
        if found is None:
            raise NoMatchError(f"{self.name} has no file {filename} of {project}", hint=_ELSEWHERE)
        if found.sha256 not in ("", sha256):
            raise IntegrityError(
                f"{self.name} has another {filename}: sha256 {found.sha256}, expected {sha256}",
                hint=_ELSEWHERE,
            )
        return found

    def _page(self, project: str) -> ProjectPage:
        from pypi_simple import NoSuchProjectError

        if self._url and self._url.startswith("file:"):
            return self._local_page(project, self._url)
        with answering(self.name):
            try:
                return self._client().get_project_page(project, timeout=(self._policy.connect, self._policy.read))
            except NoSuchProjectError:
                raise self._unknown(project) from None

    def _client(self) -> PyPISimple:
        from pypi_simple import PyPISimple

        if self._url:
            return PyPISimple(self._url, session=self._session)
        return PyPISimple(session=self._session)

    def _local_page(self, project: str, url: str) -> ProjectPage:
        from packaging.utils import canonicalize_name
        from pypi_simple import ProjectPage

        folder = Path(url2pathname(urlsplit(url).path)) / canonicalize_name(project)
        try:
            html = (folder / "index.html").read_text(encoding="utf-8")
        except OSError:
            raise self._unknown(project) from None
        return ProjectPage.from_html(project, html, base_url=folder.as_uri() + "/")

    def _unknown(self, project: str) -> NoMatchError:
        return NoMatchError(f"{self.name} has no project {project}", hint=_ELSEWHERE)


def redacted(url: str) -> str:
    """Return an address without the user and password in it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@contextmanager
def answering(server: str) -> Iterator[None]:
    """Turn what goes wrong between here and a server into one of cvm's errors."""
    import requests
    from pypi_simple import UnsupportedContentTypeError, UnsupportedRepoVersionError

    from cvm.net.reasons import proxy_at_fault, reason_of, unreachable

    try:
        yield
    except requests.exceptions.SSLError as error:
        raise NetworkError(
            f"{server} shows a certificate that can't be verified",
            hint="name your CA bundle in REQUESTS_CA_BUNDLE or PIP_CERT",
        ) from error
    except requests.ConnectionError as error:
        proxy = proxy_at_fault(error, (error.request.url or "") if error.request else "")
        raise unreachable(server, proxy, reason_of(error)) from error
    except requests.Timeout as error:
        raise NetworkError(f"{server} does not answer in time", hint="run the command again") from error
    except requests.HTTPError as error:
        raise NetworkError(f"{server} answers {error.response.status_code} {error.response.reason}") from error
    except (requests.JSONDecodeError, UnsupportedContentTypeError, UnsupportedRepoVersionError) as error:
        raise NetworkError(f"{server} does not answer with a listing that can be read") from error
    except requests.RequestException as error:
        raise NetworkError(
            f"{server} does not answer as it should: {reason_of(error)}", hint="check its address and the proxies"
        ) from error
    except ValueError as error:
        raise NetworkError(f"{server} does not answer with a listing that can be read") from error


def _file(package: DistributionPackage) -> IndexFile:
    uploaded = package.upload_time
    return IndexFile(
        package.filename,
        package.url,
        package.digests.get("sha256", ""),
        package.size,
        uploaded.date().isoformat() if uploaded else "",
        bool(package.is_yanked),
    )


__all__ = ["IndexClient", "IndexFile", "answering", "certificates", "index_url", "redacted"]
