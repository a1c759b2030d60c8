"""Tokens, masks and positions of the columns that are left of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hra.caching import cached_property


@dataclass(frozen=True, eq=False)
class Columns:
    """Which tokens of the whole prompts are left.

    Attributes
    ----------
    places : int64 [B, n], ascending; -1 before the shorter rows.
    prompt : tokens of the whole prompts.
    """

    places: Tensor
    prompt: int

    @classmethod
    def of(cls, rows: Sequence[Tensor], prompt: int) -> Columns:
        """Pad rows on the left."""
        longest = max(map(len, rows))
        padded = [torch.nn.functional.pad(row, (longest - len(row), 0), value=-1) for row in rows]
        return cls(torch.stack(padded), prompt)

    @cached_property
    def gone(self) -> Tensor:
        """Which entries are padding, bool [B, n]."""
        return self.places < 0

    @cached_property
    def ragged(self) -> bool:
        """Whether rows are padded."""
        return bool(self.gone.any())

    @cached_property
    def dropped(self) -> Tensor:
        """Which tokens of the whole prompts are not left, bool [B, L]."""
        kept = torch.zeros(len(self.places), self.prompt + 1, dtype=torch.bool, device=self.places.device)
        return ~kept.scatter(1, self.places.where(~self.gone, self.prompt), True)[:, :-1]

    def take(self, values: Tensor) -> Tensor:
        """Values [B or 1, L, ...] of the tokens that are left, [B, n, ...]; padding has those of the first."""
        return _rows(values.expand(len(self.places), *values.shape[1:]), self.places.clamp(min=0))

    def put(self, values: Tensor, changed: Tensor) -> Tensor:
        """Values [B, L, ...] with those that are left replaced by ``changed`` [B, n, ...]."""
        rows, entries = (~self.gone).nonzero(as_tuple=True)
        values = values.clone()
        values[rows, self.places[rows, entries]] = changed[rows, entries]
        return values

    def narrowed(self, kept: Columns) -> Columns:
        """The tokens whose numbers are in ``kept``."""
        places = _rows(self.places, kept.places.clamp(min=0))
        return Columns(places.masked_fill(kept.gone, -1), self.prompt)

    def square(self, mask: Tensor | None) -> Tensor | None:
        """The mask [B, 1, L, L] between the tokens that are left; None, causal, stays None where no row is padded."""
        if mask is None and not self.ragged:
            return None
        if mask is None:
            return hide(_causal(self.places.shape[1], self.places), self.gone)
        mask, places = mask.expand(len(self.places), -1, -1, -1), self.places.clamp(min=0)
        return hide(_keys(_rows(mask.transpose(1, 2), places).transpose(1, 2), places), self.gone)

    def step(self, mask: Tensor | None, keys: int, total: int) -> Tensor | None:
        """What further tokens see of a layer that held these tokens after the prompt.

        Parameters
        ----------
        mask : [B, 1, q, K] for the last K tokens of all, or None: everything.
        keys : tokens that the layer holds, with the new ones.
        total : tokens so far, with the new ones and those that are gone.
        """
        if mask is None and not self.ragged:
            return None
        further = torch.arange(self.prompt, total, device=self.places.device).expand(len(self.places), -1)
        held = torch.cat([self.places, further], dim=1)[:, -keys:]
        if mask is None:
            return (held >= 0)[:, None, None]
        first = total - mask.shape[-1]
        mask = mask.expand(len(held), -1, -1, -1)
        return hide(_keys(mask, (held - first).clamp(min=0)), (held < first) | (held < 0))

    def hidden(self, mask: Tensor | None, queries: int, total: int) -> Tensor:
        """The whole mask [B, 1, q, K], or None, with what is not left hidden."""
        if mask is None:
            mask = _causal(total, self.places)[:, :, -queries:]
        gone = torch.nn.functional.pad(self.dropped, (0, total - self.prompt))
        return hide(mask, gone[:, total - mask.shape[-1] :])


def hide(mask: Tensor, gone: Tensor) -> Tensor:
    """A mask [B or 1, 1, q, K], boolean or to be added, in which the keys ``gone`` bool [B, K] are not seen."""
    gone = gone[:, None, None]
    return mask & ~gone if mask.dtype == torch.bool else mask.masked_fill(gone, torch.finfo(mask.dtype).min)


def _causal(length: int, like: Tensor) -> Tensor:
    """Every token sees itself and those before it: bool [1, 1, L, L]."""
    return torch.ones(length, length, dtype=torch.bool, device=like.device).tril()[None, None]


def _rows(values: Tensor, places: Tensor) -> Tensor:
    return values[torch.arange(len(places), device=places.device)[:, None], places]


def _keys(mask: Tensor, places: Tensor) -> Tensor:
    """Columns ``places`` [B, n] of a mask [B, 1, q, K]."""
    return mask.gather(3, places[:, None, None].expand(-1, mask.shape[1], mask.shape[2], -1))
