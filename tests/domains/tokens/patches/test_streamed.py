"""What a pass over a large file leaves, what its own levels tell, and that no bound is too small."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.patches import streamed
from hra.domains.tokens.patches.streamed import SmallView, StreamedImage
from hra.domains.tokens.text import reader
from hra.errors import FileError, HraError
from hra.model.problem import Problem
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull

tifffile = pytest.importorskip("tifffile")
FAST = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def repeated_error(image: np.ndarray, level: int, patch: int = 16) -> np.ndarray:
    """Squared error of every patch of a level while its pixels are repeated: without a pyramid, by means of blocks."""
    side = 2**level
    cells = image.reshape(image.shape[0] // side, side, image.shape[1] // side, side, 3).astype(np.float64)
    squares = ((cells - cells.mean((1, 3), keepdims=True)) ** 2).sum((1, 3, 4))
    return squares.reshape(squares.shape[0] // patch, patch, squares.shape[1] // patch, patch).sum((1, 3))


def spotted(seed: int, side: int = 1024) -> np.ndarray:
    """Smooth shades, and noise in a few places only."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side] / side
    image = 0.5 + 0.3 * np.stack([np.sin(k * x + 2 * k * y + k) for k in random.random(3) * 9], axis=2)
    for _ in range(6):
        row, column, extent = (int(n) for n in random.integers((0, 0, 8), (side - 96, side - 96, 96)))
        image[row : row + extent, column : column + extent] = random.random((extent, extent, 3))
    return np.rint(255 * image.clip(0, 1)).astype(np.uint8)


