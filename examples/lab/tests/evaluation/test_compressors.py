"""Selection and compression side by side: counts, decoders by hand, and a training that pays."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.pyramid.blocks import cell_means
from hra_lab.evaluation.compressors.decoder import Decoder
from hra_lab.evaluation.compressors.page import findings, render
from hra_lab.evaluation.compressors.run import SMALL, run

pytest.importorskip("torch")


def test_every_way_is_judged_at_its_count():
    record = run(SMALL, lambda text: None)
    kinds = ["pooling, repeated", "pooling, decoded", "learned, decoded"]
    for name in ("photo.jpg", "earth.jpg", "page.png"):
        rows = [row for row in record["rows"] if row["picture"] == name]
        assert [(row["kind"], row["base"], row["single"]) for row in rows] == [
            ("even grid", 0, 16), ("most relevant", 0, 16), *[(kind, 16, 0) for kind in kinds],
            *[(kind, 8, 8) for kind in kinds],
        ]  # fmt: skip
        assert all(row["left"] > 0 and np.isfinite(row["left_where_it_matters"]) for row in rows)
    text = render(record)["compressors.md"].decode()
    assert "$" not in text and "256 to 16 here" in text and len(findings(record["rows"])) == 3


def test_a_repeated_token_is_every_feature_of_its_cell():
    tokens = np.arange(8.0).reshape(2, 2, 2)
    shown = Decoder.repeating(2, (1, 3)).decode(tokens)
    np.testing.assert_array_equal(shown, tokens.repeat(3, axis=1))


def test_the_decoder_finds_a_linear_rule():
    # The second feature of each cell is twice the first and one more: told from their mean but for the price.
    first = np.random.default_rng(0).normal(size=(60, 1, 1))
    whole = np.stack([first[..., 0], 2 * first[..., 0] + 1], axis=1)
    tokens = cell_means(whole, (60, 1))
    shown = Decoder.fitted([tokens], [whole], (1, 2)).decode(tokens)
    assert np.abs(shown - whole).max() < 0.02
    assert np.abs(Decoder.repeating(1, (1, 2)).decode(tokens) - whole).max() > 0.5


def waves(seed: int, side: int = 64) -> np.ndarray:
    """Sixteen numbers that are two sums of waves, mixed: a mean over a cell says two things, sixteen could be said."""
    rng = np.random.default_rng(seed)
    y, x = (axis[..., None] for axis in np.indices((side, side)))
    angles = rng.uniform(0, 2 * np.pi, 12) + x * rng.uniform(-0.9, 0.9, 12) + y * rng.uniform(-0.9, 0.9, 12)
    fields = np.sin(angles).reshape(side, side, 2, 6).sum(axis=3)
    return (fields @ np.random.default_rng(0).normal(size=(2, 16))).astype(np.float32)


@pytest.mark.slow
def test_training_tells_more_than_pooling_of_pictures_that_it_has_not_seen():
    from hra.model.arrays import to_numpy
    from hra_lab.evaluation.compressors.training import trained

    known, other, cell = [waves(1), waves(2), waves(3)], waves(9), (4, 4)
    network = trained(known, cell, 250, lambda text: None)

    def left(compressor) -> float:
        decoder = Decoder.fitted([to_numpy(compressor(each, (16, 16))) for each in known], known, cell)
        return float(((other - decoder.decode(to_numpy(compressor(other, (16, 16))))) ** 2).mean())

    assert left(network) < 0.7 * left(cell_means)
