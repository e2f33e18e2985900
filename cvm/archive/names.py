"""Names of members, and targets of links, that are safe to use as paths."""

from __future__ import annotations

from cvm.errors import IntegrityError

_LONGEST_PART = 255
_LONGEST = 3000


def clean_path(name: str, archive: str) -> str:
    """Return a member's path below the folder of its archive, "" for that folder; raises IntegrityError."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    fault = _fault(name) or _part_fault(parts)
    if name.startswith("/"):
        fault = "has an absolute name"
    elif not name:
        fault = "has no name"
    if fault:
        raise IntegrityError(f"{archive} is refused: {name!r} {fault}")
    return "/".join(parts)


def clean_target(target: str | bytes, path: str, archive: str) -> str:
    """Return the target of a link when it is one that a path may have; raises IntegrityError."""
    text = target.decode("utf-8", "surrogateescape") if isinstance(target, bytes) else target
    fault = _fault(text)
    if not text:
        fault = "is empty"
    elif text.startswith("/"):
        fault = "is absolute"
    if fault:
        raise IntegrityError(f"{archive} is refused: the target {text!r} of the link {path} {fault}")
    return text


def _fault(text: str) -> str:
    if "\0" in text:
        return "holds a NUL"
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        return "is not UTF-8"
    return "is too long" if length > _LONGEST else ""


def _part_fault(parts: list[str]) -> str:
    if ".." in parts:
        return "holds `..`"
    if any(len(part.encode("utf-8", "surrogateescape")) > _LONGEST_PART for part in parts):
        return "is too long"
    return ""
