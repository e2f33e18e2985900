from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvm.core.environment import (
    Activation,
    Change,
    Folders,
    activated,
    activation,
    clean_variables,
    deactivated,
    difference,
)
from cvm.core.undo import UNDO

HOME = "/h/toolchains/"
FULL = Folders("/h/toolchains/12", "/h/toolchains/12/bin", "/h/toolchains/12/bin/nvcc", ("/h/toolchains/12/lib64",), ("/h/toolchains/12/lib64/stubs",))  # fmt: skip
BARE = Folders("/h/toolchains/11", "/h/toolchains/11/bin")
LINKED = Folders("/usr", "/usr/bin", "/usr/bin/nvcc", ("/usr/lib64",))

NEW = activation("12", FULL, ("cudnn", "nccl"), libraries=True)
OLD = activation("11", BARE, (), libraries=False)
SITE = activation("site", LINKED, (), libraries=True)


def owned(path: str) -> bool:
    return path.startswith(HOME)


def test_a_toolchain_asks_for_what_build_systems_read() -> None:
    assert (
        Activation(
            {
                "CUDA_HOME": "/h/toolchains/12",
                "CUDA_PATH": "/h/toolchains/12",
                "CUDAToolkit_ROOT": "/h/toolchains/12",
                "CUDACXX": "/h/toolchains/12/bin/nvcc",
                "CUDNN_PATH": "/h/toolchains/12",
                "CUDNN_ROOT": "/h/toolchains/12",
                "NCCL_HOME": "/h/toolchains/12",
                "CVM_TOOLCHAIN": "12",
            },
            {
                "PATH": ("/h/toolchains/12/bin",),
                "LIBRARY_PATH": ("/h/toolchains/12/lib64", "/h/toolchains/12/lib64/stubs"),
                "LD_LIBRARY_PATH": ("/h/toolchains/12/lib64",),
            },
        )
        == NEW
    )


