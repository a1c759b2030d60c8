"""What differs from one simplified mesh to the next, taken apart into changes that can be made one without another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.joining import joined
from hra.domains.meshes.building.tracing import Lives


@dataclass(frozen=True, eq=False)
class Changes:
    """C changes of a surface from fine to coarse; each swaps some triangles for fewer with the same border.

    Attributes
    ----------
    triangles : uint32 [K, 3], those of the first mesh before all others, in its order.
    made_by : int64 [K], the change that makes each, -1 for those of the first mesh.
    gone_by : int64 [K], the change that takes each away, -1 for those of the last mesh.
    step : int64 [C], which step from mesh to mesh the change is a part of; they are in this order.
    """

    triangles: np.ndarray
    made_by: np.ndarray
    gone_by: np.ndarray
    step: np.ndarray

    def __len__(self) -> int:
        return len(self.step)

    @property
    def saved(self) -> np.ndarray:
        """How many triangles fewer there are after each change, int64 [C]."""
        gone, made = (np.bincount(by[by >= 0], minlength=len(self)) for by in (self.gone_by, self.made_by))
        return gone - made


def independent_changes(meshes: Sequence[np.ndarray], geometry: Geometry) -> Changes:
    """The changes between consecutive ``meshes`` uint32 [3 T], each simplified from the last.

    After any of the changes, and those that made what it takes away, the surface is as closed as before. Most are one
    collapsed edge, because the simplifier moves no vertex next to one that has moved in the same pass.
    """
    lives = Lives.of(meshes)
    parts = _Parts.of(lives, geometry)
    kept = parts.leave_something(lives)
    parts.save_something()
    return parts.changes(kept)


@dataclass(frozen=True, eq=False)
class _Parts:
    """What goes at each step and what comes, P triangles in all.

    Attributes
    ----------
    triangles : uint32 [K, 3], of all meshes; middles : float32 [K, 3].
    row : int64 [P], which of them each part is; step : int64 [P]; sign : int64 [P], 1 for what goes, -1 for what comes.
    label : int64 [P], equal for the parts of one change; written to.
    """

    triangles: np.ndarray
    middles: np.ndarray
    row: np.ndarray
    step: np.ndarray
    sign: np.ndarray
    label: np.ndarray

    @classmethod
    def of(cls, lives: Lives, geometry: Geometry) -> _Parts:
        """Labelled so that cracks are excluded."""
        goes, comes = np.flatnonzero(lives.gone <= lives.steps), np.flatnonzero(lives.born > 0)
        row, step = np.concatenate([goes, comes]), np.concatenate([lives.gone[goes], lives.born[comes]]) - 1
        sign = np.repeat([1, -1], [goes.size, comes.size])
        label = joined(geometry.by_position(lives.triangles[row]), step, sign)
        return cls(lives.triangles, geometry.unit_positions[lives.triangles].mean(axis=1), row, step, sign, label)

    def leave_something(self, lives: Lives) -> dict[tuple[int, int], int]:
        """Give each change that leaves nothing, such as an island that is removed, the nearest triangle that stays.

        Returns
        -------
        Triangles that a change replaces by themselves: for triangle and step a part of the change.
        """
        kept: dict[tuple[int, int], int] = {}
        comes = np.flatnonzero(self.sign < 0)
        made = dict(zip(self.row[comes].tolist(), comes.tolist(), strict=True))
        alone = np.bincount(self.label[comes], minlength=len(self.label)) == 0
        for part in np.flatnonzero(alone & (self.label == np.arange(len(self.label)))).tolist():
            step = int(self.step[part])
            stays = np.flatnonzero((lives.born <= step + 1) & (lives.gone > step + 1))
            near = int(stays[self._nearest(stays, part)])
            self._merge(part, made[near] if lives.born[near] == step + 1 else kept.setdefault((near, step), part))
        return kept

    def save_something(self) -> None:
        """Put each change that saves no triangle, such as a wedge that moves, to the nearest of its step that does."""
        while True:
            saved = np.bincount(self.label, self.sign, minlength=len(self.label))[self.label]
            poor = np.flatnonzero(saved <= 0)
            if not poor.size:
                return
            hosts = np.flatnonzero((self.step == self.step[poor[0]]) & (saved > 0))
            self._merge(int(poor[0]), int(hosts[self._nearest(self.row[hosts], int(poor[0]))]))

    def changes(self, kept: dict[tuple[int, int], int]) -> Changes:
        """The changes by their labels, with some triangles replaced by themselves."""
        _, first, label = np.unique(self.label, return_index=True, return_inverse=True)
        order, count = np.argsort(self.step[first], kind="stable"), len(self.triangles)
        number = np.argsort(order)[label.reshape(-1)]
        made_by, gone_by = np.full((2, count + len(kept)), -1, np.int64)
        for by, sign in ((gone_by, 1), (made_by, -1)):
            by[self.row[self.sign == sign]] = number[self.sign == sign]
        # The last step first: what is new lives on until the triangle goes, or is replaced again.
        again = sorted(kept, key=lambda key: -key[1])
        for new, (triangle, step) in enumerate(again, count):
            made_by[new], gone_by[new] = number[kept[triangle, step]], gone_by[triangle]
            gone_by[triangle] = made_by[new]
        rows = np.concatenate([np.arange(count), np.array([triangle for triangle, _ in again], np.int64)])
        return Changes(self.triangles[rows], made_by, gone_by, self.step[first[order]])

    def _merge(self, part: int, other: int) -> None:
        """Put the change of one part to that of another."""
        self.label[self.label == self.label[part]] = self.label[other]

    def _nearest(self, rows: np.ndarray, part: int) -> int:
        """Which of the triangles ``rows`` has its middle nearest to that of the change of ``part``."""
        middle = self.middles[self.row[self.label == self.label[part]]].mean(axis=0)
        return int(np.argmin(np.square(self.middles[rows] - middle).sum(axis=1)))
