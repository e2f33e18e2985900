"""How a switch treats LD_LIBRARY_PATH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Unless the active Python would load worse with them; whatever it loads; not at all.
AUTO, ALWAYS, NEVER = "auto", "always", "never"
RULES = (AUTO, ALWAYS, NEVER)


# What an option of a manual `use` insisted on: a prompt that weighs it anew goes by that.
INSISTED = "_CVM_LIBRARY_RULE"


def library_rule(environment: Mapping[str, str]) -> str:
    """Read CVM_LD_LIBRARY_PATH; raises UsageError when it is none of auto, always and never."""
    rule = environment.get("CVM_LD_LIBRARY_PATH") or AUTO
    if rule not in RULES:
        raise UsageError(f"CVM_LD_LIBRARY_PATH is {rule}", hint=f"set it to one of {', '.join(RULES)}")
    return rule
