"""Which source is taken, and when NVIDIA's host is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cvm.actions.planning import Machine, choose_plan
from cvm.core.local import LocalArchives
from cvm.core.request import parse_request
from cvm.core.resolve import Choices
from cvm.errors import UnreachableError
from tests.unit.core.test_resolve import WORLD, X86

if TYPE_CHECKING:
    from cvm.core.plan import Plan

AUTO = Choices(X86, ("redist", "pypi", "file"))


def sources(plan: Plan) -> list[str]:
    return [release.source for release in plan.releases]


def choose(request: str, *, stored: bool = False, installed: str = "", reachable: bool | None = None) -> Plan:
    """Choose a plan; `reachable` None says that the host must not be asked."""

    def ask() -> bool:
        assert reachable is not None
        return reachable

    machine = Machine(lambda _: stored, lambda plan: plan.toolkit.source == installed, ask)
    return choose_plan(parse_request(request), WORLD, AUTO, LocalArchives({}), machine)


def test_nvidias_archives_are_taken_where_their_host_answers() -> None:
    assert sources(choose("12.1-cudnn8.9.4", reachable=True)) == ["redist", "redist"]


def test_the_wheels_of_the_same_release_are_taken_where_it_does_not() -> None:
    plan = choose("12.1-cudnn8.9.4", reachable=False)
    assert (plan.name, sources(plan)) == ("12.1.1-cudnn8.9.4.25", ["pypi", "pypi"])
    assert plan.notes == (
        "NVIDIA's host can't be reached: taking NVIDIA's wheels from the package index, which lack nvcc",
    )


def test_the_version_is_decided_before_the_source() -> None:
    with pytest.raises(UnreachableError, match=r"only it has 12\.10\.0"):
        choose("12", reachable=False)


def test_what_is_in_the_store_needs_no_network() -> None:
    assert sources(choose("12.1", stored=True)) == ["redist"]


def test_what_is_installed_from_wheels_needs_no_network() -> None:
    plan = choose("12.1", installed="pypi")
    assert (sources(plan), plan.notes) == (["pypi"], ())


def test_a_release_that_only_has_wheels_needs_no_host_of_nvidias() -> None:
    assert sources(choose("13")) == ["pypi"]


def test_local_archives_decide_the_source() -> None:
    wheels = {f"{key}-12.1.1-pypi.whl": f"/w/{key}.whl" for key in ("cuda_cudart", "cuda_nvcc", "libcublas")}
    machine = Machine(lambda _: False, lambda _: False, lambda: pytest.fail("asked"))
    plan = choose_plan(parse_request("12.1"), WORLD, AUTO, LocalArchives(wheels), machine)
    assert sources(plan) == ["pypi"]
