"""Run something in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable


def forked(work: Callable[[], int], seconds: float) -> int | None:
    """Exit code of ``work``, negative for a signal; nothing if it takes longer, and is ended."""
    child = os.fork()
    if child == 0:
        os.setsid()
        with contextlib.suppress(BaseException), open(os.devnull, "r+b") as nowhere:
            for stream in (0, 1, 2):
                os.dup2(nowhere.fileno(), stream)
            os._exit(work())
        os._exit(3)
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
