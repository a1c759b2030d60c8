"""What every command writes: the ``--json`` file and tables.

`running` says what a command does at the moment, so that nothing takes long in silence: on a terminal always, in a pipe
or a log by one line for each part that takes longer than two seconds.
"""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hra.files.atomic_write import write_atomically
from hra.files.local_files import make_folder as make_folder

# Seconds after which a log is told what takes so long.
_QUIET = 2.0
# Columns that no table has.
_WIDEST = 10_000


def readable(value: Any) -> str:
    """Integers with thousands separators, other numbers with four digits, all else as it is; "-" where nothing is."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, str):  # an array would be compared number by number
        return value or "-"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


def show(title: str, rows: Iterable[tuple[str, Any]]) -> None:
    """A two-column table on standard output."""
    console, table = Console(), Table(show_header=False)
    for name, value in rows:
        # As Text: names of files may have brackets, which stand for colours elsewhere.
        table.add_row(Text(name), Text(readable(value)))
    # Not as the table's own title, which would be wrapped to the table's width.
    console.print(Text(title))
    console.print(table)


def print_wide(table: Table) -> None:
    """Print a table as wide as it is: a pipe passes for 80 columns, which would cut the numbers off."""
    console = Console()
    own = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
    Console(width=max(console.width, own)).print(table)


def write_json(path: Path | None, record: Mapping[str, Any]) -> None:
    """Write ``record`` to ``path`` in one step, or do nothing without a path."""
    if path is not None:
        write_atomically(path, json_bytes(record))


def json_bytes(record: Mapping[str, Any]) -> bytes:
    """``record`` as the bytes of a JSON file."""
    return (json.dumps(_plain(record), indent=2, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as Python numbers; infinities as None, which JSON can hold."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list):
        return _plain(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
    """Show ``name`` and the time that passes; what is yielded changes the name."""
    with _bars(SpinnerColumn(), _Doing(), TimeElapsedColumn()) as progress:
        task = progress.add_task(name, total=None)
        yield lambda name: progress.update(task, description=name)


@contextmanager
def counting(name: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of all ``unit`` are done; what is yielded takes the two numbers."""
    count = TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit)
    with _bars(SpinnerColumn(), _Doing(), BarColumn(), count, TimeElapsedColumn()) as progress:
        task = progress.add_task(name, total=0)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _bars(*columns: ProgressColumn) -> Iterator[Progress]:
    """Progress leaves no trace, and results go past it to standard output as they are."""
    console = Console(stderr=True)
    hidden = not console.is_terminal
    options: dict[str, Any] = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    progress = Progress(*columns, console=console, disable=hidden, **options)
    if hidden:  # never started nor stopped: before Rich 14.3 stopping leaves an empty line
        with _lines(progress):
            yield progress
    else:
        with progress:
            yield progress


@contextmanager
def _lines(progress: Progress) -> Iterator[None]:
    """Write what takes long to the process's own standard error, not to another that Python code has put there."""
    if sys.stderr is not sys.__stderr__:
        yield
        return
    ended = threading.Event()

    def tell() -> None:
        said = ""
        while not ended.wait(_QUIET):
            doing = progress.tasks[0].description if progress.tasks else ""
            if doing != said:
                said = doing
                with suppress(OSError, ValueError):  # nobody reads it any more
                    typer.echo(f"{doing} ...", err=True)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
