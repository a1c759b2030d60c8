"""Token rows by Ray's actors."""

from __future__ import annotations

from typing import Any

from hra.domains import tokens


class TokenAllocation(tokens.TokenAllocation):
    """`hra.domains.tokens.TokenAllocation` as the callable class of Ray Data's ``map_batches``.

    Ray makes one of each actor; its arguments go into ``fn_constructor_kwargs``. Batches may have any format; rows in
    and out, arguments and errors are those of the base class.

    Examples
    --------
    >>> import hra
    >>> from hra.integrations.ray import TokenAllocation
    >>> allocate = TokenAllocation(budget=20, relevance="uniform")  # ds.map_batches(TokenAllocation, ...) makes it
    >>> allocate({"path": [str(hra.samples.path("photo.jpg"))]}).num_rows
    1
    """

    def __call__(self, batch: Any) -> Any:
        """The rows of a batch, a table of PyArrow."""
        return super().__call__(batch.to_dict("list") if hasattr(batch, "to_dict") else batch)
