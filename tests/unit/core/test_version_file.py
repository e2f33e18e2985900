from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvm.core.names import COMPANIONS
from cvm.core.request import parse_request
from cvm.core.version_file import read_pinned, request_parts, rewritten
from cvm.errors import UsageError


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "11.8\n"),
        ("12.1\n", "11.8\n"),
        ("12.1", "11.8"),
        ("# why\n\n12.1  # for torch\ncudnn = 8.9.4\n# end\n", "# why\n\n11.8\n# end\n"),
        ("cudnn = 8.9.4\n12.1\n", "11.8\n"),
        ("# only a comment", "# only a comment\n11.8\n"),
        ("12.1\r\n# a\r\n", "11.8\n# a\r\n"),
    ],
)
def test_another_request_leaves_comments_where_they_are(before: str, after: str) -> None:
    assert rewritten(before, "11.8") == after
    assert read_pinned(after, "f").request == "11.8"


VERSIONS = st.lists(st.integers(0, 99), min_size=1, max_size=4).map(lambda numbers: ".".join(map(str, numbers)))
REQUESTS = st.builds(
    lambda toolkit, companions: "-".join([toolkit, *(name + version for name, version in companions.items())]),
    st.one_of(VERSIONS, st.just("latest")),
    st.dictionaries(st.sampled_from(COMPANIONS), st.one_of(VERSIONS, st.just(""))),
)


@given(REQUESTS)
def test_a_request_is_read_as_install_reads_it(text: str) -> None:
    assert request_parts(text) is not None
    pinned = read_pinned(text, "f")
    assert parse_request(pinned.request) == parse_request(text)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    try:
        said = str(read_pinned(text, "/p/.cuda-version"))
    except UsageError as error:
        said = error.message
    assert said.startswith(("Pinned", "/p/.cuda-version"))
