"""What `reduce` hands back: inputs for the unmodified model, and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hra.integrations.transformers.choosing import Chosen
from hra.integrations.transformers.encoding import Encoded


@dataclass(frozen=True, eq=False)
class Reduced:
    """Prompts with fewer visual tokens. Rows are padded on the left.

    Attributes
    ----------
    prompt : input ids, masks and positions.
    columns : int64 [B, L], the token of the whole prompt that stands here, -1 for padding. A token that stands for
        several has the place of the one at or before the middle of them.
    chosen : what was kept of each image or tile, in the order of the placeholders.
    encoded : the encoder's whole output.
    following : int64 [B], position of the first token after each prompt.
    seconds : "encoding", and "selection": from features to inputs; by the clock, and with "_cpu" of all processors.

    Examples
    --------
    See `reduce`.

    >>> from hra.integrations.transformers import Reduced
    >>> sorted(Reduced.__dataclass_fields__)
    ['chosen', 'columns', 'encoded', 'following', 'prompt', 'seconds']
    """

    prompt: Mapping[str, Tensor]
    columns: Tensor
    chosen: tuple[Chosen, ...]
    encoded: Encoded
    following: Tensor
    seconds: Mapping[str, float]

    @property
    def inputs(self) -> dict[str, Any]:
        """For ``model(**inputs)`` and ``model.generate(**inputs)``; made anew each time: `generate` edits them."""
        outputs = {
            "image": self.encoded.with_features(
                [each.slots for each in self.chosen], [each.levels for each in self.chosen]
            )
        }
        return {**self.prompt, "mm_encoder_outputs": outputs}

    @property
    def counts(self) -> tuple[int, ...]:
        """Tokens that enter the language model, of each image or tile."""
        return tuple(len(each.slots) for each in self.chosen)

    def mask(self, step: int) -> Tensor:
        """The attention mask of the ``step``-th token after the prompts, from 0: int64 [B, L + step + 1]."""
        mask = self.prompt["attention_mask"]
        return torch.cat([mask, mask.new_ones(len(mask), step + 1)], dim=1)

    def positions(self, step: int) -> Tensor:
        """Position ids of that token, [B, 1] or [4, B, 1]: a model would count from what it sees, or saw last."""
        places = (self.following + step)[:, None]
        if self.prompt["position_ids"].ndim == 2:
            return places
        order = self.prompt["attention_mask"].sum(dim=1)[:, None] + step
        return torch.stack([order, places, places, places])
