"""The matrix of versions leaves no extra out, takes bounds as they stand, and keeps rows that it did not make."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.helpers.scripts import script

ROOT = Path(__file__).parents[1]
MATRIX = script("scripts/check_matrix.py")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


TRIALS = sorted(file.stem for file in MATRIX.TRIALS.glob("*.py"))
QUICK = {"with_draco", "with_formats", "with_networkx", "with_serve"}  # about a second each


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in TRIALS]
)
def test_trials_work_with_this_tree_as_it_is(name: str):
    tried = subprocess.run([sys.executable, MATRIX.TRIALS / f"{name}.py"], cwd=ROOT, capture_output=True, text=True)
    assert tried.returncode == 0, tried.stderr


@pytest.mark.parametrize("packages", ["lowest", "newest"])
def test_every_extra_is_tried(packages: str):
    (everything,) = EXTRAS["all"]
    wanted = set(everything.removeprefix("hra[").removesuffix("]").split(","))
    assert {extra for group in MATRIX.GROUPS[packages] for extra in group.split(",") if extra} == wanted
    assert {file.stem.removeprefix("with_") for file in MATRIX.TRIALS.glob("with_*.py")} == wanted


def test_bounds_are_those_of_what_the_extras_need():
    core, learn, hf = (MATRIX.lowest(extras) for extras in ("", "learn,torch", "hf"))
    assert {line.split("==")[0] for line in core} == {
        "lazy-loader", "numba", "numpy", "rich", "typer"
    }  # fmt: skip
    assert "numpy==2.0" in core and set(core) < set(learn)
    assert any(line.startswith("pillow==") for line in learn) and not any("transformers" in line for line in learn)
    assert "transformers==5.20.2" in hf and not any(line.startswith("torch==") for line in (*learn, *hf))


@pytest.mark.parametrize("group", MATRIX.GROUPS["lowest"] + MATRIX.GROUPS["newest"])
def test_torch_is_known_where_it_comes_from(group: str):
    assert MATRIX.needs_torch(group) == bool({"torch", "learn", "vlm", "imagenet", "hf"} & set(group.split(",")))


def test_rows_of_others_stay_and_are_in_order():
    begin, end = MATRIX.BEGIN, MATRIX.END
    old = ["old header", "| 3.12.1 | newest | none | works |", "| 3.11.7 | newest | none | old |"]
    page = "\n".join(["before", begin, *old, end, "after"])
    new = ["| 3.11.7 | newest | none | new |", "| 3.11.7 | lowest | hf | new |", "| 3.14 | - | - | not there |"]
    made = MATRIX.with_rows(page, new)
    rows = [
        "| 3.11.7 | lowest | hf | new |",
        "| 3.11.7 | newest | none | new |",
        "| 3.12.1 | newest | none | works |",
        "| 3.14 | - | - | not there |",
    ]
    assert made == "\n".join(["before", begin, *MATRIX.HEAD, *rows, end, "after"])
    assert MATRIX.with_rows(made, new) == made
