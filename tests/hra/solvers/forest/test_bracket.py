from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.solvers.forest import bracket
from hra.solvers.forest.bracket import hull_point
from hra.solvers.relaxation import relaxation
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, case, random_budgets
from tests.helpers.relaxation_cases import seeds


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


def test_a_part_of_a_forest_is_pooled_by_what_was_compiled_for_whole_ones(monkeypatch):
    """Arrays of hierarchies are read-only; for others it was compiled again, three seconds."""
    hierarchy, values, _ = case("replace", 0, 60)
    problem = problem_of(hierarchy, values, "gain", hierarchy.base_cost + 0.5 * float(hierarchy.cost.sum()))
    got, pooled = [], bracket.hull_slopes

    def noted(first_child, gain, cost):
        got.append((first_child.flags.writeable, cost.flags.writeable))
        return pooled(first_child, gain, cost)

    monkeypatch.setattr(bracket, "hull_slopes", noted)
    assert hull_point(problem, relaxation(problem).price, 1.05) is not None
    assert got == [(False, False)]
