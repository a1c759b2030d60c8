"""The command line ``hra``: commands that packages register as ``hra.commands``, and what becomes of their errors.

A command reads its options, calls the library and prints the result. It computes nothing that a program
could not call. `hra.console` holds the parts that commands share.
"""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from types import FrameType

    from hra.cli.command_line import app as app

__getattr__, __dir__, _ = lazy_loader.attach(__name__, submod_attrs={"command_line": ["app"]})
__all__ = ["app", "main"]


# Threads of OpenBLAS (NumPy) and OpenMP (torch) spin before they sleep, each on a core, at the start and after each
# product: a tenth of short commands on two cores. The libraries read this when they are imported.
_WAITING = {"OPENBLAS_THREAD_TIMEOUT": "4", "OMP_WAIT_POLICY": "PASSIVE"}
# Imports make a hundred thousand objects that stay, and compiling millions: to look through them finds nothing.
_OBJECTS_PER_COLLECTION = 200_000
INTERRUPTED = "interrupted: what was not finished was not written"


def _stop(number: int, frame: object) -> None:
    os.write(2, f"{INTERRUPTED}\n".encode())
    os._exit(130)


_interrupts: list[int] = []


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupts.append(number)
    signal.default_int_handler(number, frame)


def main() -> None:
    """Entry point. While the rest is imported Ctrl-C ends the process at once: there is nothing to tidy up."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, _stop)
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    for name, value in _WAITING.items():
        os.environ.setdefault(name, value)
    from hra.cli.command_line import run

    try:
        if usual:
            signal.signal(signal.SIGINT, _interrupt)
        run(INTERRUPTED, _interrupts)
    except KeyboardInterrupt:  # before the command began or after it ended
        _stop(signal.SIGINT, None)
