"""The activation of a prefix as a file for `.` in sh: no program is run, and nothing of its own stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.core.names import TOOLCHAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.environment import Activation

_HEAD = "# The activation of {name}, for `. this-file` in sh; `cvm rehash` writes it anew.\n"

# Walks the new elements and then the old ones, and keeps the first of each. The list starts as `::`, so that an
# empty element counts as seen. `case` is quick and `#` exact: bash may have been told to ignore case in the one.
_LIST = """\
_cvm_rest={front}":${{{name}-}}:"
_cvm_list=::
while [ -n "$_cvm_rest" ]; do
    _cvm_one=${{_cvm_rest%%:*}}
    _cvm_rest=${{_cvm_rest#*:}}
    case $_cvm_list in
    *":$_cvm_one:"*) _cvm_tail=${{_cvm_list#*":$_cvm_one:"}} ;;
    *) _cvm_tail=$_cvm_list ;;
    esac
    if [ "$_cvm_tail" = "$_cvm_list" ]; then
        _cvm_list=$_cvm_list$_cvm_one:
    fi
done
_cvm_list=${{_cvm_list#::}}
export {name}="${{_cvm_list%:}}"
"""

_FOOT = "unset _cvm_rest _cvm_list _cvm_one _cvm_tail\n"


def render(activation: Activation) -> str:
    """Write the file. Sourcing it again changes nothing, and foreign elements keep their order."""
    text = _HEAD.format(name=activation.values[TOOLCHAIN])
    text += "".join(f"export {name}={_quote(value)}\n" for name, value in activation.values.items())
    return text + _lists(activation.elements.items())


def _lists(elements: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    lists = [_LIST.format(name=name, front=_quote(":".join(front))) for name, front in elements if front]
    return "".join([*lists, _FOOT]) if lists else ""


def _quote(text: str) -> str:
    """Quote everything: what is plain to one shell is not to another, and a file is read by any of them."""
    return "'" + text.replace("'", "'\\''") + "'"
