"""Images read block by block: the same patches and errors as in memory, and never more than a block at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.patches.streamed import StreamedImage
from hra.errors import ArrayError, BudgetTooSmall
from tests.helpers.reader_cases import needs_reader, page


class Watched:
    """An image that notes what is read of it at once."""

    def __init__(self, pixels: np.ndarray) -> None:
        self.pixels, self.most = pixels, 0
        self.shape = pixels.shape

    def __getitem__(self, key: Any) -> np.ndarray:
        part = self.pixels[key]
        self.most = max(self.most, part.shape[0] * part.shape[1])
        return part


@pytest.mark.parametrize("size", [(300, 500), (1, 1), (37, 2100), (1100, 1030)])
def test_tokens_are_the_patches_of_the_pyramid_in_memory(smooth_noise, size):
    image = smooth_noise(*size)
    streamed, pyramid = StreamedImage.read(image), tokens.PatchPyramid.build(image)
    allocator = tokens.StreamedPyramid(tokens.UniformRelevance())
    finest = int(pyramid.offsets[1])
    for budget in (1, 7, 64, 10_000):
        chosen = allocator.realize(allocator.allocate((streamed, ""), budget))
        assert len(chosen) == min(budget, finest)
        assert np.allclose(chosen.values, pyramid.values(chosen.places), atol=1e-5)
        assert len(np.unique(chosen.places, axis=0)) == len(chosen)


def test_the_residual_is_the_error_of_repeated_pixels(smooth_noise):
    image = smooth_noise(512, 1024)
    allocator = tokens.StreamedPyramid(tokens.UniformRelevance())
    allocation = allocator.allocate((StreamedImage.read(image), ""), 150)
    chosen = allocator.realize(allocation)
    detail, shown = chosen.shown_detail().astype(int), np.empty_like(image)
    for level, pixels in enumerate(tokens.PatchPyramid.build(image).levels):
        whole = pixels.repeat(2**level, axis=0).repeat(2**level, axis=1)[:512, :1024]
        shown[detail == level] = whole[detail == level]
    assert allocation.residual == pytest.approx(np.mean((image - shown) ** 2), rel=1e-3)
    assert allocation.status in ("optimal", "certified") and allocation.gap < 1e-3


def test_the_choice_is_nearly_as_good_as_that_of_the_whole_hierarchy(smooth_noise):
    image = smooth_noise(1024, 1024)
    allocator = tokens.StreamedPyramid(tokens.UniformRelevance())
    streamed = StreamedImage.read(image)
    some = allocator.allocate((streamed, ""), 40)
    every = allocator.allocate((streamed, ""), 400)
    assert some.hierarchy.node_cost.size < every.hierarchy.node_cost.size
    assert some.residual > every.residual


def test_flat_images_meet_the_count_with_a_small_hierarchy():
    image = np.full((2048, 2048, 3), 100, np.uint8)
    image[500:700, 900:1000] = np.random.default_rng(0).integers(0, 255, (200, 100, 3), np.uint8)
    allocator = tokens.StreamedPyramid(tokens.UniformRelevance())
    for budget in (20, 150, 300):
        allocation = allocator.allocate((StreamedImage.read(image), ""), budget)
        assert allocation.cost == budget and allocation.hierarchy.node_cost.size < 4 * 16 * budget + 10


def test_never_more_than_a_block_is_read_at_once(smooth_noise):
    source = Watched(smooth_noise(2200, 1500))
    streamed = StreamedImage.read(source)
    assert source.most == 1024 * 1024
    source.most = 0
    allocator = tokens.StreamedPyramid()
    chosen = allocator.realize(allocator.allocate((streamed, "left"), 200))
    assert len(chosen) == 200 and source.most <= 512 * 512


def test_a_tiled_file_is_read_by_regions(smooth_noise, tmp_path):
    oiio = pytest.importorskip("OpenImageIO")
    from hra.domains import textures

    pixels = np.rint(smooth_noise(2048, 2048) * 255).astype(np.uint8)
    spec = oiio.ImageSpec(2048, 2048, 3, oiio.UINT8)
    spec.tile_width = spec.tile_height = 256
    out = oiio.ImageOutput.create(str(tmp_path / "tiled.tif"))
    assert out.open(str(tmp_path / "tiled.tif"), spec) and out.write_image(pixels) and out.close()
    cache = textures.TileCache(2**24)
    streamed = StreamedImage.read(textures.open_image(tmp_path / "tiled.tif", cache=cache).mips[0])
    allocator = tokens.StreamedPyramid()
    chosen = allocator.realize(allocator.allocate((streamed, "top left"), 273))
    assert np.allclose(chosen.values, tokens.PatchPyramid.build(pixels).values(chosen.places), atol=1e-5)
    assert cache.bytes <= 2**24 + 2**20


def test_relevance_of_the_overview_moves_tokens(smooth_noise):
    streamed = StreamedImage.read(smooth_noise(2048, 2048))
    allocator = tokens.StreamedPyramid()
    chosen = [allocator.realize(allocator.allocate((streamed, query), 200)) for query in ("left", "right")]
    left, right = (each.centres[:, 0].mean() for each in chosen)
    assert left < right - 200


def test_bad_input_is_refused():
    with pytest.raises(ArrayError):
        StreamedImage.read(np.zeros((40, 40)))
    with pytest.raises(ArrayError):
        StreamedImage.read(np.zeros((40, 40, 3), np.float32), patch=7)
    with pytest.raises(BudgetTooSmall):
        streamed = StreamedImage.read(np.zeros((40, 40, 3), np.float32))
        tokens.StreamedPyramid().allocate((streamed, ""), 0)


def test_another_question_reads_few_new_tiles(smooth_noise, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    random = np.random.default_rng(0)
    whole = np.tile(np.rint(smooth_noise(1024, 1024) * 255).astype(np.uint8), (4, 4, 1))
    for y, x in random.integers(0, 3900, (60, 2)).tolist():
        whole[y : y + 150, x : x + 150] = random.integers(0, 256, (150, 150, 3), np.uint8)
    levels = [np.rint(level * 255).astype(np.uint8) for level in tokens.PatchPyramid.build(whole).levels[:4]]
    options = {"tile": (128, 128), "photometric": "rgb", "compression": "zlib"}
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        for number, level in enumerate(levels):
            file.write(level, **options, **({"subfiletype": 1} if number else {"subifds": len(levels) - 1}))
    image, previous, read = StreamedImage.open(tmp_path / "a.tif"), None, []
    allocator = tokens.StreamedPyramid(tokens.FoveatedRelevance())
    for query in ("what is at the top left?", "what is at the bottom right?", "what is at the top left?"):
        before = image.tiles_read if read else 0
        previous = allocator.allocate((image, query), 137, previous=previous)
        chosen = allocator.realize(previous)
        read.append(image.tiles_read - before)
        left, top = chosen.centres.mean(axis=0) - 2048
        assert len(chosen) == 137 and (max(left, top) < -500 if "left" in query else min(left, top) > 500)
    assert image.file is not None and image.file.tiles == 1024
    assert 0 < read[1] <= read[0] / 2 and read[2] == 0 and sum(read) <= 128


@pytest.fixture(scope="module")
def two_receipts() -> StreamedImage:
    """The same receipt at the top left and at the bottom right of a large sheet."""
    receipt, _ = page()
    sheet = np.ones((3072, 3072, 3), np.float32)
    height, width = receipt.shape[:2]
    sheet[256 : 256 + height, 256 : 256 + width] = receipt
    sheet[-256 - height : -256, -256 - width : -256] = receipt
    return StreamedImage.read(sheet)


@needs_reader
@pytest.mark.parametrize("asked", ["what is at the {}?", "what is the total at the {}?"])
def test_named_places_decide_between_equal_lines(two_receipts, asked):
    allocator = tokens.StreamedPyramid(tokens.PhraseRelevance(read=True))
    for place, low, high in (("top left", 0, 1536), ("bottom right", 1536, 3072)):
        chosen = allocator.realize(allocator.allocate((two_receipts, asked.format(place)), 60))
        finest = chosen.centres[chosen.levels == chosen.levels.min()]
        assert ((finest > low) & (finest < high)).all(axis=1).mean() > 0.9, place


@needs_reader
def test_a_question_for_a_place_alone_is_served_by_its_words(two_receipts):
    allocator = tokens.StreamedPyramid(tokens.PhraseRelevance(read=True))
    assert allocator.served(two_receipts, "what is at the top left?") == tokens.Served("words of place")
    assert allocator.served(two_receipts, "what is the total at the top left?").by == "phrase"


def test_a_question_of_another_thread_in_between_changes_nothing(smooth_noise):
    allocator = tokens.StreamedPyramid()
    first, second = StreamedImage.read(smooth_noise(256, 256)), StreamedImage.read(np.eye(512)[..., None].repeat(3, 2))

    class Interrupted(str):
        """A question during whose comparison somebody asks about another image."""

        def __ne__(self, other: object) -> bool:
            allocator.served(second, "")
            return str.__ne__(self, other)

        __hash__ = str.__hash__

    alone = allocator.allocate((first, ""), 30)
    between = allocator.allocate((first, Interrupted()), 30)
    assert between.residual == alone.residual
    assert np.array_equal(allocator.realize(between).places, allocator.realize(alone).places)
