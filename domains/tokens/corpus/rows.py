"""One row for each image: where its tokens are and what is proven of them, or why there are none; never pixels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hra.allocating.allocation import ratio
from hra.domains.tokens.context.token_builder import Choice
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import HraError, needs

Row = dict[str, Any]


def token_row(name: str, choice: Choice, tokens: TokenSet) -> Row:
    """The row of an image: a few bytes for each of its tokens."""
    bound = choice.upper_bound
    gap = None if choice.shortfall is None or bound is None else ratio(choice.shortfall, bound)
    served = choice.context.served
    asked = {"used": served.used, "confidence": served.confidence, "by": served.by}
    places = {"indices": choice.cut.tolist(), "levels": tokens.levels.tolist(), "boxes": tokens.boxes.tolist()}
    return {"id": name, **places, "gain": choice.gain, "gap": gap, **asked, "error": None}


def error_row(name: str, error: Exception) -> Row:
    """The row of an image that has no tokens, and why: the same text wherever its file lies."""
    code = error.code if isinstance(error, HraError) else type(error).__name__
    what = error.what if isinstance(error, HraError) else str(error)
    empty = dict.fromkeys(("indices", "levels", "boxes", "gain", "gap", "used", "confidence", "by"))
    return {"id": name, **empty, "error": as_text(f"{code}: {what}")}


def as_text(name: str) -> str:
    r"""A name of a file as UTF-8 can hold it: bytes that are none of its characters as ``\udcff``."""
    return name.encode("utf-8", "backslashreplace").decode()


def rows_of(batch: Any) -> list[Row]:
    """The rows of a table of PyArrow, or of a mapping from column to values.

    Raises
    ------
    HraError : neither, a value in the place of a column, or columns of different lengths.
    """
    if hasattr(batch, "to_pylist"):
        return batch.to_pylist()
    if not isinstance(batch, Mapping):
        fix = "pass a table of PyArrow, or a dict from column to values"
        raise HraError(f"{type(batch).__name__} is not a batch of rows", where="batch", fix=fix)
    for name, column in batch.items():
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            what = f"the column {name!r} is a single {type(column).__name__}"
            raise HraError(what, where="batch", fix="pass a list with one value per image in each column")
    if len({len(column) for column in batch.values()}) > 1:
        raise HraError("columns of different lengths", where="batch", fix="pass one value per image in each column")
    return [dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)]


def table_of(rows: Iterable[Row]) -> Any:
    """Rows as a table of PyArrow: id, indices, levels, boxes, gain, gap, used, confidence, by and error.

    Raises
    ------
    MissingExtra : PyArrow is not installed.
    """
    arrow = pyarrow()
    columns = {
        "id": arrow.string(),
        "indices": arrow.list_(arrow.int64()),
        "levels": arrow.list_(arrow.int32()),
        "boxes": arrow.list_(arrow.list_(arrow.int32(), 4)),
        "gain": arrow.float64(),
        "gap": arrow.float64(),
        "used": arrow.bool_(),
        "confidence": arrow.float64(),
        "by": arrow.string(),
        "error": arrow.string(),
    }
    return arrow.Table.from_pylist(list(rows), schema=arrow.schema(columns))


def pyarrow() -> Any:
    """PyArrow.

    Raises
    ------
    MissingExtra : it is not installed.
    """
    with needs("pyarrow", "corpus"):
        import pyarrow as arrow
    return arrow
