"""What a command is at, on a terminal only: nothing takes longer than a moment in silence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text


class _Doing(ProgressColumn):
    """The task's name, and whether its code is just being compiled."""

    def render(self, task: Any) -> Text:
        """One line."""
        note = " (compiling, only this once)" if _is_compiling() else ""
        return Text(f"{task.description}{note}")


def _is_compiling() -> bool:
    # Not imported: what never calls Numba need not load it; and another thread may just be importing it.
    asked = getattr(sys.modules.get("hra.compiling"), "is_compiling", None)
    return asked is not None and asked()


@contextmanager
def running(name: str) -> Iterator[Callable[[str], None]]:
    """Show ``name`` and the time that passes, on a terminal only; what is yielded changes the name."""
    with _bars(SpinnerColumn(), _Doing(), TimeElapsedColumn()) as progress:
        task = progress.add_task(name, total=None)
        yield lambda name: progress.update(task, description=name)


@contextmanager
def counting(name: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of all ``unit`` are done, on a terminal only; what is yielded takes the two numbers."""
    count = TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit)
    with _bars(SpinnerColumn(), _Doing(), BarColumn(), count, TimeElapsedColumn()) as progress:
        task = progress.add_task(name, total=0)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _bars(*columns: ProgressColumn) -> Iterator[Progress]:
    """Nothing of it stays, and results go past it to standard output as they are."""
    console = Console(stderr=True)
    hidden = not console.is_terminal
    options: dict[str, Any] = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    progress = Progress(*columns, console=console, disable=hidden, **options)
    if hidden:  # never started nor stopped: before Rich 14.3 stopping leaves an empty line
        yield progress
    else:
        with progress:
            yield progress
