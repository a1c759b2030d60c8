"""Entropy of attention per base token, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.fixation.attention_entropy import attention_entropy
from hra.errors import MetricError


def test_attention_that_comes_from_everywhere_is_undecided():
    attention = np.array([[1.0, 1.0, 0.0, 3.0], [1.0, 0.0, 0.0, 1.0]])
    expected = [1, 0, 0, -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))]
    assert attention_entropy(attention) == pytest.approx(expected)
    for bad in (np.ones(3), -np.ones((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(MetricError):
            attention_entropy(bad)
