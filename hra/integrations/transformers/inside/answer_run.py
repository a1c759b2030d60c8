"""One batch of prompts and the steps of its answers, each with its own visual tokens.

A step is told by the attention that new tokens pay to a prompt whose keys are in a cache.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from hra.compiling import Stopwatch
from hra.integrations.transformers.inside.attention import attention_of
from hra.integrations.transformers.inside.columns import Columns
from hra.integrations.transformers.inside.reallocation import Reallocation
from hra.integrations.transformers.language_attention import cache_of, heads


def paid_in_step(
    layer: Any, hidden: Tensor, rotary: tuple[Tensor, Tensor], keys: Tensor, columns: Columns, real: Tensor
) -> Tensor:
    """Mean over heads of the attention of the last new token among what is cached, [B, L] of the whole prompts.

    Parameters
    ----------
    hidden : [B, q, D], what enters the layer.
    rotary : of the new tokens.
    keys : the layer's cache, [B, heads, n, d]: tokens ``columns`` of the prompt, then those of the answer.
    real : bool [B, L], False for padding of the prompts.
    """
    attention, last = layer.self_attn, slice(hidden.shape[1] - 1, None)
    rotate = sys.modules[type(attention).__module__].apply_rotary_pos_emb
    queries = heads(attention, "q", layer.input_layernorm(hidden[:, last]))
    queries, _ = rotate(queries, queries, *(each[:, last] for each in rotary))
    grouped = queries.reshape(len(keys), keys.shape[1], -1, keys.shape[3])
    logits = (grouped @ keys.transpose(2, 3)).float().flatten(1, 2) * attention.scaling
    prompt = columns.places.shape[1]
    there = columns.take(real) & ~columns.gone
    seen = torch.nn.functional.pad(there, (0, keys.shape[2] - prompt), value=True)
    paid = logits.masked_fill(~seen[:, None], -torch.inf).softmax(-1).mean(dim=1)[:, :prompt]
    whole = torch.zeros(len(keys), columns.prompt + 1, device=paid.device)
    return whole.scatter(1, columns.places.where(~columns.gone, columns.prompt), paid)[:, :-1]


@dataclass(eq=False)
class AnswerRun:
    """State of one batch.

    Attributes
    ----------
    rows : the visual tokens of each prompt.
    visual, real : of the whole prompts, bool [B, L].
    removes : layers whose caches hold only what is left.
    held : what they hold of the prompts.
    seen : what this step sees of the prompts.
    seconds : of every allocation, by the processor.
    total : tokens so far, with those that are gone.
    """

    rows: list[Reallocation]
    visual: Tensor
    real: Tensor
    removes: frozenset[int]
    held: Columns = field(init=False)
    seen: Columns = field(init=False)
    seconds: list[float] = field(default_factory=list)
    total: int = 0
    _next: Columns | None = None
    _masks: dict[tuple, tuple[Any, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        batch, self.total = self.visual.shape
        places = torch.arange(self.total, device=self.visual.device)
        self.held = self.seen = Columns(places.expand(batch, -1), self.total)

    def further(self, tokens: int, cache: Any) -> None:
        """A step begins: it sees what the last one allocated."""
        self.total += tokens
        self._masks.clear()
        if self._next is not None:
            self.seen = self._next
        if self.removes:
            self._shrink(cache)

    def allocate(self, number: int, module: Any, hidden: Tensor, options: dict[str, Any]) -> None:
        """Allocate for the next step, by the attention that the last token pays in this layer."""
        watch = Stopwatch()
        rotary = options["position_embeddings"]
        if self.total == self.held.prompt:
            last = torch.tensor([self.total - 1], device=hidden.device)
            paid = attention_of(module, hidden, rotary, options.get("attention_mask"), last)[:, 0]
        else:
            keys = cache_of(options).layers[number].keys
            paid = paid_in_step(module, hidden, rotary, keys, self._holds(number), self.real)
        stays = ~self.visual
        for row, tokens in enumerate(self.rows):
            cells = self.visual[row]
            tokens.allocate(paid[row, cells].float().cpu().numpy())
            stays[row, cells] = torch.as_tensor(tokens.kept, device=stays.device)
        self._next = Columns.of([row.nonzero()[:, 0] for row in stays], self.held.prompt)
        self.seconds.append(watch.cpu)

    def mask(self, number: int, hidden: Tensor, options: dict[str, Any]) -> Tensor | None:
        """What the new tokens see in a layer."""
        mask, queries = options.get("attention_mask"), hidden.shape[1]
        if number in self.removes:
            keys = cache_of(options).layers[number].keys.shape[2] + queries
            return self._once(("step", keys), mask, lambda: self.held.step(mask, keys, self.total))
        return self._once(("hidden",), mask, lambda: self.seen.hidden(mask, queries, self.total))

    def _holds(self, number: int) -> Columns:
        whole = torch.arange(self.held.prompt, device=self.visual.device).expand(len(self.visual), -1)
        return self.held if number in self.removes else Columns(whole, self.held.prompt)

    def _shrink(self, cache: Any) -> None:
        """Take what is not seen out of the cache."""
        before = self.held.places.shape[1]
        stays = self.held.take(~self.seen.dropped) & ~self.held.gone
        if torch.equal(stays, ~self.held.gone):
            return
        kept = Columns.of([row.nonzero()[:, 0] for row in stays], before)
        self.held = self.held.narrowed(kept)
        for number in self.removes:
            layer = cache.layers[number]
            further = torch.arange(before, layer.keys.shape[2], device=layer.keys.device).expand(len(stays), -1)
            entries = torch.cat([kept.places.clamp(min=0), further], dim=1)[:, None, :, None]
            layer.keys, layer.values = (
                each.gather(2, entries.expand(-1, each.shape[1], -1, each.shape[3]))
                for each in (layer.keys, layer.values)
            )

    def _once(self, name: tuple, mask: Tensor | None, make: Any) -> Tensor | None:
        """Layers share masks."""
        key = (*name, id(mask))
        if key not in self._masks:
            self._masks[key] = (mask, make())
        return self._masks[key][1]
