"""Budgets of tokens that are stated as operations or as time, and resolved by what a model says that prompts cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hra.errors import BudgetTooSmall, InvalidBudget
from hra.model.arrays import COUNTS, is_number, whole_in


@dataclass(frozen=True)
class Flops:
    """The most visual tokens of a prompt whose first answered token takes at most ``amount`` operations in all.

    Encoder, connector and prompt count. Pictures and videos of a prompt share its tokens by their cells. For
    `hra.integrations.transformers.reduce`.

    Parameters
    ----------
    amount : operations of each prompt.
    model : counts them: `hra.integrations.transformers.CostModel`.

    Raises
    ------
    InvalidBudget : no number above 0.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from hra.domains import tokens
    >>> linear = SimpleNamespace(flops=lambda text, visual, patches: 1e9 * (text + visual))
    >>> tokens.Flops(50e9, linear).tokens(text=20, cells=576)
    30
    """

    amount: float
    model: Any
    prices: ClassVar[str] = "flops"

    def __post_init__(self) -> None:
        if not is_number(self.amount) or not self.amount > 0:
            what = f"{self.amount!r} {self.prices} buy nothing"
            raise InvalidBudget(what, where="budget", fix="pass a number above 0")
        if not callable(getattr(self.model, self.prices, None)):
            what = f"{type(self.model).__name__} does not say what prompts cost in {self.prices}"
            raise InvalidBudget(
                what, where="budget", fix="pass CostModel(model.config) for Flops, a Timed for Milliseconds"
            )

    def tokens(self, text: int, cells: int, patches: Sequence[int] = (), least: int = 1) -> int:
        """The most visual tokens, at most ``cells``, that the budget has room for.

        Parameters
        ----------
        text : all other tokens of the prompt; cells : of its pictures, and at least ``least``.
        patches : of each picture or frame that the encoder sees.
        least : tokens that cannot be left out.

        Raises
        ------
        BudgetTooSmall : not even ``least``; states what they take.
        HraError : numbers of tokens that are not whole, below 0, or fewer ``cells`` than ``least``.
        """
        price = getattr(self.model, self.prices)
        text, least = whole_in("text", text), whole_in("least", least)
        low, high = least - 1, whole_in("cells", cells, range(least, COUNTS.stop))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if price(text, middle, patches) <= self.amount else (low, middle - 1)
        if low < least:
            needed = price(text, least, patches)
            what = f"{least} tokens of this prompt take {needed:.4g} {self.prices}, the budget is {self.amount:.4g}"
            raise BudgetTooSmall(what, where="budget", fix=f"pass at least {1.001 * needed:.4g}")
        return low


@dataclass(frozen=True)
class Milliseconds(Flops):
    """The most visual tokens of a prompt whose first answered token comes within ``amount`` milliseconds.

    As `Flops`, by a model whose rates were measured on the machine at hand.

    Parameters
    ----------
    amount : milliseconds of each prompt.
    model : `hra.integrations.transformers.Timed`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from hra.domains import tokens
    >>> linear = SimpleNamespace(milliseconds=lambda text, visual, patches: 10 + 0.1 * (text + visual))
    >>> tokens.Milliseconds(40, model=linear).tokens(text=20, cells=576)
    280
    """

    prices: ClassVar[str] = "milliseconds"
