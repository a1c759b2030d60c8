"""Frequency-aware tokens: how directions, bands and places share the budget."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.context.context import UniformRelevance
from hra.domains.tokens.methods.frequency.frames import LaplacianFrame
from hra.domains.tokens.methods.frequency_aware import FrequencyAware, FrequencyBuilder, direction_weights
from hra.errors import ArrayError

DIRECTIONS = [0.0, 45.0, 90.0, 135.0]


def counts_by_direction(image: np.ndarray, query: str) -> dict[float | None, int]:
    allocator = FrequencyAware()
    tokens = allocator.realize(allocator.allocate((image, query), 273))
    bands = tokens.frame.bands(tokens.image_size, 16)
    found = [bands[band].direction for band in tokens.places[:, 0]]
    return {direction: found.count(direction) for direction in [*DIRECTIONS, None]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Read the text!", [128, 32, 32, 32]),
        ("which buildings are old?", [32, 32, 128, 32]),
        ("what is this?", [56, 56, 56, 56]),
        ("the tower beside the words", [32, 32, 128, 32]),
    ],
)
def test_of_224_oriented_tokens_the_query_gives_128_to_one_direction(smooth_noise, query, expected):
    counts = counts_by_direction(smooth_noise(512, 512), query)
    assert [counts[direction] for direction in DIRECTIONS] == expected
    assert counts[None] == 49


def test_weights_add_up_and_do_not_match_parts_of_words():
    even = np.ones(4)
    assert direction_weights("", DIRECTIONS, even).tolist() == [0.25] * 4
    assert direction_weights("context, households and reading", DIRECTIONS, even).tolist() == [0.25] * 4
    assert direction_weights("lines", DIRECTIONS, even).sum() == pytest.approx(1)
    assert direction_weights("text", [45.0, 135.0], np.ones(2)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("options", [{}, {"first": "space"}, {"frame": LaplacianFrame()}])
def test_the_low_pass_rest_comes_first(smooth_noise, options):
    allocator = FrequencyAware(UniformRelevance(), **options)
    image = smooth_noise(256, 256)
    tokens = allocator.realize(allocator.allocate((image, ""), 32))
    assert tokens.places[:, 0].max() == len(tokens.frame.bands((256, 256), 16)) - 1
    assert np.square(tokens.reconstruct() - image).mean() < 0.5 * image.var()


@pytest.mark.parametrize("first", ["bands", "space"])
def test_tokens_of_a_direction_are_taken_by_energy(first):
    image = np.random.default_rng(0).random((256, 256, 3), np.float32)  # no direction stands out
    allocator = FrequencyAware(UniformRelevance(), first=first)
    allocation = allocator.allocate((image, ""), 100)
    hierarchy, taken = allocation.hierarchy, np.zeros(len(allocation.hierarchy), bool)
    taken[allocation.cut] = True
    everything = allocator.builder.tokens(allocation.context, hierarchy, np.arange(taken.size))
    energy = np.square(everything.values, dtype=np.float64).sum(axis=1)
    for stratum in np.unique(hierarchy.attribute("stratum")):
        inside = hierarchy.attribute("stratum") == stratum
        if (inside & ~taken).any() and (inside & taken).any():
            assert energy[inside & taken].min() >= energy[inside & ~taken].max() * (1 - 1e-5)


def test_space_first_gives_detail_to_the_detailed_corner(smooth_noise):
    image = np.full((512, 512, 3), 0.5, np.float32)
    image[:128, :128] = np.random.default_rng(0).random((128, 128, 3))
    allocator = FrequencyAware(UniformRelevance(), first="space")
    tokens = allocator.realize(allocator.allocate((image, ""), 100))
    corner = (tokens.boxes[:, 2] <= 144) & (tokens.boxes[:, 3] <= 144)
    assert corner.mean() > 0.4


def test_places_are_cells_of_a_four_by_four_grid(smooth_noise):
    allocator = FrequencyAware(first="space")
    hierarchy = allocator.hierarchy_for((smooth_noise(512, 512), ""))
    fine = hierarchy.attribute("band") == 0
    x, y, stratum = (hierarchy.attribute(name)[fine] for name in ("x", "y", "stratum"))
    assert np.array_equal(stratum, y // 8 * 4 + x // 8)
    assert np.count_nonzero(hierarchy.attribute("stratum") == 16) == 1


def test_a_named_direction_weighs_the_gain_of_places():
    image, allocator = np.random.default_rng(0).random((256, 256, 3), np.float32), FrequencyAware(first="space")
    plain, named = (allocator.hierarchy_for((image, query)).attribute("gain") for query in ("", "read the text"))
    band = allocator.hierarchy_for((image, "")).attribute("band")
    bands = allocator.realize(allocator.allocate((image, ""), 1)).frame.bands((256, 256), 16)
    for number, each in enumerate(bands):
        expected = {None: 1, 0.0: 16 / 7}.get(each.direction, 4 / 7)
        np.testing.assert_allclose(named[band == number], expected * plain[band == number])


def test_relevance_decides_between_places(smooth_noise):
    scores = np.full((16, 16), 0.01)
    scores[:, 8:] = 1
    allocator = FrequencyAware(lambda context: scores, frame=LaplacianFrame())
    tokens = allocator.realize(allocator.allocate((smooth_noise(256, 256), ""), 60))
    fine = tokens.places[:, 0] <= 1
    assert (tokens.boxes[fine, 2] > 128).mean() > 0.9


def test_overlapping_bands_claim_no_certificate(smooth_noise):
    assert FrequencyAware().allocate((smooth_noise(64, 64), ""), 20).status == "heuristic"


def test_unknown_orders_are_refused():
    with pytest.raises(ArrayError, match=r"first .time. is unknown"):
        FrequencyBuilder(first="time")  # pyright: ignore[reportArgumentType]


def stripes(direction: float) -> np.ndarray:
    """Stripes that run in ``direction`` degrees, [256, 256, 3]."""
    y, x = np.indices((256, 256))
    across = y * np.cos(np.deg2rad(direction)) - x * np.sin(np.deg2rad(direction))
    return np.repeat(0.5 + 0.4 * np.sin(across / 2)[..., None], 3, axis=2).astype(np.float32)


@pytest.mark.parametrize("direction", [0.0, 90.0])
def test_a_vague_query_follows_the_content(direction):
    allocator = FrequencyAware(UniformRelevance())
    chosen = allocator.realize(allocator.allocate((stripes(direction), "what is this?"), 200))
    bands = chosen.frame.bands((256, 256), 16)
    found = [bands[band].direction for band in chosen.places[:, 0]]
    counts = {each: found.count(each) for each in (0.0, 45.0, 90.0, 135.0)}
    others = {each: count for each, count in counts.items() if each != direction}
    assert counts[direction] > 3 * max(others.values()) and len(set(others.values())) <= 2


def test_the_query_comes_before_the_content_and_noise_is_isotropic(smooth_noise):
    allocator = FrequencyAware(UniformRelevance())

    def counts(image, query):
        chosen = allocator.realize(allocator.allocate((image, query), 200))
        bands = chosen.frame.bands((256, 256), 16)
        found = [bands[band].direction for band in chosen.places[:, 0]]
        return [found.count(each) for each in (0.0, 45.0, 90.0, 135.0)]

    assert np.argmax(counts(stripes(90.0), "read the text")) == 0
    noise = np.random.default_rng(0).random((256, 256, 3), np.float32)
    assert max(counts(noise, "")) - min(counts(noise, "")) <= 1
