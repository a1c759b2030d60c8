"""Sizes as texts."""

from __future__ import annotations

import pytest

from hra.console import byte_count, size
from hra.errors import HraError


@pytest.mark.parametrize(
    ("argument", "expected"), [("64MB", 64e6), ("512KiB", 2**19), ("4096", 4096), ("1.5 GiB", 1.5 * 2**30)]
)
def test_byte_counts(argument: str, expected: float):
    assert byte_count(argument) == expected


@pytest.mark.parametrize("argument", ["", "MB", "-1", "1XB", "nan", "inf"])
def test_bad_byte_counts(argument: str):
    with pytest.raises(HraError, match="byte count"):
        byte_count(argument)


def test_sizes():
    assert size("1920x1080") == (1920, 1080)
