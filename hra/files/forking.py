"""Forks while other threads work: the child must not wait for a lock whose holder it does not have.

Numba compiles under one lock of the whole process, and LLVM is called under another one. A child that is forked while
another thread holds them would wait for ever, so forks wait until nothing is compiled. (Python takes care of its own
locks, and each thread has working memory of its own.)
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack

# What is registered last is held first: logging holds its lock in forks, too, and who compiles may want to log.
logging.getLogger("hra").addHandler(logging.NullHandler())
_held: list[ExitStack] = []


def _locks() -> Iterator[AbstractContextManager[object]]:
    """The locks of what is loaded, outermost first; `import hra` loads neither."""
    numba, llvm = sys.modules.get("numba.core.compiler_lock"), sys.modules.get("llvmlite.binding.ffi")
    for module, name in ((numba, "global_compiler_lock"), (getattr(llvm, "lib", None), "_lock")):
        lock = getattr(module, name, None)
        if isinstance(lock, AbstractContextManager):
            yield lock


def _hold() -> None:
    stack = ExitStack()
    for lock in _locks():
        stack.enter_context(lock)
    _held.append(stack)


def _let_go() -> None:
    _held.pop().close()


def guard_forks() -> None:
    """Let every fork of this process from now on wait until no thread compiles."""
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)
