"""Token sets of several images as one padded array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from hra.domains.tokens.embedding.feature_grid import Grid, is_torch, move_to, take_rows
from hra.domains.tokens.embedding.positions import PositionKind
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError, check_choice, check_kind, needs
from hra.model.arrays import to_numpy, whole_in


@dataclass(frozen=True, eq=False, repr=False)
class TokenBatch:
    """B token sets, each from the most to the least relevant token, then padded. Make it with `batch_tokens`.

    What it knows of its tokens comes in the same order, as the array kind of the values.

    Attributes
    ----------
    values : [B, K, D], pixels or embeddings, 0 for padding.
    token_sets : what the rows were made of.
    image_numbers : the image that each row is of.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> sets = [allocator.realize(allocator.allocate((image, ""), budget)) for budget in (20, 12)]
    >>> batch = tokens.batch_tokens(sets)
    >>> batch
    TokenBatch(2 x 20 tokens of 768 values, 32 without padding)
    >>> batch.positions("level_xy").shape, int(batch.images[1, -1])
    ((2, 20, 3), -1)
    """

    values: Any
    token_sets: tuple[TokenSet, ...]
    image_numbers: tuple[int, ...]

    def __repr__(self) -> str:
        """Shape and count."""
        rows, most, width = self.values.shape
        count = sum(map(len, self.token_sets))
        return f"TokenBatch({rows} x {most} tokens of {width} values, {count} without padding)"

    @property
    def mask(self) -> Any:
        """True for tokens, False for padding, bool [B, K]."""
        return self.order >= 0

    @property
    def order(self) -> Any:
        """The token's index in its own set, -1 for padding, int64 [B, K]."""
        return self._pad(lambda row: np.arange(len(self.token_sets[row])), np.int64, -1)

    @property
    def images(self) -> Any:
        """The number of the token's image, -1 for padding, int64 [B, K]."""
        return self._pad(lambda row: np.full(len(self.token_sets[row]), self.image_numbers[row]), np.int64, -1)

    @property
    def boxes(self) -> Any:
        """(x0, y0, x1, y1) in pixels, end excluded, int64 [B, K, 4]; 0 for padding."""
        return self._of(lambda tokens: tokens.boxes, np.int64, 4)

    @property
    def centres(self) -> Any:
        """(x, y) in pixels, float32 [B, K, 2]; 0 for padding."""
        return self._of(lambda tokens: tokens.centres, np.float32, 2)

    @property
    def levels(self) -> Any:
        """Levels of detail, 0 is the finest, int64 [B, K]; 0 for padding."""
        return self._of(lambda tokens: tokens.levels, np.int64)

    @property
    def relevance(self) -> Any:
        """Mean relevance of the tokens' regions, float32 [B, K]; 0 for padding."""
        return self._of(lambda tokens: tokens.relevance, np.float32)

    @property
    def eccentricity(self) -> Any:
        """Pixels from the token's own fixation, float32 [B, K]; NaN without one, 0 for padding."""
        return self._of(lambda tokens: tokens.eccentricity, np.float32)

    @property
    def angle(self) -> Any:
        """Radians around the token's own fixation, float32 [B, K]; NaN without one, 0 for padding."""
        return self._of(lambda tokens: tokens.angle, np.float32)

    def positions(self, kind: PositionKind, grid: Grid | None = None) -> Any:
        """`TokenSet.positions` of all tokens, float32 [B, K, 2, 3 or 6]; 0 for padding."""
        check_choice("kind", kind, get_args(PositionKind))
        width = {"centres": 2, "level_xy": 3}.get(kind, 6)
        return self._of(lambda tokens: tokens.positions(kind, grid), np.float32, width)

    def torch(self) -> TokenBatch:
        """The same batch as torch tensors; the values share its memory.

        Raises
        ------
        MissingExtra : torch is not installed.
        """
        with needs("torch", "torch"):
            from torch import as_tensor
        return replace(self, values=as_tensor(self.values))

    def _of(self, get: Callable[[TokenSet], np.ndarray], kind: type, *width: int) -> Any:
        return self._pad(lambda row: get(self.token_sets[row]), kind, 0, *width)

    def _pad(self, get: Callable[[int], np.ndarray], kind: type, padding: int, *width: int) -> Any:
        """What ``get`` knows of the tokens of a row, in the order of the values."""
        array = np.full((*self.values.shape[:2], *width), padding, kind)
        for row, tokens in enumerate(self.token_sets):
            array[row, : len(tokens)] = get(row)[tokens.order]
        return move_to(array, self.values) if is_torch(self.values) else array