def test_without_nvcc_and_companions_nothing_names_them() -> None:
    assert set(OLD.values) == {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CVM_TOOLCHAIN"}
    assert set(OLD.elements) == {"PATH"}


def test_a_folder_s_toolchain_is_no_selection_of_the_shell() -> None:
    assert "CVM_TOOLCHAIN" not in activation(None, FULL, (), libraries=False).values


@pytest.mark.parametrize("before", [None, "", "/a", ":/a", "/a:", "/a::/b", ":", "/a:/b:/a"])
def test_no_element_is_empty_or_there_twice(before: str | None) -> None:
    environment = {} if before is None else {"LD_LIBRARY_PATH": before}
    elements = activated(environment, NEW, owned)["LD_LIBRARY_PATH"].split(":")
    assert "" not in elements
    assert len(elements) == len(set(elements))
    assert elements[0] == "/h/toolchains/12/lib64"
    assert deactivated(activated(environment, NEW, owned), owned) == environment


def test_switching_leaves_nothing_of_the_toolchain_before() -> None:
    start = {"PATH": "/usr/bin", "NCCL_HOME": "/opt/nccl"}
    after = activated(activated(start, NEW, owned), OLD, owned)
    assert after == activated(start, OLD, owned)
    assert after["NCCL_HOME"] == "/opt/nccl"
    assert "/h/toolchains/12" not in str({name: value for name, value in after.items() if name != UNDO})


def test_what_a_person_changed_meanwhile_stays() -> None:
    after = activated({"PATH": "/usr/bin", "CUDA_PATH": "/opt/cuda"}, NEW, owned)
    after |= {"PATH": f"/mine:{after['PATH']}:/late", "CUDA_HOME": "/my/cuda"}
    del after["CUDA_PATH"]
    back = deactivated(after, owned)
    assert back == {"PATH": "/mine:/usr/bin:/late", "CUDA_HOME": "/my/cuda"}


def test_an_element_that_was_there_before_is_not_taken_away() -> None:
    after = activated({"PATH": "/bin:/usr/bin"}, SITE, owned)
    assert after["PATH"] == "/usr/bin:/bin"
    assert deactivated(after | {"PATH": f"/mine:{after['PATH']}"}, owned)["PATH"] == "/mine:/usr/bin:/bin"
    assert deactivated(after, owned) == {"PATH": "/bin:/usr/bin"}


def test_a_list_that_only_held_ours_goes_when_it_was_not_set() -> None:
    after = activated({}, NEW, owned) | {"LD_LIBRARY_PATH": "/h/toolchains/12/lib64:"}
    assert "LD_LIBRARY_PATH" not in deactivated(after, owned)
    after = activated({"LD_LIBRARY_PATH": ""}, NEW, owned) | {"LD_LIBRARY_PATH": "/h/toolchains/12/lib64:"}
    assert deactivated(after, owned)["LD_LIBRARY_PATH"] == ""


def test_elements_of_ours_that_nobody_remembers_do_not_pile_up() -> None:
    environment = {"PATH": "/h/toolchains/11/bin:/usr/bin:/h/toolchains/12/bin"}
    assert activated(environment, NEW, owned)["PATH"] == "/h/toolchains/12/bin:/usr/bin"


def test_what_an_env_sh_set_is_taken_back_without_a_record() -> None:
    environment = {
        "PATH": "/h/toolchains/12/bin:/usr/bin",
        "CUDA_HOME": "/h/toolchains/12",
        "CUDA_PATH": "/opt/cuda",
        "LIBRARY_PATH": "/h/toolchains/12/lib64",
        "CVM_TOOLCHAIN": "12",
    }
    assert deactivated(environment, owned) == {"PATH": "/usr/bin", "CUDA_PATH": "/opt/cuda"}


@pytest.mark.parametrize("record", ["", "!", "eJwDAAAAAAE", "eJyLVspLzE1VslIqyUgtSlWKBQA5EwZO"])
def test_a_record_that_cannot_be_read_counts_as_none(record: str) -> None:
    environment = {"PATH": "/h/toolchains/12/bin:/usr/bin", "CVM_TOOLCHAIN": "12", UNDO: record}
    assert deactivated(environment, owned) == {"PATH": "/usr/bin"}


def test_an_environment_without_a_toolchain_stays_as_it_is() -> None:
    environment = {"PATH": "/usr/bin::/usr/bin", "CUDA_HOME": "/opt/cuda", "LD_LIBRARY_PATH": ""}
    assert deactivated(environment, owned) == environment


def test_what_others_put_back_goes_with_the_rest() -> None:
    # As a virtual environment does that was entered while a toolchain was in use.
    environment = {"PATH": "/h/toolchains/12/bin::/usr/bin", "LD_LIBRARY_PATH": "/h/toolchains/12/lib64"}
    assert deactivated(environment, owned) == {"PATH": ":/usr/bin"}


def test_a_path_that_is_not_exported_stays_behind_ours() -> None:
    changes = {change.name: change for change in difference({}, activated({}, OLD, owned))}
    assert changes["PATH"] == Change("PATH", "/h/toolchains/11/bin", front="/h/toolchains/11/bin")
    assert difference({"A": "1", "B": "2"}, {"B": "3"}) == (Change("A", None), Change("B", "3"))


def test_a_clean_environment_can_run_programs() -> None:
    assert clean_variables(NEW)["PATH"].startswith("/h/toolchains/12/bin:/usr/local/sbin:")
    assert clean_variables(NEW)["LIBRARY_PATH"] == "/h/toolchains/12/lib64:/h/toolchains/12/lib64/stubs"


VALUES = st.text(st.characters(blacklist_categories=(), blacklist_characters="\0"), max_size=12)
ELEMENTS = st.one_of(VALUES, st.sampled_from(["", "/usr/bin", "/h/toolchains/12/bin", "/h/toolchains/11/bin", "/usr/lib64"]))  # fmt: skip
NAMES = st.sampled_from([*NEW.values, *NEW.elements, "_CVM_PREVIOUS", "OTHER"])
ENVIRONMENTS = st.dictionaries(NAMES, st.lists(ELEMENTS, max_size=6).map(":".join))
ACTIVATIONS = st.sampled_from([NEW, OLD, SITE])


def fresh(environment: dict[str, str]) -> dict[str, str]:
    """Without a selection that nobody made: what `env.sh` leaves is another test's."""
    return {name: value for name, value in environment.items() if name != "CVM_TOOLCHAIN"}


@given(ENVIRONMENTS, ACTIVATIONS)
def test_deactivating_restores_any_environment(environment: dict[str, str], wanted: Activation) -> None:
    assert deactivated(activated(environment, wanted, owned), owned) == environment


@given(ENVIRONMENTS, ACTIVATIONS)
def test_activating_twice_is_activating_once(environment: dict[str, str], wanted: Activation) -> None:
    once = activated(environment, wanted, owned)
    assert activated(once, wanted, owned) == once


@given(ENVIRONMENTS, st.lists(ACTIVATIONS, min_size=1, max_size=4))
def test_any_way_leads_to_the_same_place(environment: dict[str, str], way: list[Activation]) -> None:
    after = dict(environment)
    for wanted in way:
        after = activated(after, wanted, owned)
    assert after == activated(environment, way[-1], owned)
    assert deactivated(after, owned) == environment


@given(ENVIRONMENTS, ACTIVATIONS)
def test_elements_of_others_keep_their_order(environment: dict[str, str], wanted: Activation) -> None:
    after = activated(environment, wanted, owned)
    for name, front in wanted.elements.items():
        elements = after[name].split(":")
        others = [
            e for e in dict.fromkeys(environment.get(name, "").split(":")) if e and e not in front and not owned(e)
        ]
        assert elements == [*front, *others]


@given(ENVIRONMENTS.map(fresh), ACTIVATIONS, ELEMENTS, ELEMENTS)
def test_edits_in_between_survive(environment: dict[str, str], wanted: Activation, first: str, last: str) -> None:
    after = activated(environment, wanted, owned)
    after["PATH"] = f"{first}:{after['PATH']}:{last}"
    kept = [e for e in deactivated(after, owned).get("PATH", "").split(":") if e]
    assert all(e in kept for text in (first, last) for e in text.split(":") if e and not owned(e) and e not in wanted.elements["PATH"])  # fmt: skip
    assert not [e for e in kept if owned(e)]
