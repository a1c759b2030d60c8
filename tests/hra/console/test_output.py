"""Sizes as texts, and what is said of work that takes long."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from rich.table import Table

from hra.console import byte_count, print_wide, show, size
from hra.errors import HraError


@pytest.mark.parametrize(
    ("argument", "expected"), [("64MB", 64e6), ("512KiB", 2**19), ("4096", 4096), ("1.5 GiB", 1.5 * 2**30)]
)
def test_byte_counts(argument: str, expected: float):
    assert byte_count(argument) == expected


@pytest.mark.parametrize("argument", ["", "MB", "-1", "1XB", "nan", "inf"])
def test_bad_byte_counts(argument: str):
    with pytest.raises(HraError, match="byte count"):
        byte_count(argument)


def test_sizes():
    assert size("1920x1080") == (1920, 1080)


def test_what_is_not_there_is_a_dash(capsys: pytest.CaptureFixture[str]):
    show("a title", [("price", None), ("skipped", ""), ("gap", float("inf")), ("count", 1234)])
    rows = [row.replace("│", " ").split() for row in capsys.readouterr().out.splitlines() if "│" in row]
    assert rows == [["price", "-"], ["skipped", "-"], ["gap", "-"], ["count", "1,234"]]


def test_an_array_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]):
    show("a title", [("pages of level", np.array([18, 8, 2]))])
    assert "[18  8  2]" in capsys.readouterr().out


def test_no_number_of_a_wide_table_is_cut(capsys: pytest.CaptureFixture[str]):
    cells = [f"{10**15 + number:,}" for number in range(12)]
    table = Table()
    for name in range(12):
        table.add_column(str(name), justify="right", no_wrap=True)
    table.add_row(*cells)
    print_wide(table)
    printed = capsys.readouterr().out
    assert all(cell in printed for cell in cells)


@pytest.mark.parametrize(("quiet", "said"), [(0.05, ["reading a.tif ...", "drawing ..."]), (60, [])])
def test_a_pipe_is_told_once_what_takes_long(quiet: float, said: list[str]):
    program = f"""
import time
from hra.console import output
output._QUIET = {quiet}
with output.running("reading a.tif") as say:
    time.sleep(1)
    say("drawing")
    time.sleep(1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == said and not done.stdout
