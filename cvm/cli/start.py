"""Where the program begins."""

from __future__ import annotations

import os
import sys


def run() -> None:
    """Enter from the shell; the whole command line is loaded only for what needs it."""
    if sys.getfilesystemencoding() != "utf-8":
        # Told so by its environment, Python would lose names that the locale can't spell.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606
    try:
        from cvm.cli.quick import answered

        if answered(sys.argv[1:]):
            return
        from cvm.cli.app import run as run_all
    except KeyboardInterrupt:
        sys.exit(130)
    run_all()
