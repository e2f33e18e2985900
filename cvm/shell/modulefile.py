"""A module file in Tcl that environment-modules, from version 4 on, and Lmod both load and unload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.core.environment import Activation

_HEAD = """\
#%Module1.0
proc ModulesHelp {{}} {{ puts stderr {text} }}
module-whatis {text}

# One toolchain at a time.
if {{[llength [info commands family]]}} {{
    family cvm
}} else {{
    conflict [file dirname [module-info name]]
}}

# Only pushenv puts back on unload what was there before. It is not in environment-modules before 5.1, and that
# of Lmod, before 8.7.5, took the new value for the old one.
set put setenv
if {{[llength [info commands pushenv]]}} {{
    if {{![info exists env(LMOD_VERSION)] || [package vcompare $env(LMOD_VERSION) 8.7.10] >= 0}} {{
        set put pushenv
    }}
}}

"""

_SPECIAL = re.compile(r"[^A-Za-z0-9_@%+=:,./\u0080-\U0010ffff-]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Lmod turns the file into Lua and that into commands: one release or another quotes these not, drops blanks at the
# end, and reads the bytes of other alphabets one by one.
_LOST = re.compile(r'["\\`\x00-\x1f\x7f-\U0010ffff]|\s$')


def render(activation: Activation, name: str, description: str) -> str:
    """Write the file; raises UsageError for a value that one of the two tools would not take as it is."""
    return _HEAD.format(text=quote(f"{name}: {description}")) + "".join(line + "\n" for line in _lines(activation))


def quote(text: str) -> str:
    """Quote a word for Tcl."""
    return _SPECIAL.sub(lambda found: _NAMED.get(found[0], "\\" + found[0]), text) or "{}"


def _lines(activation: Activation) -> Iterator[str]:
    for name, value in activation.values.items():
        yield f"$put {name} {quote(_checked(name, value))}"
    for name, elements in activation.elements.items():
        # Each comes to stand before the ones that are there.
        for element in reversed(elements):
            if ":" in element:
                raise UsageError(
                    f"{name} can't hold {element}: a colon ends an element", hint="choose another CVM_HOME"
                )
            yield f"prepend-path {name} {quote(_checked(name, element))}"


def _checked(name: str, value: str) -> str:
    if found := _LOST.search(value):
        raise UsageError(f"{name} holds {found[0]!r}, which Lmod takes for something else", hint="cvm env --shell sh")
    return value
