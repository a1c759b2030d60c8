from __future__ import annotations

import pytest

from hra.domains.meshes.files.structure import Misfit, number, whole


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (True, "True"),
        ("x" * 38, "'" + "x" * 38 + "'"),
        ("x" * 39, "'" + "x" * 39 + "..."),
    ],
)
def test_a_value_of_another_kind_is_shown_shortly(value: object, shown: str) -> None:
    for kind, name in ((whole(), "a whole number"), (number(), "a number")):
        with pytest.raises(Misfit) as caught:
            kind(value, {})
        assert caught.value.what == f"{shown} is not {name}"


def test_a_number_of_many_bits_is_not_shown() -> None:
    for value, shown in ((2**128, "a number of 129 bits"), (2**128 - 1, f"{2**128 - 1}")):
        with pytest.raises(Misfit) as caught:
            whole()(value, {})
        assert caught.value.what == f"{shown} is out of range"


def test_what_float32_rounds_beyond_a_bound_is_the_bound() -> None:
    assert number(0, 1)(1.00000012, {}) == 1.0 and number(-1, 1)(-1.0000001, {}) == -1.0
    for value in (1.00001, -1e-9):
        with pytest.raises(Misfit):
            number(0, 1)(value, {})