def levelled(path: Path, pixels: np.ndarray, count: int) -> Path:
    """A pyramid of true means, in floats, so that none is rounded."""
    levels = [pixels.astype(np.float32) / np.float32(255)]
    for _ in range(count):
        last = levels[-1]
        levels.append(last.reshape(last.shape[0] // 2, 2, last.shape[1] // 2, 2, 3).mean((1, 3), dtype=np.float32))
    options: dict[str, Any] = {"tile": (64, 64), "photometric": "rgb"}
    with tifffile.TiffWriter(path) as file:
        file.write(levels[0], subifds=count, **options)
        for level in levels[1:]:
            file.write(level.clip(0, 1), subfiletype=1, **options)
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Overviews of 64 pixels, so that small images have what is read on demand."""
    from hra.domains.tokens.patches import streamed

    monkeypatch.setattr(streamed, "_OVERVIEW", 64)
    return streamed


def test_errors_are_those_of_repeated_pixels(small_blocks):
    pixels = spotted(0)
    image = StreamedImage.read(pixels)
    assert image.first == 4
    for level in range(1, image.first + 1):
        expected, y = repeated_error(pixels / 255, level), 0
        for y, x in np.ndindex(*(extent >> 1 for extent in expected.shape)) if level < image.first else ():
            own = image.split(level + 1, x, y)[0]
            assert np.allclose(own, expected[2 * y : 2 * y + 2, 2 * x : 2 * x + 2], rtol=1e-4, atol=1e-3)
    assert np.allclose(image.beneath[0], repeated_error(pixels / 255, 4), rtol=1e-4)


def test_bounds_of_levels_are_never_too_small(small_blocks, tmp_path):
    pixels = spotted(1)
    image = StreamedImage.open(levelled(tmp_path / "a.tif", pixels, 4))
    assert not image.is_known and image.tiles_read <= 4
    assert (image.beneath[0] >= repeated_error(pixels / 255, 4) - 1e-3).all()
    known = StreamedImage.read(pixels)
    for level, x, y in [(4, 1, 2), (3, 5, 1), (2, 9, 13), (1, 30, 3)]:
        own, inherited, _ = image.split(level, x, y)
        exact_own, exact_inherited, _ = known.split(level, x, y)
        assert (own >= exact_own - 1e-3).all()
        assert np.allclose(inherited - own, exact_inherited - exact_own, rtol=1e-3, atol=1e-3)  # what a split gains


def full_answers(pixels: np.ndarray, budget: int, weights: Any) -> tuple[float, float]:
    """The least residual over the whole tree, all patches made, and that of `Hull`, which every preset has."""
    image = StreamedImage.read(pixels)
    allocator = tokens.StreamedPyramid(weights)
    seen = allocator.see(image, "")
    from hra.domains.tokens.methods.streamed_pyramid import PatchError, _KnownError, _tree
    from hra.solvers.lazy.tree import LazyTree

    tree = LazyTree(seen, PatchError(), seen)
    for v in iter(range(10**9)):
        if v >= len(tree.nodes):
            break
        tree.expand(v)
    problem = Problem.of(_tree(tree, seen), _KnownError(), None, budget)
    best, usual = (problem.gain[one.solve(problem).selected].sum() for one in (Exact(), Hull(spend_all=True)))
    return problem.base_error - float(best), problem.base_error - float(usual)


@FAST
@given(seed=st.integers(0, 1000), budget=st.integers(4, 90), share=st.floats(0.05, 1))
def test_the_answer_is_the_best_and_its_gap_holds(small_blocks, tmp_path, seed, budget, share):
    pixels = spotted(seed, 512)
    weights = np.random.default_rng(seed).random((8, 8)) ** (1 / share)
    best, usual = full_answers(pixels, budget, lambda context: weights)
    path = tmp_path / f"{seed}.tif"
    if not path.exists():
        levelled(path, pixels, 3)
    for image in (StreamedImage.read(pixels), StreamedImage.open(path)):
        allocator = tokens.StreamedPyramid(lambda context: weights)
        allocation = allocator.allocate((image, ""), budget)
        assert allocation.cost == budget and len(allocator.realize(allocation)) == budget
        if image.is_known:
            assert best * (1 - 1e-5) - 1e-12 <= allocation.residual <= usual * 1.001 + 1e-9
            assert allocation.least_residual <= best * (1 + 1e-5) + 1e-12
        else:
            # Errors are bounds, but gains are exact: what the best choice gains is within the bound.
            gained = _base(pixels, weights) - best
            assert gained <= allocation.upper_bound * (1 + 1e-4) + 1e-9


def _base(pixels: np.ndarray, weights: np.ndarray) -> float:
    """The weighted error of the coarsest patch alone."""
    allocation = tokens.StreamedPyramid(lambda context: weights).allocate((StreamedImage.read(pixels), ""), 1)
    return allocation.residual


def test_places_show_exactly_what_repeating_their_pixels_shows(small_blocks):
    pixels = spotted(3)
    allocator = tokens.StreamedPyramid(tokens.UniformRelevance())
    allocation = allocator.allocate((StreamedImage.read(pixels), ""), 150)
    chosen = allocator.realize(allocation)
    shown = SmallView(chosen, chosen.image_size).reconstruct()
    assert np.mean((shown - pixels / 255) ** 2) == pytest.approx(allocation.residual, rel=1e-3)
    assert np.array_equal(SmallView(chosen, chosen.image_size).token_map(), chosen.token_map())
    small = SmallView(chosen, (64, 64))
    assert set(np.unique(small.token_map())) <= set(range(150)) and small.reconstruct().shape == (64, 64, 3)


@pytest.fixture
def stored(small_blocks, monkeypatch, tmp_path):
    monkeypatch.setattr(small_blocks, "_IN_MEMORY", 1000)
    pixels = np.concatenate([spotted(4), spotted(5)])
    tifffile.imwrite(tmp_path / "a.tif", pixels, tile=(128, 128), photometric="rgb")
    return pixels, tmp_path / "a.tif"


@pytest.mark.case(100)
def test_a_pass_is_kept_and_goes_on_where_it_was_stopped(stored, monkeypatch, small_blocks):
    pixels, path = stored
    told = []

    def stop(text: str) -> None:
        told.append(text)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        StreamedImage.open(path, progress=stop)
    files = sorted(file.name for file in path.with_name("a.tif.levels").iterdir())
    assert files == ["job.json", "rows-00000.npz"]
    image = StreamedImage.open(path, progress=told.append)
    assert len(told) == 3 and image.tiles_read == 64  # the other half
    again, memory = StreamedImage.open(path), StreamedImage.read(pixels)
    assert again.tiles_read == 0
    for one in (image, again):
        assert all(np.array_equal(a, b) for a, b in zip(one.overview, memory.overview, strict=True))
        for a, b in zip(one.details, memory.details, strict=True):
            assert np.array_equal(a[3:200, 1:9], b[3:200, 1:9])
        assert np.array_equal(one.beneath[0], memory.beneath[0])
    allocator = tokens.StreamedPyramid()
    cuts = [allocator.realize(allocator.allocate((one, "left"), 99)).places for one in (again, memory)]
    assert np.array_equal(cuts[0], cuts[1])


@pytest.mark.case(100)
def test_files_of_a_pass_that_are_damaged_or_of_another_image_are_refused(stored):
    pixels, path = stored
    StreamedImage.open(path)
    file = path.with_name("a.tif.levels") / "rows-00001.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    image = None
    with pytest.raises(FileError, match=r"rows-00001.npz"):
        image = StreamedImage.open(path)
        for grid in image.details[: image.first]:
            grid[:, :]
    file.unlink()
    assert StreamedImage.open(path).tiles_read == 64  # that part alone
    tifffile.imwrite(path, pixels[::-1].copy(), tile=(128, 128), photometric="rgb")
    with pytest.raises(HraError, match="another job"):
        StreamedImage.open(path)
    shutil.rmtree(path.with_name("a.tif.levels"))
    assert np.allclose(StreamedImage.open(path).overview[0][::-1], StreamedImage.read(pixels).overview[0])


def test_a_folder_that_was_named_asks_for_a_pass_over_files_with_levels(small_blocks, tmp_path):
    pixels = spotted(6)
    path = levelled(tmp_path / "a.tif", pixels, 4)
    known = StreamedImage.open(path, folder=tmp_path / "here")
    assert known.is_known and (tmp_path / "here" / "rows-00000.npz").exists()
    assert np.allclose(known.beneath[0], repeated_error(pixels / 255, 4), rtol=1e-3)


def test_another_question_reads_few_new_tiles(small_blocks, tmp_path):
    path = levelled(tmp_path / "a.tif", spotted(7, 2048), 5)
    image, allocator = StreamedImage.open(path), tokens.StreamedPyramid()
    first = allocator.allocate((image, "left"), 200)
    allocator.realize(first)
    before = image.tiles_read
    second = allocator.allocate((image, "the left side"), 200, previous=first)
    allocator.realize(second)
    assert image.tiles_read - before <= 0.1 * before and second.cost == 200
    places = {tuple(place) for place in allocator.realize(first).places.tolist()}
    assert len(places & {tuple(place) for place in allocator.realize(second).places.tolist()}) > 150


@pytest.mark.skipif(not reader.can_read(), reason="needs RapidOCR")
def test_a_label_that_the_overview_cannot_show_is_read_and_refined(tmp_path):
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", (6144, 6144), (236, 233, 220))
    draw = ImageDraw.Draw(page)
    for x in range(0, 6144, 384):
        draw.line([(x, 0), (x + 900, 6144)], fill=(200, 205, 190), width=5)
    font = ImageFont.load_default(22)
    draw.text((4410, 1300), "Depth: 47 m", fill=(20, 20, 20), font=font)
    draw.text((900, 5000), "Height: 12 m", fill=(20, 20, 20), font=font)
    tifffile.imwrite(tmp_path / "map.tif", np.asarray(page), tile=(256, 256), photometric="rgb", compression="zlib")
    image = StreamedImage.open(tmp_path / "map.tif")
    allocator = tokens.StreamedPyramid(tokens.PhraseRelevance())
    for query, x, y in (("What is the depth?", 4480, 1312), ("What is the height?", 960, 5012)):
        allocation = allocator.allocate((image, query), 150)
        chosen = allocator.realize(allocation)
        held = (
            (chosen.boxes[:, 0] <= x) & (chosen.boxes[:, 2] > x) & (chosen.boxes[:, 1] <= y) & (chosen.boxes[:, 3] > y)
        )
        assert chosen.levels[held].min() == 0 and allocation.gap < 0.01
        (x0, y0, x1, y1), *_ = allocator.crops(allocation, 1, 256).tolist()
        assert x0 <= x < x1 and y0 <= y < y1 and (x1 - x0, y1 - y0) == (256, 256)


class _SlowlyMeasured:
    """An array whose size takes long to ask for, so that threads meet there."""

    @property
    def nbytes(self) -> int:
        time.sleep(1e-4)
        return 8


def test_threads_share_what_is_kept_of_a_pass(monkeypatch):
    monkeypatch.setattr(streamed, "_load", lambda name, part: _SlowlyMeasured())
    monkeypatch.setattr(streamed, "_KEPT_BYTES", 64)
    stored = streamed._Stored([Path(str(row)) for row in range(32)])
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda turn: stored.part(turn * 7 % 32, turn % 3), range(200)))
    assert all(isinstance(part, _SlowlyMeasured) for part in found)
