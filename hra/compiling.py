"""Numba's ``njit`` as every compiled function of hra uses it, and time without compilation.

What Numba takes to compile a function, or to load it, comes once for each function, argument types and machine, and
would be taken for the work's own time in every report that a first call makes. Compilation holds one lock of Numba's,
which tells when it is taken and given back.
"""

from __future__ import annotations

import functools
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event, options
from numba.core.caching import FunctionCache

from hra.errors import HraWarning


class _Saving(FunctionCache):
    """Numba's cache of a function on disk, which a full disk or a limit of quota does not stop from running."""

    warned = False

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled; where it cannot be written, the function runs all the same."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            if not _Saving.warned:
                _Saving.warned = True
                what = f"compiled code cannot be kept in {self.cache_path}, so the next start compiles again: {error}"
                warnings.warn(HraWarning(what), stacklevel=2)


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """As Numba's, without the entry point for C that nothing calls: about a tenth of the first use."""
    if function is None:
        return functools.partial(njit, **options)
    compiled = numba.njit(no_cfunc_wrapper=True, **options)(function)  # pyright: ignore[reportCallIssue]: not in its types
    if isinstance(getattr(compiled, "_cache", None), FunctionCache):
        compiled._cache.__class__ = _Saving
    return compiled


# Numba raises and lowers the reference counts of all arrays that it hands on, atomically: up to half of the time of
# functions that do little each. For those that make no arrays, and are called by what holds theirs. The option is in
# every version so far, but not documented: without it they are as right, and slower.
_UNCOUNTED = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}
njit_uncounted: Callable[..., Any] = functools.partial(njit, **_UNCOUNTED)


class _Watch(event.Listener):
    """Adds up the time between the starts and ends of one kind of event, of several threads at once."""

    def __init__(self, kind: str) -> None:
        self._lock, self._own = threading.Lock(), threading.local()
        self._wall = self._cpu = self._since = 0.0
        self.active = 0
        event.register(kind, self)

    def on_start(self, event: Any) -> None:
        """One more thread, or the same one deeper."""
        self._own.depth = getattr(self._own, "depth", 0) + 1
        if self._own.depth == 1:
            self._own.since = time.thread_time()
        with self._lock:
            self.active += 1
            if self.active == 1:
                self._since = time.perf_counter()

    def on_end(self, event: Any) -> None:
        """One fewer."""
        self._own.depth -= 1
        spent = time.thread_time() - self._own.since if self._own.depth == 0 else 0.0
        with self._lock:
            self.active -= 1
            self._cpu += spent
            if self.active == 0:
                self._wall += time.perf_counter() - self._since

    def read(self) -> tuple[float, float]:
        """Seconds so far: of the clock while at least one thread was at it, and of the processor."""
        with self._lock:
            running = time.perf_counter() - self._since if self.active else 0.0
            return self._wall + running, self._cpu


# Compiling or loading compiled code holds the lock; only compiling is this event.
_LOCKED, _COMPILED = _Watch("numba:compiler_lock"), _Watch("numba:compile")


def is_compiling() -> bool:
    """Whether a function is being compiled now, in any thread."""
    return _COMPILED.active > 0


class Stopwatch:
    """Seconds since it was made, without those in which functions were compiled or loaded.

    Where other threads work while one compiles, their time in it is not counted either.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()
        self._before = _LOCKED.read()

    @property
    def wall(self) -> float:
        """Of the clock."""
        return max(time.perf_counter() - self._start[0] - (_LOCKED.read()[0] - self._before[0]), 0.0)

    @property
    def cpu(self) -> float:
        """Of all threads on processors."""
        return max(time.process_time() - self._start[1] - (_LOCKED.read()[1] - self._before[1]), 0.0)
