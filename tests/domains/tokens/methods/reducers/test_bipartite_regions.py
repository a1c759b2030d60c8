from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.methods.reducers.bipartite_regions import bipartite_merges
from tests.helpers.named_cases import realized


def test_tome_merges_the_most_similar_first():
    # Even cells 0, 2 meet odd cells 1, 3: 0 is like 1, so one merge leaves their mean.
    features = np.array([[[1.0, 0.0], [1, 0.05], [0, 1], [-0.5, 1]]])
    pooled = realized("tome", features, 3).pool(features)
    np.testing.assert_allclose(pooled[np.argsort(pooled[:, 0])], [[-0.5, 1], [0, 1], [1, 0.025]], atol=1e-6)
    assert bipartite_merges(features[0]).tolist() == [[0, 1], [2, 3], [4, 5]]


def merges_by_means(features: np.ndarray) -> list[list[int]]:
    """Rounds as the paper says them: cosines of means, which are weighted by sizes, one merge after the other."""
    left = [(number, 1.0, row.astype(np.float64)) for number, row in enumerate(features)]
    merges: list[list[int]] = []
    while len(left) > 1:
        unit = np.array([mean / np.linalg.norm(mean) for _, _, mean in left])
        cosine = unit[::2] @ unit[1::2].T
        order = np.argsort(-cosine.max(axis=1), kind="stable")[: len(left) // 2]
        for even, odd in zip(2 * order, 2 * cosine.argmax(axis=1)[order] + 1, strict=True):
            (a, m, x), (b, n, y) = left[even], left[odd]
            merges.append([a, b])
            left[odd] = (len(features) + len(merges) - 1, m + n, (m * x + n * y) / (m + n))
        left = [each for number, each in enumerate(left) if number not in set(2 * order)]
    return merges


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 101])
def test_tome_merges_as_the_paper_says(count):
    features = np.random.default_rng(count).normal(size=(count, 9)).astype(np.float32)
    before = features.copy()
    assert bipartite_merges(features).tolist() == merges_by_means(features)
    np.testing.assert_array_equal(features, before)
