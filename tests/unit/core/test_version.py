from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvm.core.version import Pattern, Version, matching, nearest, parse_version
from cvm.errors import UsageError

VERSIONS = [Version(text) for text in ("11.8.0", "12.1.0", "12.1.1", "12.10.0", "13.0.2", "13.4.0rc1", "12.1.1+lab")]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("12", ["12.10.0", "12.1.1", "12.1.0"]),
        ("12.1", ["12.1.1", "12.1.0"]),
        ("12.1.0", ["12.1.0"]),
        ("12.10", ["12.10.0"]),
        ("latest", ["13.0.2", "12.10.0", "12.1.1", "12.1.0", "11.8.0"]),
        ("13", ["13.0.2"]),
        ("13.4", []),
        ("13.4.0rc1", ["13.4.0rc1"]),
        ("12.1.1+lab", ["12.1.1+lab"]),
        ("14", []),
    ],
)
def test_a_pattern_matches_by_parts_and_never_by_prefix_of_text(pattern: str, expected: list[str]) -> None:
    assert [str(version) for version in matching(Pattern.parse(pattern), VERSIONS)] == expected


def test_a_build_number_is_part_of_the_release() -> None:
    assert Pattern.parse("8.9.4").matches(Version("8.9.4.25"))
    assert not Pattern.parse("8.9.4.2").matches(Version("8.9.4.25"))


def test_a_v_in_front_is_forgiven() -> None:
    assert Pattern.parse("v8.9.4.25") == Pattern("8.9.4.25")


def test_9_13_is_newer_than_9_9() -> None:
    assert max(map(parse_version, ("9.9.0", "9.13.1"))) == Version("9.13.1")


@pytest.mark.parametrize("text", ["", "twelve", "12..1", "12.1;rm", "v 12"])
def test_a_text_that_is_no_version_is_quoted_back(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Pattern.parse(text)
    assert caught.value.message == f"`{text}` is not a version"


def test_the_nearest_releases_are_those_a_person_may_have_meant() -> None:
    assert [str(v) for v in nearest(Pattern("12.2"), VERSIONS[:5])] == ["12.1.0", "12.1.1", "12.10.0"]


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_a_pattern_matches_exactly_the_versions_that_begin_with_its_parts(wanted: list[int], have: list[int]) -> None:
    pattern, version = Pattern(".".join(map(str, wanted))), Version(".".join(map(str, have)))
    assert pattern.matches(version) == (have[: len(wanted)] == wanted)
