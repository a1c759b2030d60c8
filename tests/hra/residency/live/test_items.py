from __future__ import annotations

import numpy as np
from hypothesis import given

import hra
from hra.residency.live.items import PagedItems
from tests.helpers.paged_cases import SEEDS, problem_of, random_content


@given(seed=SEEDS)
def test_a_page_is_worth_what_waits_for_it(seed: int) -> None:
    content, gain, page_of, paged = random_content(seed)
    problem = paged.problem(problem_of(content, gain), np.inf)
    everything = np.ones(len(paged.hierarchy), bool)
    pages, worth = PagedItems(paged).wanted(hra.Allocation(problem, hra.Hull().solve(problem), 0.0))
    assert pages.tolist() == np.flatnonzero(paged.held(hra.Hull().solve(problem).selected)).tolist()
    assert (worth >= 0).all()
    worth = paged.worth(everything, problem.gain)
    members = [
        set(page_of[content.added_by == r].tolist()) - set(np.flatnonzero(paged.loads < 0)) for r in range(len(content))
    ]
    for before, after in content.edges.tolist():
        own = max((sum(gain[r] for r in range(len(content)) if p in members[r]) for p in members[after]), default=0.0)
        assert all(worth[p] >= own - 1e-9 for p in members[before])
