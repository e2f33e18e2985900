from __future__ import annotations

import pytest

from cvm.core.request import Request, parse_link_name, parse_request
from cvm.core.version import Pattern
from cvm.errors import UsageError


def test_a_request_names_companions_in_any_order() -> None:
    assert parse_request("12.1-nccl2.18-cudnn8.9.4") == Request(
        Pattern("12.1"), (("cudnn", Pattern("8.9.4")), ("nccl", Pattern("2.18")))
    )


def test_a_companion_without_a_version_is_the_newest_that_fits() -> None:
    assert parse_request("latest-cudnn") == Request(Pattern("latest"), (("cudnn", Pattern("auto")),))


@pytest.mark.parametrize("text", ["12", "12.1.1", "latest", "12.1-cudnn8.9.4-nccl2.18.3", "12.1.1+lab"])
def test_a_request_is_spelled_as_it_was_read(text: str) -> None:
    assert str(parse_request(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12.1-tensorrt8", "`tensorrt8` in `12.1-tensorrt8` is not a companion"),
        ("12.1-cudnn8-cudnn9", "`12.1-cudnn8-cudnn9` names cudnn twice"),
        ("cuda12", "`cuda12` is not a CUDA version"),
        ("12.1-cudnnx", "`x` is not a version"),
        ("", "`` is not a CUDA version"),
        ("12.1-", "`` in `12.1-` is not a companion"),
    ],
)
def test_a_bad_request_names_the_part_at_fault(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_request(text)
    assert caught.value.message == message


def test_an_option_that_contradicts_the_request_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cudnn is asked for twice: 8\.9\.4 and 9"):
        parse_request("12.1-cudnn8.9.4").with_companions({"cudnn": Pattern("9")})


@pytest.mark.parametrize("name", ["latest", "system", "12.4", "Site", "a b", "../x", "", "-x"])
def test_a_linked_toolkit_needs_a_plain_name(name: str) -> None:
    with pytest.raises(UsageError):
        parse_link_name(name)
