"""A batch of images in, a row of tokens for each out: one callable for a process pool and for data pipelines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from hra.caching import cached_property
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.token_builder import Choice
from hra.domains.tokens.corpus.rows import Row, as_text, error_row, rows_of, table_of, token_row
from hra.domains.tokens.methods.named import named_allocator
from hra.errors import HraError, MissingExtra, wrong_kind
from hra.files.images.files import decode_image, load_image
from hra.model.arrays import is_number, whole_number
from hra.model.problem import Problem
from hra.pooling.pool import pool
from hra.pooling.stream_price import Demand
from hra.traversals.hull import Hull

Made = TypeVar("Made")
# Decoding takes 20 bytes a pixel, and allocation as much again.
MAX_PIXELS = 2**25


@dataclass(frozen=True)
class TokenAllocation:
    """Tokens of a batch of images, as a table without pixels.

    What cannot be read becomes a row with its error; all other rows are as if it had not been there, except for a bank,
    which has one image less to share.

    Parameters
    ----------
    method, relevance, metric, traversal : by name, as ``hra tokens allocate`` takes them.
    budget : tokens of each image, met exactly; one with fewer finest patches gets all of them. With a bank or a price
        it is the mean.
    question : of rows that bring none of their own.
    bank : this many images in a row in a batch share the sum of their budgets. They are in memory together.
    price : every image gets the tokens that gain more than that, see `hra.pooling.stream_price`; None for counts.
    max_pixels : images with more become rows with an error, so that memory has a limit.

    Raises
    ------
    HraError : an unknown name, a budget or bank that is not a whole number above 0, or a bank together with a price.

    Examples
    --------
    >>> import hra
    >>> from hra.domains.tokens import TokenAllocation
    >>> allocate = TokenAllocation(budget=20, relevance="uniform")
    >>> table = allocate({"path": [str(hra.samples.path("photo.jpg")), "no.jpg"]})
    >>> [len(row or ()) for row in table["indices"].to_pylist()], table["error"].to_pylist()
    ([20, 0], [None, 'invalid-file: the file does not exist'])
    """

    method: str = "pyramid"
    budget: int = 273
    question: str = ""
    relevance: str | None = None
    metric: str | None = None
    traversal: str | None = None
    bank: int = 1
    price: float | None = None
    max_pixels: int = MAX_PIXELS

    def __post_init__(self) -> None:
        for name in ("budget", "bank", "max_pixels"):
            value = whole_number(given := getattr(self, name))
            if value is None or value < 1:
                raise HraError(f"{name} is {given!r}", where="TokenAllocation", fix="use a whole number above 0")
            object.__setattr__(self, name, value)  # an int of Python goes into the facts of a job
        if not isinstance(self.question, str):
            raise HraError(f"question is {self.question!r}", where="TokenAllocation", fix="use a text, empty for none")
        for name in ("method", "relevance", "metric", "traversal"):
            given = getattr(self, name)
            if not isinstance(given, str) and (given is not None or name == "method"):
                raise wrong_kind(
                    name, given, str, "name it, as hra tokens allocate does: jobs keep names in their files"
                )
        if self.bank > 1 and self.price is not None:
            raise HraError("a bank and a price were given", where="TokenAllocation", fix="leave one of them out")
        if self.price is not None and not (is_number(self.price) and 0 <= self.price < float("inf")):
            raise HraError(f"the price is {self.price!r}", where="TokenAllocation", fix="use a number >= 0")
        _ = self._allocator

    def __call__(self, batch: Any) -> Any:
        """The rows of a batch.

        Parameters
        ----------
        batch : a table of PyArrow or a mapping from column to values: ``bytes`` of image files or their ``path``, and,
            where they differ, ``question`` and ``id`` (by default the path).

        Returns
        -------
        A table of PyArrow in the order of the batch: ``id``, ``indices`` (nodes of the cut), ``levels`` (0 is the
        finest), ``boxes`` (x0, y0, x1, y1 in pixels, end excluded), ``gain``, ``gap`` (None without a certificate), how
        the question was served (``used``, ``confidence``, ``by``, see `Served`) and ``error`` (None if there is none).

        Raises
        ------
        HraError : rows with neither bytes nor path; MissingExtra : a package that every image needs.
        """
        rows = rows_of(batch)
        _check(rows)
        groups = [rows[begin : begin + self.bank] for begin in range(0, len(rows), self.bank)]
        return table_of(row for group in groups for row in self._rows(group))

    def demand(self, row: Row) -> Demand | Exception:
        """What the image of a row would spend at every price, or why it cannot be read."""
        return _attempt(lambda: Demand.of(self._problem(self._context(row))))

    @property
    def relevance_name(self) -> str:
        """The name of the relevance that runs, chosen or not."""
        return self._named[1]

    @property
    def _allocator(self) -> TokenAllocator[Any]:
        return self._named[0]

    @cached_property
    def _named(self) -> tuple[TokenAllocator[Any], str]:
        return named_allocator(self.method, self.relevance, self.metric, self.traversal)

    def _context(self, row: Row) -> TokenContext:
        content, question = row.get("bytes"), row.get("question")
        if content is None:
            image = load_image(row["path"], max_pixels=self.max_pixels)
        else:
            image = decode_image(content, max_pixels=self.max_pixels, name=name_of(row))
        return self._allocator.context(image, self.question if question is None else question)

    def _problem(self, context: TokenContext) -> Problem:
        return self._allocator.problem_for(self._allocator.hierarchy_for(context), context, float("inf"))

    def _rows(self, group: list[Row]) -> list[Row]:
        """The rows of images that share their budgets."""
        made = [_attempt(lambda: self._alone(group[0]))] if len(group) == 1 else self._together(group)
        return [
            error_row(name_of(row), one) if isinstance(one, Exception) else one
            for row, one in zip(group, made, strict=True)
        ]

    def _alone(self, row: Row) -> Row:
        context = self._context(row)
        return self._row(row, self._allocator.allocate_batch([context], self._budget(context))[0])

    def _budget(self, context: TokenContext) -> float:
        return self.budget if self.price is None else Demand.of(self._problem(context)).at(self.price)

    def _together(self, group: list[Row]) -> list[Row | Exception]:
        contexts = [_attempt(lambda row=row: self._checked(row)) for row in group]
        read = [context for context in contexts if not isinstance(context, Exception)]
        shared = iter(self._share(read))
        choices = [context if isinstance(context, Exception) else next(shared) for context in contexts]
        return [
            choice if isinstance(choice, Exception) else _attempt(lambda row=row, one=choice: self._row(row, one))
            for row, choice in zip(group, choices, strict=True)
        ]

    def _share(self, read: list[TokenContext]) -> list[Choice] | list[Exception]:
        """What each of the images receives of the sum of their budgets."""
        if not read:
            return []
        bank = pool(*[self._allocator] * len(read), traversal=Hull(spend_all=True))
        made = _attempt(lambda: bank.allocate(read, self.budget * len(read)))
        if isinstance(made, Exception):
            return [made] * len(read)
        return [Choice.of(member) for member in made.members]

    def _checked(self, row: Row) -> TokenContext:
        """A context whose gains are known to be usable: one that fails must not fail the others."""
        context = self._context(row)
        self._problem(context).check()
        return context

    def _row(self, row: Row, choice: Choice) -> Row:
        return token_row(name_of(row), choice, self._allocator.realize_batch([choice])[0])


def name_of(row: Row) -> str:
    r"""The id of a row, or else its path; bytes that are no UTF-8 as ``\udcff``, which tables of text can hold."""
    return as_text(str(row["path"] if row.get("id") is None else row["id"]))


def _check(rows: list[Row]) -> None:
    for number, row in enumerate(rows):
        if row.get("bytes") is None and row.get("path") is None:
            fix = "give each row the column 'bytes' or 'path'"
            raise HraError("a row without an image", where=f"row {number}", fix=fix)
        if row.get("path") is None and row.get("id") is None:
            raise HraError("a row without a name", where=f"row {number}", fix="give rows of bytes an 'id' or 'path'")


def _attempt(make: Callable[[], Made]) -> Made | Exception:
    """What ``make`` returns or raises: whatever is wrong with one image, the others go on."""
    try:
        return make()
    except MissingExtra:
        raise  # wrong with all of them
    except Exception as error:
        return error
