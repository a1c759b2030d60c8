"""Which visual tokens stay at a stage, and what they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hra.integrations.transformers.choosing import Choosing, Given
from hra.integrations.transformers.inside.attention import attention_of, rank, raters
from hra.integrations.transformers.inside.columns import Columns
from hra.integrations.transformers.inside.stage import Stage


@dataclass(frozen=True, eq=False)
class Layer:
    """What a layer gets, of the tokens that are left.

    Attributes
    ----------
    module : the layer.
    hidden : [B, n, D].
    rotary : cosines and sines, [B, n, d] each.
    mask : [B, 1, n, n] or None.
    """

    module: Any
    hidden: Tensor
    rotary: tuple[Tensor, Tensor]
    mask: Tensor | None

    def paid(self, stage: Stage, real: Tensor, asked: Tensor | None) -> Tensor:
        """Attention to every token that is left, [B, n]; ``real`` and ``asked`` (raters) are bool [B, n]."""
        given = (self.module, self.hidden, self.rotary, self.mask)
        device, length = self.hidden.device, self.hidden.shape[1]
        if stage.asking == "rank":
            return rank(attention_of(*given, torch.arange(length, device=device)), real)
        if asked is None or not bool(asked.any()):
            return attention_of(*given, torch.tensor([length - 1], device=device))[:, 0]
        rows = asked.any(dim=0).nonzero()[:, 0]
        weights = asked[:, rows].float()
        return (weights[:, None] @ attention_of(*given, rows))[:, 0] / weights.sum(1, keepdim=True).clamp(min=1)


def words_asked(stages: tuple[Stage, ...], hidden: Tensor, visual: Tensor, real: Tensor) -> Tensor | None:
    """The raters bool [B, L], if a stage asks them."""
    return raters(hidden, visual, real) if any(stage.asking == "raters" for stage in stages) else None


def pick(
    stage: Stage, paid: Tensor, hidden: Tensor, visual: Tensor, gone: Tensor, entered: list[int]
) -> tuple[Columns, Tensor]:
    """Columns of ``hidden`` [B, n, D] that stay, and hidden states with what the tokens take up.

    Parameters
    ----------
    paid : attention, [B, n].
    visual, gone : which are visual tokens, and which padding of shorter rows, bool [B, n].
    entered : visual tokens of each prompt at first.
    """
    rows, changed = [], hidden
    for row, number in enumerate(entered):
        cells = visual[row].nonzero()[:, 0]
        slots, features = _chosen(stage, paid[row, cells], hidden[row, cells], int(stage.keep * number + 1e-9))
        stays = ~visual[row] & ~gone[row]
        stays[cells[slots]] = True
        rows.append(stays.nonzero()[:, 0])
        if stage.reducer.merges:
            changed = changed.clone() if changed is hidden else changed
            changed[row, cells[slots]] = features
    return Columns.of(rows, hidden.shape[1]), changed


def _chosen(stage: Stage, paid: Tensor, hidden: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Slots int64 [K] and hidden states [K, D] of the visual tokens of one prompt."""
    if count == 0 or len(hidden) <= count:
        slots = torch.arange(min(count, len(hidden)), device=hidden.device)
        return slots, hidden[slots]
    relevance = paid.float().cpu().double().numpy()[None]
    choosing = Choosing(stage.reducer, "pool", lambda picture: hidden)
    chosen = choosing.choose(Given((1, len(hidden)), (hidden,), relevance=relevance), count)
    return torch.as_tensor(chosen.slots, device=hidden.device), chosen.levels[0]
