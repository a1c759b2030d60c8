"""Peak memory of a call, as the operating system sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_bytes(run: Callable[[], Any]) -> int | None:
    """Most bytes that were resident during ``run`` beyond those before it; None where Linux's counters are missing.

    Tracing Python's allocator would miss what compiled code allocates.
    """
    with peak() as found:
        run()
    return found[0]


@contextmanager
def peak() -> Iterator[list[int | None]]:
    """The same of what runs inside, in the list that is yielded, once it has ended."""
    found: list[int | None] = [None]
    before = _reset()
    yield found
    if before is not None:
        found[0] = max(_status("VmHWM") - before, 0)


def _reset() -> int | None:
    """What is resident now, to which the high-water mark is set."""
    try:
        _RESET.write_text("5")
        return _status("VmRSS")
    except OSError:
        return None


def _status(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])
