"""The page: every cell, every test and every gate of a record, and nothing called converged that is not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")
from hra_lab.evidence.evidence_page import gates, render, text  # noqa: E402
from hra_lab.evidence.experiment import CELLS, FULL, SMALL, ask  # noqa: E402
from hra_lab.evidence.findings import answers_of, outcomes  # noqa: E402
from hra_lab.evidence.reader import Reader, Size  # noqa: E402


@pytest.fixture(scope="module")
def record():
    torch.manual_seed(0)
    extent = dataclasses.replace(SMALL, asked=4)
    return ask([Reader(Size(32, 1)).eval() for _ in range(2)], "validation", extent, lambda _: None)


def test_every_cell_and_every_test_has_a_line(record):
    page = text(record)
    cells = page.partition("## Every cell")[2]
    assert all(f"| {cell.method} | {cell.budget} |" in cells for cell in CELLS)
    assert [name in page for name, *_ in outcomes(record)] == [True] * 8
    assert "**fails**" in page and "Not converged" in page
    assert "Not converged" not in text({**record, "converged": True})


def test_no_p_is_printed_where_a_gate_failed(record):
    page = text(record)
    assert "p (Holm)" not in page and "A gate failed" in page
    whole = json.loads((Path(__file__).parents[2] / "docs/evidence.json").read_text("utf-8"))
    assert all(holds for *_, holds in gates(whole))
    page = text(whole)
    assert "p (Holm)" in page and "A gate failed" not in page


def test_the_figure_is_a_picture(record):
    assert render(record)["pictures/evidence.png"].startswith(b"\x89PNG")


def test_differences_are_those_of_the_answers(record):
    name, found, _ = outcomes(record)[0]
    assert name.startswith("1a")
    pyramid = answers_of(record, "pyramid", 10)[..., 0].mean()
    down = answers_of(record, "downsample", 10, "none")[..., 0].mean()
    assert found.value == pytest.approx(100 * (pyramid - down))
    assert found.low <= found.value <= found.high


def test_gates_hold_and_fail_where_they_should(record):
    def found(**right):
        full = {shown: [np.packbits(np.full(16, value)).tobytes().hex()] * 2 for shown, value in right.items()}
        rows = [{**row, "right": full[row["shown"]]} for row in record["rows"]]
        return {name: holds for name, *_, holds in gates({**record, "rows": rows})}

    seen = found(all=True, places=False, question=False)
    assert [name for name, holds in seen.items() if not holds] == ["down-sampling to 10 tokens"]
    leaking = found(all=True, places=True, question=False)
    assert sum(not holds for holds in leaking.values()) == 1 + 3
    blind = found(all=False, places=False, question=True)
    assert not blind["all 256 finest tokens"]
    assert not blind["question alone"] or record["commonest"]["target"] > 0.97


def test_full_runs_alone_count_as_converged():
    assert SMALL.steps < FULL.steps
