"""What a Python environment holds, as its files tell: where it looks for packages, and which are there."""

from __future__ import annotations

from typing import NamedTuple


class SearchFolder(NamedTuple):
    """An element of `sys.path`, and what put it there: `PYTHONPATH[0]`, `site-packages`, `user site`, a `.pth` file."""

    path: str
    origin: str


class Distribution(NamedTuple):
    """An installed package: its normalized name, and the folder that its modules lie in.

    `info` is its `.dist-info` or `.egg-info` folder (or file), or the JSON file in `conda-meta`;
    `requires` are its `Requires-Dist` lines as written.
    """

    name: str
    version: str
    folder: str
    info: str
    requires: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class PythonEnvironment(NamedTuple):
    """A Python as it would start: `executable` as it is called, `program` the file that the kernel runs.

    `distributions` are in the order of `search`; of several with one name the first is imported.
    `unfollowed` are `.pth` files whose code, when run, adds editable packages that are in none of the folders.
    """

    executable: str
    program: str
    prefix: str
    version: tuple[int, int]
    search: tuple[SearchFolder, ...]
    distributions: tuple[Distribution, ...] = ()
    unfollowed: tuple[str, ...] = ()

    def distribution(self, name: str) -> Distribution | None:
        """Return the distribution of a normalized name that an import would use."""
        return next((one for one in self.distributions if one.name == name), None)


class SharedFile(NamedTuple):
    """A file that several distributions say is theirs, and whose it is by size and hash (None: nobody's, or gone).

    `owners` are in the order of the search path; `there` is whether the file exists.
    """

    path: str
    owners: tuple[Distribution, ...]
    holder: Distribution | None
    there: bool = True


class LostFile(NamedTuple):
    """A library that a distribution's record lists and the disk lacks."""

    path: str
    owner: Distribution
