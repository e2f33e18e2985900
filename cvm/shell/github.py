"""Lines for `>> "$GITHUB_ENV"` in a workflow of GitHub Actions: whole values, for the steps that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def render(values: Mapping[str, str]) -> str:
    """Write each variable, in the form with a delimiter where a value has several lines."""
    return "".join(_line(name, value) for name, value in values.items())


def _line(name: str, value: str) -> str:
    if "\n" not in value:
        return f"{name}={value}\n"
    end = "END"
    while end in value:
        end += "_"
    return f"{name}<<{end}\n{value}\n{end}\n"