def batch_tokens(
    token_sets: Sequence[TokenSet], values: Sequence[Any] | None = None, *, images: Sequence[int] | None = None
) -> TokenBatch:
    """Pad token sets to the longest of them, in order of relevance.

    Parameters
    ----------
    token_sets : of any images and lengths, but with values of one width D; may be empty.
    values : embeddings [K, D] of each set (`TokenSet.pool`, ...) in place of its pixels; torch tensors keep device,
        dtype and gradient.
    images : the number of each set's image, where several sets are of one; by default 0, 1, 2 ...

    Raises
    ------
    ArrayError : widths differ, or values or numbers that do not belong to the sets.
    HraError : something else than token sets.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> rng = np.random.default_rng(0)
    >>> allocator = tokens.GridTopK()
    >>> sizes = [(64, 96), (128, 192)]
    >>> sets = [allocator.realize(allocator.allocate((rng.random((*size, 3)), ""), 20)) for size in sizes]
    >>> features = [rng.random((24, 24, 512)) for _ in sets]  # an encoder that sees any image as 24 x 24 patches
    >>> batch = tokens.batch_tokens(sets, [one.pool(each) for one, each in zip(sets, features)])
    >>> batch.values.shape, batch.positions("centres", grid=(24, 24)).shape
    ((2, 20, 512), (2, 20, 2))
    """
    fix = "pass a list of what realize(allocation) returned"
    check_kind("token_sets", token_sets, Iterable, fix)
    sets = tuple(token_sets)
    for row, tokens in enumerate(sets):
        check_kind(f"token_sets[{row}]", tokens, TokenSet, fix)
    if values is not None:
        check_kind("values", values, Iterable, "pass a list of embeddings [K, D], one for each token set")
    if images is not None:
        check_kind("images", images, Iterable, "pass a list of the number of each token set's image")
    each_values: Iterable[Any] = [tokens.values for tokens in sets] if values is None else values
    given: list[Any] = [each if is_torch(each) else to_numpy(each) for each in each_values]
    numbers = tuple(whole_in("images", number) for number in (range(len(sets)) if images is None else images))
    _check(sets, given, numbers)
    shape = (len(sets), max(map(len, sets), default=0), given[0].shape[1] if given else 0)
    torch = bool(given) and is_torch(given[0])
    padded = given[0].new_zeros(shape) if torch else np.zeros(shape, np.float32)
    for row, (tokens, each) in enumerate(zip(sets, given, strict=True)):
        padded[row, : len(tokens)] = take_rows(each, tokens.order)
    return TokenBatch(padded, sets, numbers)


def _check(sets: Sequence[TokenSet], values: Sequence[Any], images: Sequence[int]) -> None:
    if not len(sets) == len(values) == len(images):
        what = f"{len(sets)} token sets, {len(values)} arrays of values and {len(images)} image numbers"
        raise ArrayError(what, where="token_sets", fix="pass one of each per token set")
    if len({is_torch(each) for each in values}) > 1:
        raise ArrayError("some values are torch tensors and some are not", where="values", fix="pass all of one kind")
    for row, (tokens, each) in enumerate(zip(sets, values, strict=True)):
        if each.ndim != 2 or len(each) != len(tokens) or not (is_torch(each) or each.dtype.kind in "biuf"):
            what = f"values of {each.dtype} {list(each.shape)} for {len(tokens)} tokens"
            raise ArrayError(what, where=f"values[{row}]", fix="pass [K, D], as TokenSet.pool returns")
    widths = sorted({each.shape[1] for each in values})
    if len(widths) > 1:
        what = f"tokens of {' and '.join(map(str, widths))} values do not fit into one batch"
        raise ArrayError(what, where="token_sets", fix="use one patch size, or embeddings of one width")
