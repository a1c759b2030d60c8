"""Conversations: what each preset makes of ``previous=`` is what the table in docs/support-matrix.md says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import tokens
from hra.domains.tokens.methods.registry import PRESETS
from hra.errors import HierarchyError

PAGE = Path(__file__).parents[4] / "docs" / "support-matrix.md"
FIRST, BUDGET = "what is at the top left?", 100
STEPS = {
    "same question": (FIRST, BUDGET),
    "other question": ("what is written on the right?", BUDGET),
    "other gaze": ("what is at the bottom right?", BUDGET),
    "other budget": (FIRST, 80),
}


# Tokens that are there before any patch of choice: a coarse view of everything, here of a page twice as large.
BASE = {"gestalt-saccades": 192, "two-pass": 192}


def table() -> dict[str, dict[str, str]]:
    """The cells of the table by preset and column."""
    text = PAGE.read_text(encoding="utf-8").partition("## Conversations")[2].partition("\n## ")[0]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    assert rows[0] == ["method", *STEPS]
    return {row[0]: dict(zip(STEPS, row[1:], strict=True)) for row in rows[2:]}


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    """A page of 12 x 16 patches: dark words on light paper, denser at the top left."""
    rng = np.random.default_rng(0)
    values = np.full((192, 256, 3), 0.9, np.float32)
    for _ in range(90):
        y, x = (rng.beta(1.2, 1.8, 2) * (184, 224)).astype(int)
        values[y : y + 5, x : x + rng.integers(8, 32)] = rng.random() * 0.4
    return values


def said(name: str, image: np.ndarray, question: str, budget: int) -> str:
    """What the cell has to say, after checking that it is true."""
    allocator, base = PRESETS[name](), BASE.get(name, 0)
    image = np.kron(image, np.ones((2, 2, 1), np.float32)) if base else image
    first, smaller, budget = allocator.allocate((image, FIRST), BUDGET + base), budget < BUDGET, budget + base
    try:
        plain = allocator.allocate((image, question), budget, previous=first)
    except HierarchyError as error:
        assert "other nodes" in error.what and "start again" in error.fix
        return "refused"
    rule, answers = allocator.traversal, [plain]
    for limit in (None, 6):
        allocator.traversal = hra.Coherent(rule, hysteresis=0.5, max_churn=limit)
        answers.append(allocator.allocate((image, question), budget, previous=first))
    alone = PRESETS[name]().allocate((image, question), budget)
    assert plain.selected.tolist() == alone.selected.tolist() and plain.cost == alone.cost
    for answer in answers:
        assert answer.cost <= budget and answer.churn is not None
        if answer.problem.additive:
            assert hra.verify(answer).ok
        before, now = first.hierarchy, answer.hierarchy
        # Counted by nodes: which are there now and were not, or the other way round.
        there = [np.append(one.selected, False)[one.hierarchy.added_by] for one in (first, answer)]
        assert answer.churn == np.count_nonzero(there[0] != there[1]) or before.replaces or not _one_by_one(now)
    changed, held, limited = (answer.churn or 0 for answer in answers)
    # Where strata share a budget by what they gain, what is held gains more and changes the shares.
    assert held <= changed or isinstance(rule, hra.Apportion)
    # A smaller budget takes what no longer fits, whatever the limit.
    assert limited <= max(6, changed if smaller else 0)
    return f"{changed}, {held}, {limited}"


def _one_by_one(hierarchy: hra.Hierarchy) -> bool:
    return len(hierarchy) == np.count_nonzero(hierarchy.added_by >= 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PRESETS)
def test_the_table_says_what_happens(name, image):
    found = {step: said(name, image, *asked) for step, asked in STEPS.items()}
    assert found == table()[name], f"| `{name}` | " + " | ".join(found.values()) + " |"


def test_a_patch_tree_carries_what_was_taken_by_node(image):
    allocator = tokens.PyramidSampling()
    first = allocator.allocate((image, FIRST), 40)
    second = allocator.allocate((image, STEPS["other gaze"][0]), 40, previous=first)
    assert first.hierarchy.structure_digest != second.hierarchy.structure_digest  # siblings come in another order
    assert second.churn
    again = allocator.allocate((image, STEPS["other gaze"][0]), 40, previous=second)
    assert again.churn == 0
    # A budget that is full and a limit of nothing: whatever another order of siblings allows stays.
    allocator.traversal = hra.Coherent(allocator.traversal, max_churn=0)
    held = allocator.allocate((image, STEPS["other gaze"][0]), 40, previous=first)
    assert held.hierarchy.is_valid(held.selected) and (held.churn or 0) < second.churn


def test_other_nodes_are_refused(image):
    first = tokens.PyramidSampling().allocate((image, FIRST), 40)
    with pytest.raises(HierarchyError, match="other nodes"):
        tokens.PyramidSampling().allocate((image[:, :128], FIRST), 40, previous=first)
    with pytest.raises(HierarchyError, match="other nodes"):
        tokens.GridTopK().allocate((image, FIRST), 40, previous=first)
