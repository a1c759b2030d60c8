"""Frames of placed cuts: culled in two passes, drawn by one indirect call each, kept as a visibility buffer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np

from hra.errors import ArrayError, check_choice
from hra.kernels.raster.buffers import Resource
from hra.kernels.raster.checks import matrices
from hra.kernels.raster.clusters.culling import ClusterCulling, Listed, Pass
from hra.kernels.raster.clusters.placed_cuts import PlacedCuts
from hra.kernels.raster.draws import EMPTY
from hra.kernels.raster.hiz import HiZ
from hra.kernels.raster.target import with_reversed_depth
from hra.kernels.raster.visibility import VisibilityBuffer

Culling = Literal["occlusion", "frustum", "none"]


@dataclass(frozen=True)
class FrameFacts:
    """What a frame drew.

    Attributes
    ----------
    triangles : of the cuts.
    in_frustum : of the clusters that may be in view; visible : of those that are not hidden either, or of all in view
        where nothing is tested for being hidden.
    drawn : visible ones and, with occlusion culling, those that were visible in the last frame.
    clusters : pairs of copy and cluster in the cuts.
    seconds : by step, where they were asked for: place, first pass, depth pyramid, second pass.
    """

    triangles: int
    in_frustum: int
    visible: int
    drawn: int
    clusters: int
    seconds: dict[str, float]


@dataclass(frozen=True, eq=False)
class VisibleClusters:
    """A visibility buffer on the host, row 0 at the top; `EMPTY` where nothing was drawn.

    Attributes
    ----------
    depth : float32 [H, W]; copies, clusters (within the mesh), triangles (within the cluster) : uint32 [H, W].
    """

    depth: np.ndarray
    copies: np.ndarray
    clusters: np.ndarray
    triangles: np.ndarray


class ClusterRenderer(Resource):
    """Draws placed cuts to a visibility buffer of its own.

    A frame shows what drawing every cluster of its cuts would show, whatever moved, appeared or was loaded since the
    last one: a pass draws what was visible before, and a second one all that a Hi-Z of the first does not hide.

    Parameters
    ----------
    cuts : what is drawn.
    size : (width, height) in pixels.
    reversed_depth : of matrices and of the depth that is read, as in `hra.kernels.raster.VisibilityBuffer`. The buffer
        itself has reversed depth always: in float32 the other kind loses what is far beyond the near plane.

    Raises
    ------
    CameraError, ArrayError : a size that this driver cannot draw to or reach.
    BackendUnavailable : the context fails, see `hra.kernels.raster.Context`.

    Attributes
    ----------
    target : the visibility buffer, with numbers of candidates; culling : the lists of what was drawn.
    reversed_depth : as it was given.

    Notes
    -----
    Haar and Aaltonen, GPU-Driven Rendering Pipelines, SIGGRAPH 2015 course Advances in Real-Time Rendering; Burns and
    Hunt, The Visibility Buffer, JCGT 2013.
    """

    def __init__(self, cuts: PlacedCuts, size: tuple[int, int], reversed_depth: bool = False) -> None:
        super().__init__(cuts.context)
        self.cuts = cuts
        self.reversed_depth = bool(reversed_depth)
        self.target = self.own(VisibilityBuffer(self.context, size, reversed_depth=True))
        self._hiz = self.own(HiZ(self.target))
        self.culling = self.own(ClusterCulling(cuts, self._hiz))
        self.lists: tuple[Listed, ...] = ()
        with self.context.use() as gl:
            program = self.context.program("clusters.vert", "clusters.frag")
            self._vertices = self.own(gl.vertex_array(program, []))

    def draw(self, view_projection: Any, culling: Culling = "occlusion", *, timed: bool = False) -> FrameFacts:
        """One frame.

        Parameters
        ----------
        view_projection : [4, 4] world to clip space, column vectors: ``camera.projection @ camera.view``.
        culling : "occlusion" leaves out what is out of view or hidden, "frustum" what is out of view, "none" nothing.
        timed : wait for each step and tell how long it took.

        Raises
        ------
        CameraError, ArrayError : another matrix or word.
        BackendUnavailable : the context fails.
        """
        check_choice("culling", culling, ("occlusion", "frustum", "none"), ArrayError)
        seconds: dict[str, float] | None = {} if timed else None
        self.target.clear()
        with self.context.use():
            with self._step("place", seconds):
                self.culling.begin_frame(self._to_clip(view_projection))
            self.lists = ()
            if self.cuts.count:
                self._draw_passes(culling, seconds)
            in_frustum, visible, drawn = self.culling.counters().tolist()
        shown = visible if culling == "occlusion" else in_frustum
        return FrameFacts(self.cuts.triangles, in_frustum, shown, drawn, self.cuts.count, seconds or {})

    def draw_again(self, view_projection: Any) -> None:
        """What the last frame drew, seen by another camera: how its culling looks from outside.

        Raises
        ------
        CameraError : another matrix. BackendUnavailable : the context fails.
        """
        self.target.clear()
        with self.context.use():
            self.culling.place(self._to_clip(view_projection))
            for listed in self.lists:
                self._draw_list(listed)

    def draw_lists(self, vertices: Any) -> None:
        """Draw what the last frame drew with a vertex array of another program, whatever lies before it.

        The context is current.
        """
        for listed in self.lists:
            self._draw_list(listed, vertices, depth=False)

    def read(self) -> VisibleClusters:
        """The visibility buffer, copied to the host."""
        image = self.target.read()
        there = image.ids != EMPTY
        copies, clusters = (_at(numbers, image.ids, there) for numbers in self.cuts.pairs())
        depth = image.depth if self.reversed_depth else 1 - image.depth
        return VisibleClusters(depth, copies, clusters, image.triangles)

    def drawn_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Copy and cluster of all that the last frame drew, int64 each."""
        with self.context.use():
            numbers = [np.frombuffer(listed.numbers.read(), np.uint32)[: _count(listed)] for listed in self.lists]
        chosen = np.unique(np.concatenate([np.empty(0, np.uint32), *numbers]))
        copies, clusters = self.cuts.pairs()
        return copies[chosen], clusters[chosen]

    def bind(self) -> None:
        """Bind what shaders/clusters.glsl reads; the context is current."""
        self.cuts.store.bind()
        self.cuts.candidates.bind_to_storage_buffer(4)
        self.culling.to_clip.bind_to_storage_buffer(6)

    def _to_clip(self, view_projection: Any) -> np.ndarray:
        """World to clip space of reversed depth, float64 [4, 4]."""
        matrix = matrices("view_projection", view_projection)
        if matrix.ndim != 2:
            raise ArrayError("one matrix [4, 4] is needed", where="argument view_projection")
        return matrix if self.reversed_depth else with_reversed_depth(matrix)

    def _draw_passes(self, culling: Culling, seconds: dict[str, float] | None) -> None:
        if culling != "occlusion":
            with self._step("first", seconds):
                self._pass(Pass.FRUSTUM if culling == "frustum" else Pass.ALL)
            return
        with self._step("first", seconds):
            self._pass(Pass.SEEN_BEFORE)
        with self._step("pyramid", seconds):
            self._hiz.build()
        with self._step("second", seconds):
            self._pass(Pass.NOT_HIDDEN)
        self.culling.end_frame()

    def _pass(self, kind: Pass) -> None:
        listed = self.culling.run(kind, self.target.size)
        self._draw_list(listed)
        self.lists = (*self.lists, listed)

    def _draw_list(self, listed: Listed, vertices: Any = None, depth: bool = True) -> None:
        vertices = vertices or self._vertices
        self.bind()
        listed.numbers.bind_to_storage_buffer(5)
        with self.target.drawing(vertices.ctx, depth=depth):
            vertices.render_indirect(listed.command, count=1)

    @contextmanager
    def _step(self, name: str, seconds: dict[str, float] | None) -> Iterator[None]:
        # Waiting, and not timer queries: software drivers do not count compute shaders in those.
        begin = perf_counter()
        yield
        if seconds is not None:
            self._vertices.ctx.finish()
            seconds[name] = perf_counter() - begin


def _at(numbers: np.ndarray, candidates: np.ndarray, there: np.ndarray) -> np.ndarray:
    result = np.full(candidates.shape, EMPTY, np.uint32)
    result[there] = numbers[candidates[there]]
    return result


def _count(listed: Listed) -> int:
    return int(np.frombuffer(listed.command.read(), np.uint32)[1])
