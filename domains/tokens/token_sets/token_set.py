"""The result of a token allocation: the token array with everything a model needs beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from hra.domains.tokens.embedding.batch_encoder import encode_crops
from hra.domains.tokens.embedding.embeddings import pool_regions, select_cells
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Grid, Regions, checked_grid
from hra.domains.tokens.embedding.pictures import picture
from hra.domains.tokens.embedding.positions import PositionKind, positions
from hra.domains.tokens.pyramid.blocks import block_maxima


class TokenSet(ABC):
    """K tokens of one image, whatever they are: patches, regions, samples, bands.

    Attributes
    ----------
    values : float32 [K, D], what each token carries.
    relevance : float64 [K], mean relevance of the token's region.
    image_size : (height, width) of the image in pixels.
    patch : side of a token in its own pixels.
    fixations : float64 [K, 2], (x, y) in pixels, where was looked when each token was taken; None where a method does
        not look anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> chosen = allocator.realize(allocator.allocate((image, "what is at the top left?"), budget=20))
    >>> chosen
    PatchTokens(20 tokens of 768 values, levels 0 to 3, of 128 x 192 pixels)
    >>> features = np.random.default_rng(1).random((8, 12, 64))  # of an encoder with patches of 16 pixels
    >>> chosen.pool(features).shape, chosen.positions("centres").shape, chosen.dropped.shape
    ((20, 64), (20, 2), (8, 12))
    """

    values: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    fixations: np.ndarray | None

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.values)

    def __repr__(self) -> str:
        """Kind, count, levels and image size."""
        levels = f"levels {self.levels.min()} to {self.levels.max()}" if len(self) else "no level"
        height, width = self.image_size
        of = f"{len(self)} tokens of {self.values.shape[1]} values"
        return f"{type(self).__name__}({of}, {levels}, of {height} x {width} pixels)"

    def _repr_png_(self) -> bytes | None:
        from hra.domains.tokens.pictures.sheet import portrait

        return portrait(self)

    @property
    def order(self) -> np.ndarray:
        """Token indices from the most to the least relevant, ties in the given order, int64 [K]."""
        return np.argsort(-self.relevance, kind="stable")

    @property
    @abstractmethod
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that enclose each token's region, int32 [K, 4]."""

    @property
    @abstractmethod
    def detail(self) -> np.ndarray:
        """log2 of the image's pixels along one side of a token's pixel, float32 [K]; 0 is the finest."""

    @property
    def levels(self) -> np.ndarray:
        """The whole number next to each token's `detail`, int32 [K]."""
        return np.rint(self.detail).astype(np.int32)

    @property
    def centres(self) -> np.ndarray:
        """(x, y) of the middle of each token's box in pixels, float64 [K, 2]."""
        boxes = self.boxes.astype(np.float64)
        return (boxes[:, :2] + boxes[:, 2:]) / 2

    @property
    def eccentricity(self) -> np.ndarray:
        """Pixels from each token's fixation to its centre, float64 [K]; NaN where there is no fixation."""
        return np.hypot(*self._offsets.T)

    @property
    def angle(self) -> np.ndarray:
        """Direction from each token's fixation to its centre, radians from +x to +y (down), float64 [K], or NaN."""
        return np.arctan2(*self._offsets.T[::-1])

    @property
    def dropped(self) -> np.ndarray:
        """Levels of detail that the tokens leave out, float32 [ceil(H/patch), ceil(W/patch)].

        0 where every pixel of a finest patch is shown at full detail, else the coarsest `detail` that shows one, inf
        where a pixel is not shown at all.
        """
        return block_maxima(self.shown_detail(), self.patch)

    def positions(self, kind: PositionKind, grid: Grid | None = None) -> np.ndarray:
        """Where the tokens are, in a form for a model's position embedding.

        Parameters
        ----------
        kind : "centres", (x, y) of the middle in cells of the grid, counted so that the cell in column 3 of row 2 is at
            (3, 2) and a patch over four cells lies between them; "level_xy", (level, x, y) with x and y of the first
            corner in tokens of that level; "boxes", (x0, y0, x1, y1, width, height) in cells of the grid. Patches end
            where the grid does.
        grid : (rows, columns) of the model's own tokens, stretched over the image; by default the finest patches.

        Returns
        -------
        float32 [K, 2], [K, 3] or [K, 6].

        Raises
        ------
        HraError : unknown kind, or a grid that is not two whole numbers from 1 on.
        """
        size, patch = self.image_size, self.patch
        finest = (-(-size[0] // patch), -(-size[1] // patch))
        stated = finest if grid is None else checked_grid(grid)
        if stated == finest:
            cells, ends = (size[0] / patch, size[1] / patch), (finest[0] * patch, finest[1] * patch)
        else:
            cells, ends = stated, size
        return positions(self._corners_within(ends), self.detail, kind, size, cells, patch)

    def select(self, features: Any, image: Any = None, *, grid: Grid | None = None) -> Any:
        """The model's own tokens for a cut that consists of cells of its grid.

        Parameters, errors : as for `pool`.

        Returns
        -------
        [K, D], of the kind, dtype and device of the features. All finest patches give back the encoder's output.

        Raises
        ------
        ArrayError : a token is not one cell of the grid; names the first.
        """
        return select_cells(*self._below(features, image, grid))

    def pool(self, features: Any, image: Any = None, *, grid: Grid | None = None) -> Any:
        """The area-weighted mean of the features below each token's region.

        Parameters
        ----------
        features : [h, w, D] over the whole image, of any grid; [N, D] with ``grid``; or an encoder, image float32
            [H, W, 3] -> one of both. NumPy, torch or any other array.
        image : what the encoder is called with, in any form that `TokenAllocator.context` takes, or the `TokenContext`.
        grid : (rows, columns) of features [N, D].

        Returns
        -------
        [K, D]. Torch tensors come back on their device, with their dtype and gradient, everything else as NumPy
        float32.

        Raises
        ------
        ArrayError : features that are not a grid, a wrong image, or tokens without a region for a mean.
        """
        return pool_regions(*self._below(features, image, grid))

    def encode(self, encoder: Callable[[np.ndarray], Any], image: Any = None) -> Any:
        """What an encoder makes of each token at the token's own resolution.

        Levels of an image are encoded as a whole and then pooled to their tokens, so that patches have their context;
        regions and samples are encoded one by one (together by a `BatchEncoder`), as pictures of patch x patch pixels.

        Parameters
        ----------
        encoder : image float32 [h, w, 3] -> features [rows, columns, D].
        image : needed where levels are encoded, see `pool`.

        Returns
        -------
        [K, D], see `pool`.

        Raises
        ------
        ArrayError : features that are not a grid, a missing or different image, tokens that are not pictures.
        """
        return encode_crops(self.values.reshape(len(self), self.patch, self.patch, 3), encoder)

    @abstractmethod
    def token_map(self) -> np.ndarray:
        """The token that shows each pixel, the one of finest detail where several do, -1 for none: int32 [H, W]."""

    @abstractmethod
    def reconstruct(self) -> np.ndarray:
        """The image from these tokens alone, float32 [H, W, 3] in [0, 1]."""

    def shown_detail(self) -> np.ndarray:
        """The detail (see `detail`) at which each pixel is shown, inf where no token shows it: float32 [H, W]."""
        return np.append(self.detail, np.float32(np.inf))[self.token_map()]

    @property
    def _corners(self) -> np.ndarray:
        """(x0, y0, x1, y1) of each token in pixels, beyond the border where the token is: [K, 4]."""
        return self.boxes

    def _corners_within(self, size: Grid) -> np.ndarray:
        """`_corners` of patches up to (height, width); a sample's square stays, whose middle is the sample's place."""
        return self._corners

    @property
    def _regions(self) -> Regions:
        """What each token stands for, within the image."""
        limit = np.array(self.image_size[::-1] * 2, np.float64)
        return Regions.of(np.clip(self._corners, 0, limit))

    @property
    def _offsets(self) -> np.ndarray:
        """From fixations to centres in pixels, float64 [K, 2]."""
        return self.centres - (np.full((len(self), 2), np.nan) if self.fixations is None else self.fixations)

    def _below(self, features: Any, image: Any, grid: Grid | None) -> tuple:
        """Features, regions, count, image size and patch."""
        made = features(picture(image, self.image_size)) if callable(features) else features
        return FeatureGrid.of(made, grid), self._regions, len(self), self.image_size, self.patch
