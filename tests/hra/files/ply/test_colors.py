"""Colours of an element by any of their names; what cannot be colours under other names is none."""

from __future__ import annotations

import numpy as np
import pytest

from hra.errors import RepairWarning
from hra.files.ply.colors import color_shares, ply_colors


def columns(names: str, values: list[float], kind: str = "u1") -> dict[str, np.ndarray]:
    return {name: np.array(values, kind) for name in names.split()}


@pytest.mark.parametrize("names", ["red green blue", "diffuse_red diffuse_green diffuse_blue", "r g b"])
def test_colours_have_three_names(names: str) -> None:
    found, used = ply_colors(columns(names, [0, 51, 255]), "a.ply")
    assert found is not None and found[:, 0].tolist() == [0, 0.2, 1] and list(used) == names.split()


def test_red_comes_first_and_may_be_wrong() -> None:
    both = columns("r g b", [0, 51, 255]) | columns("red green blue", [-1, 0, 7], "i2")
    found, used = ply_colors(both, "a.ply")
    assert found is not None and found.min() < 0 and used == ("red", "green", "blue")
    assert ply_colors(columns("r g b", [-1, 0, 7], "i2"), "a.ply") == (None, ())


def test_fractions_above_1_are_of_8_bits() -> None:
    with pytest.warns(RepairWarning, match="colours go up to 51"):
        assert color_shares(np.array([[51.0, 0, 25.5]]), "a.obj").tolist() == [[0.2, 0, 0.1]]
    assert color_shares(np.empty((0, 3)), "a.obj").shape == (0, 3)
