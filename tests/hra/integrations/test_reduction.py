"""A reduction by name: what is none is refused before a model is loaded, and images are told apart by all they show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from hra.errors import ArrayError, HraError, InvalidBudget
from hra.integrations.reduction import Reduction, digest


@pytest.mark.parametrize(
    "wrong", [{"realize": "mean"}, {"positions": "closed"}, {"realize": None}, {"method": None}, {"method": 3}]
)
def test_what_is_unknown_is_refused_at_once(wrong: dict[str, Any]) -> None:
    """Programs load their model, and ask for the first answer, long after they have read their options."""
    with pytest.raises(HraError) as refused:
        Reduction(**{"method": "divprune", **wrong})
    assert refused.value.where in wrong and refused.value.fix


@pytest.mark.parametrize("budget", [0, -1, 2.5, "64", True, None])
def test_a_budget_is_a_whole_number(budget: Any) -> None:
    with pytest.raises(InvalidBudget, match="budget"):
        Reduction("divprune", budget)


def test_whole_numbers_of_numpy_are_those_of_python() -> None:
    some: Any = np.int64(8)
    assert Reduction("divprune", some).key("a") == Reduction("divprune", 8).key("a")


@pytest.mark.parametrize("table", [None, "divprune", 5, ["method"]])
def test_what_is_no_table_is_named(table: Any) -> None:
    with pytest.raises(HraError, match="reduction must be a Mapping"):
        Reduction.of(table)


def test_the_palette_of_an_image_counts() -> None:
    """Its pixels are places in the palette: images of two palettes had one name, and one answer in a cache."""
    images = []
    for colours in ((0, 0, 0, 255, 0, 0), (0, 0, 0, 0, 0, 255)):
        image = Image.fromarray(np.array([[0, 1], [1, 0]], np.uint8), "L").convert("P")
        image.putpalette(colours)
        images.append(image)
    assert digest(images[0]) != digest(images[1]) and digest(images[0]) == digest(images[0].copy())
    assert digest(images[0]) == digest(images[0].convert("RGBA"))


@pytest.mark.parametrize("wrong", [None, [[1], [1, 2]], object()], ids=["none", "ragged", "an object"])
def test_what_is_no_image_has_no_name(wrong: Any) -> None:
    """The name of an object was that of its place in memory."""
    with pytest.raises(ArrayError):
        digest(wrong)
