"""What a failing command must do: one sentence with a hint, nothing half, and a next run that succeeds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.functional.processes import assert_nothing_half

if TYPE_CHECKING:
    from tests.functional.conftest import Outcome, World


def complaint(outcome: Outcome) -> tuple[str, str]:
    """The one sentence at the end, and its hint."""
    assert "Traceback" not in outcome.err
    match = re.fullmatch(r"(?:.*\n)*?error: (.+)\nhint: (.+)\n", outcome.err)
    assert match, outcome.err
    return match[1], match[2]


def fails(world: World, *arguments: str, code: int = 5) -> tuple[str, str]:
    """Run an install that fails and leaves nothing; returns its sentence and hint."""
    outcome = world.run("install", *arguments)
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert_nothing_half(world)
    return complaint(outcome)


def recovers(world: World, name: str = "99.1.1", *arguments: str) -> None:
    """Let the server be honest again, and the same command succeed."""
    world.server.behave("*")
    for request in world.server.requests:
        world.server.behave(request.path)
    world.ok("install", name, *arguments)
    assert_nothing_half(world, name)
