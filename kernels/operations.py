"""Every kernel with an input for it, for the table of docs/kernels.md, the tests of its cells and ``hra doctor``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable, HraError
from hra.kernels.backends import BUILT_IN, load_warp
from hra.kernels.compaction.draw_list import compact, threshold_cut
from hra.kernels.culling.hiz import visible_boxes, visible_spheres
from hra.kernels.culling.projection import project_boxes, project_spheres
from hra.kernels.cut.chains import Chains, chain_cut, chain_gains
from hra.kernels.cut.forest import LevelForest
from hra.kernels.cut.search import hull_points, price_search, tree_sweep
from hra.kernels.pyramids.blocks.blocks import Along, enlarged_squares, level_errors, node_errors, take_blocks
from hra.kernels.pyramids.laplacian import gaussian_pyramid, laplacian_pyramid
from hra.kernels.pyramids.levels.pyramid import Pyramid, build_pyramid
from hra.kernels.pyramids.levels.rectangles import rect_max, rect_min
from hra.kernels.pyramids.steerable import steerable_pyramid
from hra.kernels.sampling.sample import HARDWARE_STEP, sample
from hra.kernels.trees.points.building import build_tree, morton_codes, sort_keys
from hra.kernels.trees.tree import Tree
from hra.kernels.trees.upward.reductions import boxes_up, reduce_up, spheres_up

BACKENDS = tuple(BUILT_IN)


@dataclass(frozen=True, eq=False)
class Input:
    """A random batch of images, and what else the kernels take, on a device.

    Parameters
    ----------
    image : [B, H, W, C] float32, float16 or uint8.
    device : "cpu", or the name of one of Warp's.
    seed : of places, sizes and points.
    holes : whether every seventh number that is not of the image is NaN.
    empty : whether there are no points, rectangles, rows of a batch and so on.
    """

    image: np.ndarray
    device: str = "cpu"
    seed: int = 0
    holes: bool = False
    empty: bool = False

    def send(self, array: np.ndarray) -> Any:
        """The array on the device."""
        return array if self.on_host else load_warp().array(array, device=self.device)

    @property
    def on_host(self) -> bool:
        """Whether arrays are NumPy's."""
        return self.device == "cpu"

    def move(self, held: Any) -> Any:
        """A tree, forest or the like on the device."""
        return held if self.on_host else held.to(self.device)

    def random(self, *shape: int) -> np.ndarray:
        """Numbers in 0 .. 1, float32, the same for every backend; with NaN or without rows, as the input says."""
        numbers = np.random.default_rng((self.seed, *shape)).random(shape, np.float32)
        if self.holes:
            numbers.reshape(-1)[self.seed % 5 :: 7] = np.nan
        return numbers[:0] if self.empty else numbers

    def whole(self, below: int, *shape: int) -> np.ndarray:
        """Whole numbers from 0, int32; no rows of an empty input or of an empty range."""
        chosen = np.random.default_rng((self.seed, below, *shape)).integers(0, max(1, below), shape, np.int32)
        return chosen[:0] if self.empty or not below else chosen

    @property
    def plane(self) -> np.ndarray:
        """The last image, or one without rows."""
        return self.image[-1] if len(self.image) else self.image.reshape(0, *self.image.shape[2:])

    @property
    def points(self) -> np.ndarray:
        """As many points as the image has rows and columns, float32 [N, 3]."""
        return self.random(self.image.shape[1] + self.image.shape[2], 3)

    def costs(self, count: int) -> np.ndarray:
        """Whole numbers from 1 to 5, float64."""
        return np.random.default_rng((self.seed, count)).integers(1, 6, count).astype(np.float64)

    def forest(self) -> LevelForest:
        """Four levels of refinements, each with two below it."""
        sizes = 2 ** np.arange(4)
        offsets, count = np.r_[0, np.cumsum(sizes)], int(sizes.sum())
        parent = ((np.arange(count) - 1) // 2).astype(np.int32)
        first = np.minimum(2 * np.arange(count + 1) + 1, count).astype(np.int32)
        forest = LevelForest(tuple(offsets.tolist()), parent, first, self.costs(count), 1.0)
        return self.move(forest)


Arrays = Sequence[Any]


@dataclass(frozen=True)
class Operation:
    """A kernel, run on an input by a backend.

    Parameters
    ----------
    run : what it computes, arrays on the input's device.
    tolerance : largest difference from the reference, in units of the largest value of the input.
    bytes_off : of images of bytes, by this many more.
    """

    name: str
    run: Callable[[Input, str], Arrays]
    tolerance: float = 0.0
    bytes_off: float = 0.0


def _levels(reduce: str) -> Callable[[Input, str], Arrays]:
    # Two levels: a later one would carry on what the first is off by.
    return lambda given, backend: build_pyramid(given.send(given.image), reduce, 2, backend).levels[1:]


def _rectangles(look_up: Callable[..., Any], reduce: str) -> Callable[[Input, str], Arrays]:
    def run(given: Input, backend: str) -> Arrays:
        image = np.ascontiguousarray(given.image[..., :1])
        height, width = image.shape[1:3]
        index = given.whole(len(image), 50)
        sides = [given.whole(1 + most, len(index), 1) for most in (width, height, 3 * width // 2, 3 * height // 2)]
        rects = np.concatenate(sides, axis=1)
        pyramid = build_pyramid(given.send(image), reduce, backend="auto" if backend == "gl" else backend)
        return [look_up(pyramid, given.send(rects), given.send(index), backend)]

    return run


def _samples(*, footprints: bool, hardware: bool) -> Callable[[Input, str], Arrays]:
    def run(given: Input, backend: str) -> Arrays:
        image = np.ascontiguousarray(given.image[..., :4])
        # OpenGL has no levels of float16, but looks them up.
        own = "auto" if backend == "gl" or (hardware and backend == "reference") else backend
        pyramid = build_pyramid(given.send(image), "block_mean", backend=own)
        chosen = given.whole(len(image), 70)
        points = (given.random(len(chosen), 2) * 1.2 - 0.1) * np.array(image.shape[2:0:-1], np.float32)
        index = given.send(chosen)
        sides, level = 20 * given.random(len(chosen), 2, 2) - 10, given.random(len(chosen)) * 5
        what = {"footprint": given.send(sides)} if footprints else {"level": given.send(level)}
        units = hardware and backend != "reference"
        return [sample(pyramid, given.send(points), **what, batch_index=index, hardware=units, backend=backend)]

    return run


_VIEW = np.array([[1, 0, 0, 0], [0, 1.5, 0, 0], [0, 0, 1.01, -0.1], [0, 0, 1, 0]], np.float64)


def _bounds(given: Input, boxes: bool) -> Any:
    low = given.points * [4, 4, 8] - [2, 2, 0]
    if boxes:
        return given.send(np.stack([low, low + given.random(*low.shape)], axis=1).astype(np.float32))
    return given.send(np.concatenate([low, given.random(len(low), 1)], axis=1).astype(np.float32))


def _projected(project: Callable[..., Any], *, boxes: bool) -> Callable[[Input, str], Arrays]:
    return lambda given, backend: list(project(_bounds(given, boxes), _VIEW, (96, 64), backend=backend))


def _visible(test: Callable[..., Any], *, boxes: bool) -> Callable[[Input, str], Arrays]:
    def run(given: Input, backend: str) -> Arrays:
        depth = (0.9 + 0.1 * given.random(64, 96, 1)).astype(np.float32)
        return [test(build_pyramid(given.send(depth), "max"), _bounds(given, boxes), _VIEW, backend=backend)]

    return run


def _upward(reduce: Callable[[Any, Any, str], Any]) -> Callable[[Input, str], Arrays]:
    def run(given: Input, backend: str) -> Arrays:
        tree = build_tree(replace(given, holes=False).points, backend="reference").tree
        found = reduce(given.move(tree), given.send(given.points), backend)
        return found if isinstance(found, tuple) else [found]

    return run


def _steered(given: Input, backend: str) -> Arrays:
    pyramid = steerable_pyramid(given.send(given.plane), 2, 3, backend)
    return [pyramid.highpass, *pyramid.bands, pyramid.lowpass, pyramid.reconstruct(backend)]


def _unit_pyramid(given: Input) -> Pyramid:
    """Levels of the images as floats in 0 .. 1."""
    pixels = given.image.astype(np.float32)
    largest = np.float32(np.nanmax(pixels, initial=1))
    return build_pyramid(given.send(np.abs(pixels) / largest), "block_mean")


def _node_errors(given: Input, backend: str) -> Arrays:
    errors = given.random(len(given.image), 4, *given.image.shape[1:3]).astype(np.float64)
    weight = given.random(len(given.image), *given.image.shape[1:3]).astype(np.float64)
    return node_errors(given.send(errors), given.send(weight), backend=backend)


def _taken(given: Input, backend: str) -> Arrays:
    pyramid = build_pyramid(given.send(given.image), "max")
    count = len(given.image) * sum(-(-height // 4) * -(-width // 4) for height, width in pyramid.layout.sizes)
    blocks = given.whole(count, 30)
    return [take_blocks(pyramid, given.send(blocks), 4, backend=backend)]


def _chains(given: Input, backend: str) -> Arrays:
    """Two roots with two children each, which have two children."""
    parent = np.array([8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, -1, -1], np.int32)
    children, offsets = np.arange(12, dtype=np.int32), np.r_[np.zeros(8), np.arange(0, 13, 2)].astype(np.int32)
    first_child = np.array([2, 4, 6, 7, 8, 9, 10, 11, 11, 12, 12, 12, 12], np.int32)
    last = np.isin(np.arange(12), [2, 4, 7, 9, 10, 11])
    host = Chains(parent, offsets, children, first_child, last, ((8, 12), (0, 8)))
    chains = given.move(host)
    errors = [given.send(np.round(given.random(3, 14, part)[..., 0] * 8).astype(np.float64)) for part in (1, 2)]
    found = chain_gains(chains, *errors, backend=backend)
    selected = given.send(given.whole(2, 3, 12) > 0)
    return [found.gain, found.node, found.repaired, chain_cut(chains, found.node, selected, backend=backend)]


def _enlarged(given: Input, backend: str) -> Arrays:
    fine, axes = given.plane, []
    coarse = np.ascontiguousarray(fine[::2, ::2])
    for size, below in zip(fine.shape[:2], coarse.shape[:2], strict=True):
        first = np.minimum(np.arange(size) // 2, below - 1)
        axes.append(
            Along(first, np.minimum(first + 1, below - 1), replace(given, holes=False, empty=False).random(size))
        )
    return [enlarged_squares(given.send(fine), given.send(coarse), axes[0], axes[1], 5, backend=backend)]


def _groups(given: Input, backend: str) -> Arrays:
    """Bounds and errors of groups of clusters, one level of a mesh's hierarchy."""
    center, radius = given.points, given.random(sum(given.image.shape[1:3]))
    tree = Tree.of_runs(np.unique(np.r_[0, np.arange(1, len(center), 3), len(center)]))
    held = given.move(tree)
    spheres = spheres_up(held, given.send(center), given.send(radius), backend=backend)
    boxes = boxes_up(held, given.send(center), given.send(center + radius[:, None]), backend=backend)
    return [*spheres, *boxes, reduce_up(held, given.send(radius[:, None]), "max", backend=backend)]


def _tree(given: Input, backend: str) -> Arrays:
    found = build_tree(given.send(given.points), leaf_size=2, backend=backend)
    return [found.order, found.tree.parent]


def _cut(choose: Callable[..., Any], *more: str) -> Callable[[Input, str], Arrays]:
    def run(given: Input, backend: str) -> Arrays:
        gain, limit = given.random(3, 15), given.random(3).astype(np.float64) * (1 if choose is tree_sweep else 40)
        forest = given.forest()
        extra = [given.costs(15)] * len(more)
        found = choose(forest, given.send(gain), given.send(limit), *extra, backend=backend)
        return [found.selected, found.cost]

    return run


def _threshold(given: Input, backend: str) -> Arrays:
    parent, errors = (np.arange(31, dtype=np.int32) - 1) // 2, given.random(2, 31)
    limits = given.random(2)
    return [threshold_cut(*map(given.send, (parent, errors, limits)), backend=backend)]


OPERATIONS = (
    *(Operation(f"build_pyramid {name}", _levels(name), 2e-6) for name in ("mean", "block_mean")),
    Operation("build_pyramid srgb_mean", _levels("srgb_mean"), 4e-6, 1.0),
    *(Operation(f"build_pyramid {name}", _levels(name)) for name in ("max", "min")),
    Operation("rect_max", _rectangles(rect_max, "max")),
    Operation("rect_min", _rectangles(rect_min, "min")),
    Operation(
        "gaussian_pyramid", lambda one, backend: gaussian_pyramid(one.send(one.image), None, backend).levels, 4e-6
    ),
    Operation(
        "laplacian_pyramid", lambda one, backend: laplacian_pyramid(one.send(one.image), None, backend).levels, 8e-6
    ),
    Operation("steerable_pyramid", _steered, 4e-6),
    Operation("level_errors", lambda one, backend: [level_errors(_unit_pyramid(one), 4, backend=backend)], 1e-4),
    Operation("node_errors", _node_errors),
    # Sums of 25 pixels' squares, of up to 4 channels.
    Operation("enlarged_squares", _enlarged, 1e-4, 1.0),
    Operation("sample by level", _samples(footprints=False, hardware=False), 4e-6, 1.0),
    Operation("sample by footprint", _samples(footprints=True, hardware=False), 4e-6, 1.0),
    # Random values fill the range, from -1 to 1.
    Operation("sample by level, hardware", _samples(footprints=False, hardware=True), 6 * HARDWARE_STEP, 1.0),
    Operation("sample by footprint, hardware", _samples(footprints=True, hardware=True), 6 * HARDWARE_STEP, 1.0),
    Operation("project_boxes", _projected(project_boxes, boxes=True)),
    Operation("project_spheres", _projected(project_spheres, boxes=False)),
    Operation("visible_boxes", _visible(visible_boxes, boxes=True)),
    Operation("visible_spheres", _visible(visible_spheres, boxes=False)),
    Operation("morton_codes", lambda one, backend: [morton_codes(one.send(one.points), backend=backend)]),
    Operation(
        "sort_keys", lambda one, backend: sort_keys(one.send(one.points.view(np.uint32)[:, 0].copy()), backend=backend)
    ),
    Operation("build_tree", _tree),
    Operation("reduce_up", _upward(lambda tree, rows, backend: reduce_up(tree, rows, "mean", backend=backend))),
    Operation("boxes_up", _upward(lambda tree, rows, backend: boxes_up(tree, rows, backend=backend))),
    Operation("spheres_up", _upward(lambda tree, rows, backend: spheres_up(tree, rows, backend=backend))),
    Operation("bounds and errors of groups", _groups),
    Operation("threshold_cut", _threshold),
    Operation("take_blocks", _taken),
    Operation("compact", lambda one, backend: [compact(one.send(one.whole(2, 3000) > 0), backend=backend)]),
    Operation("tree_sweep", _cut(tree_sweep)),
    Operation("price_search", _cut(price_search)),
    Operation("hull_points", _cut(hull_points, "slope_cost")),
    Operation("chain_gains, chain_cut", _chains),
)


@dataclass(frozen=True)
class Cell:
    """What came of one operation on one backend.

    Parameters
    ----------
    state : "ok", "refused" (the backend says that it has none of it), or "wrong".
    reason : why not; empty if all is well.
    off : largest difference from the reference over the largest value of the input.
    seconds : of the second run, with results fetched; None if it was refused.
    """

    state: str
    reason: str = ""
    off: float = 0.0
    seconds: float | None = None


def run_cell(operation: Operation, given: Input, backend: str) -> Cell:
    """Run an operation twice, and compare it with the reference on the host: the same result, or the same refusal."""
    try:
        operation.run(given, backend)
        begin = perf_counter()
        found = [_fetch(array) for array in operation.run(given, backend)]
        seconds, refusal = perf_counter() - begin, None
    except BackendUnavailable as error:
        return Cell("refused", error.what)
    except HraError as error:
        found, seconds, refusal = [], None, error
    try:
        on_host = Input(given.image, "cpu", given.seed, given.holes, given.empty)  # also if ``given`` is a subclass
        expected = [np.asarray(array) for array in operation.run(on_host, "reference")]
    except HraError as error:
        same = refusal is not None and refusal.where == error.where
        return Cell("ok" if same else "wrong", f"{error}; {backend}: {refusal}", seconds=seconds)
    if refusal is not None:
        return Cell("wrong", f"only {backend} refuses: {refusal}")
    shapes = [array.shape for array in found], [array.shape for array in expected]
    if shapes[0] != shapes[1]:
        return Cell("wrong", f"shapes {shapes[0]} instead of {shapes[1]}", seconds=seconds)
    largest = max(1.0, float(np.nanmax(np.abs(given.image.astype(np.float64)), initial=0)))
    off = max((_difference(*pair) for pair in zip(found, expected, strict=True)), default=0.0) / largest
    rounding = {2: 1e-3, 1: operation.bytes_off / largest}.get(given.image.dtype.itemsize, 0.0)
    allowed = operation.tolerance + rounding * (operation.tolerance > 0)
    state = "ok" if off <= allowed else "wrong"
    return Cell(state, "" if state == "ok" else f"off by {off:.3g}, allowed are {allowed:.3g}", off, seconds)


def _difference(found: np.ndarray, expected: np.ndarray) -> float:
    if found.dtype.kind not in "fu" or not found.size:
        return 0.0 if np.array_equal(found, expected) else np.inf
    one, two = found.astype(np.float64), expected.astype(np.float64)
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    apart = np.abs(np.where(same, 0, one) - np.where(same, 0, two))
    return float(np.where(np.isnan(apart), np.inf, apart).max())


def _fetch(array: Any) -> np.ndarray:
    return array.numpy() if hasattr(array, "numpy") else np.asarray(array)


def table(device: str = "cpu") -> str:
    """Which backend has which operation, as a table of Markdown; each cell was run."""
    given = Input(np.random.default_rng(0).random((2, 9, 14, 3), np.float32), device)
    lines = [f"| operation | {' | '.join(BACKENDS)} |", "| --- |" + " --- |" * len(BACKENDS)]
    marks = {"ok": "yes", "refused": "-", "wrong": "WRONG"}
    for operation in OPERATIONS:
        cells = [marks[run_cell(operation, given, backend).state] for backend in BACKENDS]
        lines.append(f"| {operation.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
