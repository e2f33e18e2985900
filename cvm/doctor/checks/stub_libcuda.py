"""The toolkit's stub of libcuda where programs run: it is there to link against and answers no call."""

from __future__ import annotations

import posixpath
from shlex import quote
from typing import TYPE_CHECKING

from cvm.doctor.blame import culprit as culprit_of
from cvm.doctor.finding import ERROR, Finding
from cvm.doctor.hints import drop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.doctor.case import Case, PathElement
    from cvm.elf.outcome import Loaded

CODES: Mapping[str, str] = {"CVM024": "a stub stands in for the driver's libcuda"}


def check(case: Case) -> Iterator[Finding]:
    """Find a stub that is loaded, or that a program which opens `libcuda.so` would load."""
    told = set()
    elements = [one for one in case.path if _is_stub_element(one)]
    for loaded in _loaded_stubs(case):
        culprit = culprit_of(loaded)
        if culprit not in told:
            told.add(culprit)
            element = next((one for one in case.path if str(one) == culprit), None)
            summary = f"{loaded.name} is the toolkit's stub {loaded.path}, in which every call fails"
            evidence = {"winner": loaded.path, "found_via": str(loaded.found), "culprit": culprit}
            yield Finding(
                "CVM024", ERROR, "", summary, evidence, _hint(case, element) if element else _elsewhere(loaded)
            )
    for one in elements:
        if str(one) not in told:
            summary = f"{one} holds the toolkit's stub of libcuda.so, in which every call fails"
            evidence = {"winner": f"{one.folder}/libcuda.so", "culprit": str(one)}
            yield Finding("CVM024", ERROR, "", summary, evidence, _hint(case, one))


def is_stub(path: str) -> bool:
    """Whether a path is that of a stub of libcuda."""
    folder, name = posixpath.split(path)
    return name.startswith("libcuda.so") and posixpath.basename(folder) == "stubs"


def _loaded_stubs(case: Case) -> Iterator[Loaded]:
    opened = case.libcuda.loaded if case.libcuda else ()
    root = (case.libcuda.root,) if case.libcuda and case.libcuda.root else ()
    for one in (*root, *opened):
        if is_stub(one.path):
            yield one
    for consumer in case.consumers:
        for one in consumer.load.loaded:
            described = consumer.libraries.get(one.path)
            if is_stub(one.path) or (described and is_stub(described.real)):
                yield one


def _is_stub_element(one: PathElement) -> bool:
    holds = any(name.startswith("libcuda.so") for name in one.cuda)
    return one.folder is not None and holds and one.folder.rstrip("/").endswith("/stubs")


def _hint(case: Case, one: PathElement) -> tuple[str, ...]:
    known = [text for text in case.variables.get("LIBRARY_PATH", "").split(":") if text]
    folder = one.folder or one.text
    if folder in known:
        return (drop(case, one.text),)
    linking = f"export LIBRARY_PATH={quote(':'.join((*known, folder)))}"
    return (drop(case, one.text), "# to link against the stub, name it where only the linker looks:", linking)


def _elsewhere(loaded: Loaded) -> tuple[str, ...]:
    folder = posixpath.dirname(loaded.path)
    return (f"# found by {loaded.found}: take {folder} out of there, or remove the link in it",)
