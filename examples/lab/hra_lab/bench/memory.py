"""Peak memory of a call, as the operating system sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_bytes(run: Callable[[], Any]) -> int | None:
    """Most bytes that were resident during ``run`` beyond those before it; None where Linux's counters are missing.

    Tracing Python's allocator would miss what compiled code allocates.
    """
    try:
        _RESET.write_text("5")  # sets the high-water mark to what is resident now
        before = _status("VmRSS")
        run()
        return max(_status("VmHWM") - before, 0)
    except OSError:
        return None


def _status(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])
