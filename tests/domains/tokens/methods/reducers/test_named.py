"""Published reducers: small cases by hand, exact counts, and what they make of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import tokens
from hra.errors import ArrayError, MetricError
from tests.helpers.named_cases import PATCH, realized

EVERY = pytest.mark.parametrize("name", tokens.REDUCERS)


def cells(chosen: Any) -> list[list[int]]:
    return [[int(y), int(x)] for _, x, y in chosen.places]


@EVERY
@pytest.mark.parametrize("budget", [1, 5, 12, 20, 99])
def test_counts_are_exact(name, budget):
    rng = np.random.default_rng(0)
    chosen = realized(name, rng.normal(size=(4, 5, 6)), budget, rng.random((4, 5)), shallow=rng.random(20))
    assert len(chosen) == min(budget, 20)
    pooled = chosen.pool(rng.normal(size=(4, 5, 3)))
    assert pooled.shape == (min(budget, 20), 3) and np.isfinite(pooled).all()


@EVERY
def test_all_kept_are_the_features_themselves(name):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(3, 4, 5)).astype(np.float32)
    chosen = realized(name, features, 12, rng.random((3, 4)), shallow=rng.random(12))
    if name == "prumerge":  # adds neighbours to kept cells, too, as its code does
        return
    order = np.lexsort(chosen.centres.T)
    np.testing.assert_allclose(chosen.pool(features)[order], features.reshape(12, 5), atol=1e-6)


def test_visionzip_by_hand():
    # 13 cells on a line: with a budget of 6, largest remainders of 54:10 give 5 and 1.
    attention = np.array([[9.0, 0, 8, 0, 7, 0, 6, 0, 5, 0, 0, 0, 0]])
    features = np.arange(1.0, 14)[None, :, None] * [1.0, 0.0]
    features[0, 12] = [0.0, 7.0]  # unlike the others, but there is one target only
    chosen = realized("visionzip", features, 6, attention + 0.001)
    assert cells(chosen) == [[0, 0], [0, 1], [0, 2], [0, 4], [0, 6], [0, 8]]
    rest = features[0, [3, 5, 7, 9, 10, 11, 12]]
    expected = features[0, [0, 1, 2, 4, 6, 8]].copy()
    expected[1] += rest.mean(axis=0)  # the first of the rest, plus the mean of all others
    np.testing.assert_allclose(chosen.pool(features), expected)


def test_vscan_by_hand():
    # Shallow attention finds the last cell of its window, deep attention the first; the others join by likeness.
    features = np.array([[[1.0, 0], [1, 0.1], [0.1, 1], [0, 1]]])
    chosen = realized("vscan", features, 2, [[4.0, 3, 2, 1]], shallow=[1.0, 2, 3, 4])
    assert cells(chosen) == [[0, 0], [0, 3]]
    np.testing.assert_allclose(chosen.pool(features), [[1, 0.05], [0.05, 1]], atol=1e-6)


def test_prumerge_by_hand():
    # One of four by attention, three spread evenly over the rest: with all neighbours counted, each token is itself
    # plus every other cell weighted by its share of attention.
    features = np.array([[[1.0], [2], [3], [4], [5], [6]]])
    attention = np.array([[0.1, 0.1, 0.5, 0.1, 0.1, 0.1]])
    chosen = realized("prumerge", features, 4, attention)
    assert cells(chosen) == [[0, 0], [0, 1], [0, 2], [0, 3]]
    total = float((attention[0] * features[0, :, 0]).sum())
    expected = [x + total - a * x for x, a in zip(features[0, :4, 0], attention[0], strict=False)]
    np.testing.assert_allclose(chosen.pool(features)[:, 0], expected, rtol=1e-6)


def test_holov_by_hand():
    # Sixteen runs of two cells. Run 0 has half of all attention and room for two cells only; of ten that are asked for,
    # floor(5, 2.5, 2.5, 0 ...) and one more for the largest are 2 of run 0, 2 each of runs 1 and 2, and four runs more.
    attention = np.zeros((4, 8))
    attention.ravel()[:6] = [4, 6, 2, 3, 3, 2]
    chosen = realized("holov", np.ones((4, 8, 2)), 10, attention)
    assert cells(chosen)[:6] == [[0, k] for k in range(6)]
    assert len(chosen) == 10 and cells(chosen)[6:] == [[0, 6], [1, 0], [1, 2], [1, 4]]
    assert cells(realized("holov", np.ones((4, 8, 2)), 2, attention)) == [[0, 0], [0, 1]]  # floor(1, .5, .5), and one


def test_prunevid_by_hand():
    # Eight alike and eight others: the densest of each are the centres, and a token is the mean of its cluster.
    features = np.concatenate([np.arange(8) / 10, 50 + np.arange(8) / 10])[None, :, None]
    chosen = realized("prunevid", features, 2)
    assert [3 <= cell[1] % 8 <= 4 for cell in cells(chosen)] == [True, True]
    np.testing.assert_allclose(chosen.pool(features)[:, 0], [0.35, 50.35], rtol=1e-6)


def test_flowcut_is_the_largest_flow():
    assert cells(realized("flowcut", np.ones((2, 2, 2)), 2, [[0.2, 0.5], [0.9, 0.1]])) == [[0, 1], [1, 0]]


def shades(rows: list[str]) -> np.ndarray:
    """A picture of patches of one shade each."""
    values = np.array([[int(each) for each in row] for row in rows], np.float32) / 9
    return np.repeat(np.kron(values, np.ones((PATCH, PATCH), np.float32))[..., None], 3, axis=2)


def test_pixelprune_by_hand():
    # In row 1 the first 5 stands below an edge, where the one above predicts it; in row 2 all begins anew, once.
    image = shades(["1155", "1155", "2222"])
    relevance = tokens.REDUCERS["pixelprune"](patch=PATCH).context(image, "").relevance
    np.testing.assert_allclose(9 * relevance, [[9, 0, 4, 0], [0, 0, 0, 0], [1, 0, 0, 0]], atol=1e-6)
    allocator = tokens.REDUCERS["pixelprune"](patch=PATCH)
    assert cells(allocator.realize(allocator.allocate((image, ""), 3))) == [[0, 0], [0, 2], [2, 0]]


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**31))
@settings(max_examples=30)
def test_a_receiver_of_what_pixelprune_keeps_tells_the_picture(rows, columns, seed):
    shade = np.random.default_rng(seed).integers(0, 3, (rows, columns))
    image = shades(["".join(map(str, row)) for row in shade])
    kept = tokens.REDUCERS["pixelprune"](patch=PATCH).context(image, "").relevance > 0
    told = np.zeros_like(shade)
    for y, x in np.ndindex(rows, columns):
        if kept[y, x]:
            told[y, x] = shade[y, x]
        elif y and x and told[y - 1, x - 1] == told[y, x - 1] != told[y - 1, x]:
            told[y, x] = told[y - 1, x]
        else:
            told[y, x] = told[y, x - 1] if x else told[y - 1, x]
    np.testing.assert_array_equal(told, shade)


def test_hired_and_fastv_are_the_largest_attention():
    attention = [[0.1, 0.7, 0.2], [0.9, 0.3, 0.4]]
    for name in ("hired", "fastv"):
        assert cells(realized(name, np.ones((2, 3, 2)), 3, attention)) == [[0, 1], [1, 0], [1, 2]]


def test_hired_budgets_count_the_most_attended_cells_of_each_tile():
    # Eight of sixteen cells count; their attention does not, unless it is asked for by name.
    attention = np.array([[90.0, 0, 5, 4], [0, 0, 6, 7], [0, 0, 1, 2], [0, 0, 0, 3]])
    assert tokens.hired_budgets(attention, (2, 2), 32) == [16, 2, 8, 0, 6]
    by_sum = tokens.hired_budgets(attention, (2, 2), 32, by="attention")
    assert by_sum[1] > by_sum[2] and sum(by_sum) == 32
    assert tokens.hired_budgets(attention, (2, 2), 33)[0] == 16  # rounded down, as the code does
    # A list of cells in as many runs is what the public code cuts: bands of the overview.
    assert tokens.hired_budgets(attention.reshape(4, 4), (4, 1), 32) == [16, 6, 4, 4, 2]
    full = tokens.hired_budgets(attention, (2, 2), 60, cells=12)
    assert full == [12, 12, 12, 12, 12] and max(tokens.hired_budgets(attention, (2, 2), 40, cells=12)) == 12
    for wrong in (np.array([[-1.0]]), np.array([[np.nan]])):
        with pytest.raises(ArrayError, match="negative or not finite"):
            tokens.hired_budgets(wrong, (1, 1), 4)
    with pytest.raises(ArrayError, match="by 'sum' is unknown"):
        tokens.hired_budgets(attention, (2, 2), 4, by="sum")  # pyright: ignore[reportArgumentType]


def test_prumerge_reads_the_last_layer_and_the_next_to_last_by_name():
    for options, reads in (({}, "joint"), ({"reads": "attention"}, "attention")):
        assert vars(tokens.REDUCERS["prumerge"](**options))["reads"] == reads
    # Attention that adds up to less than 1, as that of a class token to patches, is a weight as it is.
    features = np.array([[[1.0], [2]]])
    assert realized("prumerge", features, 1, [[0.3, 0.2]]).pool(features).item() == pytest.approx(1 + 0.2 * 2)


def test_cdpruner_prefers_what_is_relevant_and_different():
    features = np.array([[[1.0, 0], [1, 0.01], [0, 1], [0.01, 1]]])
    assert cells(realized("cdpruner", features, 2, [[1.0, 0.99, 0.2, 0.3]])) == [[0, 0], [0, 3]]


def test_tome_weights_by_sizes():
    features = np.arange(1.0, 7)[None, :, None] * [1.0, 1.0] + np.array([0, 1e-3])
    np.testing.assert_allclose(realized("tome", features, 1).pool(features), features[0].mean(0, keepdims=True))


def test_features_of_another_grid_are_refused():
    chosen = realized("divprune", np.random.default_rng(0).normal(size=(3, 4, 5)), 4)
    with pytest.raises(ArrayError, match="cells for tokens"):
        chosen.pool(np.ones((6, 8, 2)))


@pytest.mark.parametrize("method", ["prumerge", "visionzip"])
def test_keys_come_in_rows_or_as_a_list(method):
    rng = np.random.default_rng(0)
    features, keys, scores = rng.random((6, 8, 5)), rng.random((6, 8, 4)), rng.random((6, 8))
    allocator, made = tokens.REDUCERS[method](), []
    for form in (keys, keys.reshape(48, 4)):
        context = tokens.TokenContext.of_features(features, relevance=lambda seen: scores, signals={"keys": form})
        made.append(allocator.realize(allocator.allocate(context, 9)).pool(features))
    assert np.array_equal(*made)
    context = tokens.TokenContext.of_features(features, relevance=lambda seen: scores, signals={"keys": keys[:5]})
    with pytest.raises(MetricError, match=r"keys of shape \(5, 8, 4\) for 6 x 8 cells"):
        allocator.realize(allocator.allocate(context, 9)).pool(features)


def test_a_batch_is_not_taken_for_a_long_picture():
    of_features = tokens.TokenContext.of_features
    with pytest.raises(ArrayError, match=r"\(4, 577, 64\) may be a batch of 4 images"):
        of_features(np.zeros((4, 577, 64)))
    assert of_features(np.zeros((4, 577, 64)), grid=(4, 577)).grid == (4, 577)
    assert of_features(np.zeros((576, 64)), grid=(18, 32)).grid == (18, 32)
    assert of_features(np.zeros((576, 64)), grid=(18, 32)).features.shape == (18, 32, 64)
    assert of_features(np.zeros((3, 48, 4))).grid == (3, 48)
    with pytest.raises(ArrayError, match="not those of a grid"):
        of_features(np.zeros((2, 576, 64)), grid=(18, 32))
