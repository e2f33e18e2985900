"""The formats that an activation is exported in, by name, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.environment import joined
from cvm.errors import UsageError
from cvm.shell import dockerfile, dotenv, github, modulefile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cvm.core.environment import Activation


@dataclass(frozen=True, slots=True)
class Exported:
    """What is exported: a toolchain's activation, and the environment that its elements come to stand in."""

    activation: Activation
    environment: Mapping[str, str]
    name: str


def _whole(exported: Exported) -> dict[str, str]:
    elements = exported.activation.elements
    lists = {name: joined(front, exported.environment.get(name, "")) for name, front in elements.items()}
    return _text({**exported.activation.values, **lists})


def _asked(exported: Exported) -> Activation:
    _text(exported.activation.values)
    _text({name: ":".join(elements) for name, elements in exported.activation.elements.items()})
    return exported.activation


def _text(values: Mapping[str, str]) -> dict[str, str]:
    """Refuse what is not UTF-8: the readers of these files would stop at it, or take it for other characters."""
    for name, value in values.items():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is not UTF-8, which this format must be", hint="cvm env --shell sh") from None
    return dict(values)


def _modulefile(exported: Exported) -> str:
    return modulefile.render(_asked(exported), exported.name, "CUDA toolchain of cvm")


FORMATS: Mapping[str, Callable[[Exported], str]] = {
    "dotenv": lambda exported: dotenv.render(_whole(exported)),
    "dockerfile": lambda exported: dockerfile.render(_asked(exported)),
    "github": lambda exported: github.render(_whole(exported)),
    "modulefile": _modulefile,
}
