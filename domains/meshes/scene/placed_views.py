"""Views of the world, brought to each of many placed copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from hra.camera.view import View
from hra.domains.meshes.scene.placed_eye import Eye


@dataclass(frozen=True, eq=False)
class PlacedViews(Sequence[tuple[View, ...]]):
    """For each copy the views in its coordinates: made one by one only when they are asked for.

    Attributes
    ----------
    views : of the world.
    placements : float64 [B, 4, 4], object to world.
    """

    views: tuple[View, ...]
    placements: np.ndarray

    def __len__(self) -> int:
        return len(self.placements)

    @overload
    def __getitem__(self, index: int) -> tuple[View, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> PlacedViews: ...
    def __getitem__(self, index: int | slice) -> tuple[View, ...] | PlacedViews:
        """The views of one copy, or of several."""
        if isinstance(index, slice):
            part = PlacedViews(self.views, self.placements[index])
            part.__dict__["eyes"] = self.eyes
            return part
        return tuple(view.seen_from(self.placements[index]) for view in self.views)

    @cached_property
    def eyes(self) -> tuple[Eye, ...]:
        """The views' cameras, as compiled loops want them."""
        return tuple(Eye.of(view.camera) for view in self.views)

    @property
    def even(self) -> bool:
        """Whether acuity is the same all over each view."""
        return all(view.even for view in self.views)
