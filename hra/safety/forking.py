"""Forks while other threads work: the child must not wait for a lock whose holder it does not have.

Numba compiles under one lock of the whole process. A child that is forked while another thread compiles would wait for
it for ever, so forks wait until nothing is compiled. (Python takes care of its own locks, and each thread has working
memory of its own.)
"""

from __future__ import annotations

import os
import sys
from typing import Any

_LOCK = "numba.core.compiler_lock"
_held: list[Any] = []


def _hold() -> None:
    module = sys.modules.get(_LOCK)  # not imported for this: `import hra` loads no Numba
    if module is not None:
        module.global_compiler_lock.acquire()
        _held.append(module.global_compiler_lock)


def _let_go() -> None:
    if _held:
        _held.pop().release()


def guard_forks() -> None:
    """Let every fork of this process from now on wait until no thread compiles."""
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)
