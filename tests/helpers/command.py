"""Commands run in this process."""

from __future__ import annotations

import sys

from hra.cli import main


def run_hra(*arguments: object) -> int:
    """Exit code of ``hra`` with these arguments."""
    old = sys.argv
    sys.argv = ["hra", *map(str, arguments)]
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = old
    return 0
