"""Every failure that cvm expects, with the exit code that a script may test for.

CvmError              1    something failed
├── UsageError        2    wrong usage
├── NotInstalledError 3    nothing installed answers the request
├── NoMatchError      4    no such release, component, archive or manifest
├── NetworkError      5    a server can't be reached, or does not answer as it should
├── IntegrityError    6    a hash or a size differs, an archive is damaged or would leave its folder
├── IncompatibleError 7    these versions do not go together
├── DiskError         8    the disk is full, read-only, or the folder is not ours
├── CannotRunError    126  a command is there and can't be run
├── ToolMissingError  127  a toolchain lacks a tool, or there is no such command
└── InterruptError    130  ^C
"""

from __future__ import annotations


class CvmError(Exception):
    """An expected failure: one sentence that names the culprit, and a hint with a command to run."""

    exit_code = 1
    kind = "failed"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error cross a process border with its hint."""
        return _rebuild, (type(self), self.message, self.hint)


def _rebuild(cls: type[CvmError], message: str, hint: str | None) -> CvmError:
    return cls(message, hint=hint)


class UsageError(CvmError):
    """The command line, a setting or a file that a person wrote can't be understood."""

    exit_code = 2
    kind = "usage"


class NotInstalledError(CvmError):
    """Nothing that is installed answers the request."""

    exit_code = 3
    kind = "not-installed"


class NoMatchError(CvmError):
    """No release, component, archive or manifest answers the request."""

    exit_code = 4
    kind = "no-match"


class NetworkError(CvmError):
    """A server can't be reached, or does not answer as it should."""

    exit_code = 5
    kind = "network"


class UnreachableError(NetworkError):
    """No connection to the host could be made: the one failure that lets another source be tried."""

    kind = "unreachable"


class IntegrityError(CvmError):
    """A hash or size differs from the manifest, or an archive is damaged or unsafe."""

    exit_code = 6
    kind = "integrity"


class IncompatibleError(CvmError):
    """These versions do not go together."""

    exit_code = 7
    kind = "incompatible"


class DiskError(CvmError):
    """The disk is full or read-only, or a folder belongs to somebody else."""

    exit_code = 8
    kind = "disk"


class CannotRunError(CvmError):
    """A command is there and can't be run: the code that shells use for it."""

    exit_code = 126
    kind = "cannot-run"


class ToolMissingError(CvmError):
    """A toolchain lacks the tool, or there is no such command on PATH: the code that shells use for it."""

    exit_code = 127
    kind = "tool-missing"


class InterruptError(CvmError):
    """The person pressed ^C."""

    exit_code = 130
    kind = "interrupted"
