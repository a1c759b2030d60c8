"""Work in several processes that end with the one that started them.

`keep_freed_memory` serves those that free memory and need it again at once, as for one image after the other.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import islice
from multiprocessing.connection import wait as wait_for
from typing import Any, TypeVar

from hra.errors import HraError
from hra.model.arrays import whole_number

Item = TypeVar("Item")
Done = TypeVar("Done")
Problem = tuple[str, type[Warning], str, int]
"""Text and kind of a warning, file and line of what warned."""
_MOST = 1024
# Items that are handed out ahead for each process: none waits, and a long list of items takes no memory.
_AHEAD = 2
# mallopt(3): parameters and, in bytes, the most that the first one takes on systems with 64 bits.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST = 2**25


def in_processes(work: Callable[[Item], Done], items: Iterable[Item], jobs: int) -> Iterator[Done]:
    """What ``work`` returns for each of the ``items``, in the order in which they are done.

    Each process computes on one thread. They are started fresh, not forked, so a script that calls this must stand
    behind ``if __name__ == "__main__":``; they end when this process does, however it ends. What they warn of is warned
    of here, by the filters of this process.

    Parameters
    ----------
    work : a function of a module, called in another process.
    jobs : processes, from 1 to 1024.

    Raises
    ------
    HraError : another number of processes, or one of them was killed; what ``work`` raises is passed on.
    """
    count = whole_number(jobs)
    if count is None or not 1 <= count <= _MOST:
        raise HraError(f"cannot work in {jobs!r} processes", where="jobs", fix=f"use 1 to {_MOST}")
    jobs = count
    context, others = multiprocessing.get_context("spawn"), multiprocessing.active_children()
    with ProcessPoolExecutor(jobs, context, initializer=_begin) as pool:
        try:
            yield from _handed_out(pool, work, iter(items), _AHEAD * jobs)
        except BrokenProcessPool as error:
            fix = "run it again: it goes on where it stopped, with fewer jobs if memory was short"
            fix += "; all of a script that calls this stands behind `if __name__ == '__main__':`"
            raise HraError("a process was killed while it worked", where=f"{jobs} jobs", fix=fix) from error
        except (KeyboardInterrupt, GeneratorExit):  # nobody waits for the rest
            for process in set(multiprocessing.active_children()) - set(others):
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _handed_out(
    pool: ProcessPoolExecutor, work: Callable[[Item], Done], items: Iterator[Item], ahead: int
) -> Iterator[Done]:
    waiting = {_submit(pool, work, item) for item in islice(items, ahead)}
    warned: dict[Any, Any] = {}
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        waiting |= {_submit(pool, work, item) for item in islice(items, len(done))}
        for future in done:
            result, problems = future.result()
            for problem in problems:
                warnings.warn_explicit(*problem, registry=warned)
            yield result


def _heard(work: Callable[[Item], Done], item: Item) -> tuple[Done, list[Problem]]:
    """What ``work`` returns, and what it warned of: in its process nothing shows warnings."""
    with warnings.catch_warnings(record=True) as caught:
        result = work(item)
    return result, [(str(each.message), each.category, each.filename, each.lineno) for each in caught]


def _submit(pool: ProcessPoolExecutor, work: Callable[[Item], Done], item: Item) -> Future[tuple[Done, list[Problem]]]:
    """Processes that this starts never hear of Ctrl-C, which a terminal sends to all: this one ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(_heard, work, item)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_heard, work, item)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """One thread for each library, and the end of this process with its parent's."""
    threads = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    os.environ.update(dict.fromkeys(threads, "1"))
    numba = sys.modules.get("numba")
    if numba is not None:  # it has read the variable already
        numba.config.NUMBA_NUM_THREADS = 1
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A killed parent closes no queue: its children would wait for work for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


@cache
def keep_freed_memory() -> bool:
    """Tell the C library to keep up to 64 MiB that were freed; whether it understands (glibc does).

    By default it hands arrays from 128 KiB on back to the system, which then fills each page with zeros when the next
    image needs it: a third of the processor time of an image of 336 x 336 pixels here. It holds for the whole process,
    hence only for processes that do nothing else.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST) and mallopt(_M_TRIM_THRESHOLD, 2 * _LARGEST))
