"""ENV lines for a Dockerfile, which put a toolchain into whatever the image's environment is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.errors import UsageError

if TYPE_CHECKING:
    from cvm.core.environment import Activation


def render(activation: Activation) -> str:
    """Write a line for each variable; raises UsageError for a value of several lines, which none can hold.

    One line each: what an ENV line sets isn't seen by the expansions of the same line.
    """
    lines = [f'ENV {name}="{_escape(name, value)}"\n' for name, value in activation.values.items()]
    for name, elements in activation.elements.items():
        # Without the `:+` form, a variable that isn't set would leave an empty element: the current folder.
        lines.append(f'ENV {name}="{_escape(name, ":".join(elements))}${{{name}:+:${name}}}"\n')
    return "".join(lines)


def _escape(name: str, value: str) -> str:
    if "\n" in value:
        raise UsageError(f"{name} holds a newline, which no line of a Dockerfile can", hint="cvm env --shell sh")
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
