"""Where the program begins."""

from __future__ import annotations

import sys


def run() -> None:
    """Enter from the shell; the whole command line is loaded only for what needs it."""
    try:
        from cvm.cli.quick import answered

        if answered(sys.argv[1:]):
            return
        from cvm.cli.app import run as run_all
    except KeyboardInterrupt:
        sys.exit(130)
    run_all()
