from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.model.hierarchy import Hierarchy
from hra.solvers.forest.bracket import hull_point
from hra.solvers.relaxation import relaxation
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case
from tests.helpers.relaxation_cases import seeds


def random_budgets(rng: np.random.Generator, hierarchy: Hierarchy, count: int) -> np.ndarray:
    return hierarchy.base_cost + rng.integers(0, int(hierarchy.cost.sum()) + 1, count)


@pytest.mark.parametrize("kind", FORESTS)
@given(seed=seeds, error=st.floats(-1.5, 1.5))
def test_a_guessed_price_leads_to_the_hull_point_of_the_whole_forest(kind, seed, error):
    hierarchy, values, rng = case(kind, seed, 60)
    budget = float(random_budgets(rng, hierarchy, 1)[0])
    problem = problem_of(hierarchy, values * rng.random(values.size), "gain", budget)
    whole = relaxation(problem)
    if not 0 < whole.price < 1e15 or problem.capacity <= 0:
        return
    point = hull_point(problem, whole.price * np.exp(error), 1.05)
    if point is None:
        assert abs(error) > 0.01, "a good guess is never lost"
        return
    assert point.price == pytest.approx(whole.price, rel=1e-12)
    assert (point.selected == whole.selected).all()
    assert not point.selected[point.undecided[point.slope <= point.price]].any()
