from __future__ import annotations

from typing import Any

import pytest

import hra
from hra.testing import CheckFailed, check_traversal
from tests.helpers.hierarchies import FORESTS
from tests.helpers.traversal_cases import Greedy


def test_the_soft_cut_passes_on_forests():
    pytest.importorskip("torch")
    check_traversal(hra.SoftCut(0.1), kinds=FORESTS, instances=2)


@pytest.mark.unverified
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ({"overspend": 2.0}, "spent"),
        ({"orphans": True}, "without its predecessors"),
        ({"shortfall": 0.0}, "above the bound"),
        ({"forgetful": True}, "another answer"),
    ],
)
def test_mistakes_of_a_traversal_are_named_with_their_instance(mistake: dict[str, Any], message: str):
    with pytest.raises(CheckFailed, match=message) as caught:
        check_traversal(Greedy(**mistake))
    assert "seed" in caught.value.where


def test_what_a_traversal_is_not_made_for_is_left_out_by_name():
    with pytest.raises(CheckFailed, match="flat"):
        check_traversal(hra.Apportion(), kinds=["replace"], instances=3)
