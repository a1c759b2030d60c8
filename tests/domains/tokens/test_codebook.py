"""Codebooks: nearest codes against all distances, bytes, adaptation, mixing, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.errors import ArrayError


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 6), st.integers(0, 99))
def test_the_nearest_codes_are_those_of_all_distances(rows: int, size: int, width: int, seed: int):
    values, book = normal(rows, width, seed=seed), tokens.Codebook(normal(size, width, seed=seed + 1))
    exact = ((values[:, None] - book.codes) ** 2).sum(2)
    number, distance = book.nearest(values, size)
    assert np.allclose(np.sort(exact, axis=1), distance, atol=1e-4)
    assert np.allclose(np.take_along_axis(exact, number, 1), distance, atol=1e-4)
    assert np.array_equal(book.encode(values), number[:, 0]) or np.allclose(exact.min(1), distance[:, 0], atol=1e-4)


def test_what_all_tokens_have_in_common_hides_no_code():
    values = normal(500, 8) + 1000
    book = tokens.Codebook(values[:50])
    number, distance = book.nearest(values, 1)
    exact = ((values[:, None].astype(np.float64) - book.codes) ** 2).sum(2)
    assert np.array_equal(number[:, 0], exact.argmin(1)) and np.allclose(distance[:, 0], exact.min(1))


def test_more_codes_leave_less_error_and_as_many_as_tokens_leave_none():
    pytest.importorskip("sklearn")
    values = normal(64, 3)
    left = [
        float(np.square(book.decode(book.encode(values)) - values).mean())
        for book in (tokens.Codebook.fit(values, size) for size in (1, 8, 64))
    ]
    assert left[0] > left[1] > left[2] and left[2] == pytest.approx(0, abs=1e-6)
    assert np.array_equal(tokens.Codebook.fit(values, 8).codes, tokens.Codebook.fit(values, 8).codes)


def test_tokens_that_are_alike_take_one_code():
    """A page is mostly empty: a start that draws its patches at random takes the empty one again and again."""
    pytest.importorskip("sklearn")
    values = np.concatenate([np.zeros((900, 4), np.float32), normal(100, 4)])
    book = tokens.Codebook.fit(values, 50)
    assert len(np.unique(book.encode(values))) == 50 == len(book.codes)
    assert len(tokens.Codebook.fit(values, 500).codes) == 101


def test_a_tree_of_codes_is_nearly_as_good_as_all_at_once(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("sklearn")
    values = normal(1500, 3)
    flat = tokens.Codebook.fit(values, 200)
    monkeypatch.setattr("hra.domains.tokens.codebook._FLAT", 20)
    tree = tokens.Codebook.fit(values, 200)
    missed = [float(book.nearest(values, 1)[1].mean()) for book in (flat, tree)]
    assert len(tree.codes) == 200 and missed[1] < 1.15 * missed[0]


@pytest.mark.parametrize(("size", "expected"), [(1, 35), (2, 35), (1024, 342), (1025, 376), (8192, 444)])
def test_numbers_take_as_many_bits_as_the_size_needs(size: int, expected: int):
    assert tokens.Codebook(np.zeros((size, 1), np.float32)).bytes_for(273) == expected


def test_examples_that_no_code_is_near_to_take_the_place_of_twins():
    codes = np.array([[0, 0], [0.1, 0], [5, 5], [9, 0]], np.float32)
    book = tokens.Codebook(codes).adapted([[20.0, 20.0], [0.02, 0.0]])
    assert book.nearest([[20, 20]], 1)[1][0, 0] == 0
    assert len(book.codes) == 4 and np.array_equal(book.codes[2:], codes[2:])
    assert book.nearest([[0.05, 0.0]], 1)[1][0, 0] < 0.01  # one of the twins is left


def test_mixed_codebooks_keep_the_first_ones_numbers_and_are_never_worse():
    one, other, values = tokens.Codebook(normal(5, 2)), tokens.Codebook(normal(7, 2, seed=1)), normal(50, 2, seed=2)
    both = one.mixed(other)
    assert np.array_equal(both.codes[:5], one.codes) and len(both.codes) == 12
    assert (both.nearest(values, 1)[1] <= one.nearest(values, 1)[1]).all()


def test_codes_may_be_a_list_or_a_tensor():
    assert tokens.Codebook([[0.0, 0.0], [1.0, 1.0]]).encode([[0.9, 0.7]]).tolist() == [1]  # pyright: ignore
    torch = pytest.importorskip("torch")
    codes = torch.eye(2, dtype=torch.bfloat16, requires_grad=True)
    assert tokens.Codebook(codes).encode(codes).tolist() == [0, 1]  # pyright: ignore


@pytest.mark.parametrize("codes", [np.zeros((0, 2)), np.zeros(3), [[np.nan]], None, [["a"]]])
def test_what_is_no_codebook_is_refused(codes):
    with pytest.raises(ArrayError):
        tokens.Codebook(codes)


def test_what_does_not_fit_is_refused():
    book = tokens.Codebook(normal(4, 3))
    for bad in (
        lambda: book.encode(normal(2, 2)),
        lambda: book.nearest(normal(2, 3), 5),
        lambda: book.decode([4]),
        lambda: book.decode([0.5]),
    ):
        with pytest.raises(ArrayError):
            bad()
    with pytest.raises(ArrayError):
        book.encode([[np.nan, 0, 0]])
    with pytest.raises(ArrayError):
        book.mixed(tokens.Codebook(normal(4, 2)))
    pytest.importorskip("sklearn")
    with pytest.raises(ArrayError, match="5 codes"):
        tokens.Codebook.fit(normal(4, 3), 5)
    for size, seed in ((1.5, 0), (True, 0), ("2", 0), (2, -1), (2, 0.5), (2, 2**32)):
        with pytest.raises(ArrayError):
            tokens.Codebook.fit(normal(4, 3), size, seed=seed)  # pyright: ignore
