"""One prompt on its way through the layers, and the steps after it.

First which visual tokens stay at a stage, and what they become; then the run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from hra.caching import cached_property
from hra.compiling import Stopwatch
from hra.errors import ArrayError
from hra.integrations.transformers.choosing import Choosing, Given
from hra.integrations.transformers.inside.attention import attention_of, rank, raters
from hra.integrations.transformers.inside.columns import Columns
from hra.integrations.transformers.inside.stage import Stage
from hra.integrations.transformers.language_attention import cache_of


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
    (chosen,) = choosing.choose(Given(((1, len(hidden)),), (hidden,), relevance=relevance), count)
    return torch.as_tensor(chosen.slots, device=hidden.device), chosen.levels[0]


@dataclass(eq=False)
class PromptRun:
    """State of one batch of prompts.

    Attributes
    ----------
    stages : by layer.
    cut : "shorten" or "mask".
    visual, real : of the whole prompts, bool [B, L].
    layers : tokens that are left, of each layer so far.
    counts : visual tokens of each layer and prompt.
    total : tokens so far, with those that are gone.
    seconds : of choosing, by the processor.
    """

    stages: tuple[Stage, ...]
    cut: str
    visual: Tensor
    real: Tensor
    layers: list[Columns] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    total: int = 0
    seconds: float = 0.0
    _paid: Any = None
    _asked: Tensor | None = None
    _memory: dict[tuple, tuple[Any, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.total = self.visual.shape[1]

    @cached_property
    def entered(self) -> list[int]:
        """Visual tokens of each prompt."""
        return self.visual.sum(dim=1).tolist()

    @property
    def columns(self) -> Columns:
        """What is left now."""
        return self.layers[-1]

    def further(self, tokens: int) -> None:
        """Count ``tokens`` more after what there was."""
        self.total += tokens
        self._memory.clear()

    def enter(self, number: int, module: Any, hidden: Tensor, options: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
        """What a layer gets instead."""
        mask = options.get("attention_mask")
        if mask is not None and (not isinstance(mask, Tensor) or mask.ndim != 4):
            fix = 'load the model with attn_implementation="sdpa"'
            raise ArrayError("the mask of this attention is not known", where="attention_mask", fix=fix)
        if self.total > self.visual.shape[1]:
            return hidden, {**options, "attention_mask": self._step_mask(number, mask, hidden, options)}
        return self._prompt(number, module, hidden, options)

    def _prompt(
        self, number: int, module: Any, hidden: Tensor, options: dict[str, Any]
    ) -> tuple[Tensor, dict[str, Any]]:
        watch = Stopwatch()
        if number == 0:
            self._first(hidden)
        else:
            self.layers.append(self.columns)
        stage, following = self._stage(number), self._stage(number + 1)
        if stage is not None:
            if stage.ahead:
                self._paid = self._read(stage, module, hidden, options)
            hidden = self._drop(stage, hidden)
        if following is not None and not following.ahead:
            self._paid = self._read(following, module, hidden, options)
        if stage is not None or number == 0:
            visual = self.columns.take(self.visual) & ~self.columns.gone
            self.counts.append(visual.sum(dim=1).tolist())
        else:
            self.counts.append(self.counts[-1])
        self.seconds += watch.cpu if stage is not None or following is not None else 0.0
        return hidden, self._options(options)

    def _first(self, hidden: Tensor) -> None:
        """All tokens enter."""
        batch, length = self.visual.shape
        places = torch.arange(length, device=hidden.device).expand(batch, -1)
        self.layers.append(Columns(places, length))
        self._asked = words_asked(self.stages, hidden, self.visual, self.real)

    def _stage(self, number: int) -> Stage | None:
        return next((stage for stage in self.stages if stage.layer == number), None)

    def _read(self, stage: Stage, module: Any, hidden: Tensor, options: dict[str, Any]) -> Tensor:
        """Attention to the tokens that are left."""
        given = self._options(options, "shorten")
        short = hidden if self.cut == "shorten" else self.columns.take(hidden)
        layer = Layer(module, short, given["position_embeddings"], given["attention_mask"])
        real = self.columns.take(self.real) & ~self.columns.gone
        asked = None if stage.asking != "raters" or self._asked is None else self.columns.take(self._asked) & real
        return layer.paid(stage, real, asked)

    def _drop(self, stage: Stage, hidden: Tensor) -> Tensor:
        """Let tokens go; hidden states of what is left, or all with what they took up."""
        before = self.columns
        short = hidden if self.cut == "shorten" else before.take(hidden)
        visual = self.columns.take(self.visual) & ~before.gone
        kept, changed = pick(stage, self._paid, short, visual, before.gone, self.entered)
        self.layers[-1] = before.narrowed(kept)
        if self.cut == "shorten":
            return kept.take(changed)
        return hidden if changed is short else before.put(hidden, changed)

    def _options(self, options: dict[str, Any], cut: str | None = None) -> dict[str, Any]:
        """Masks and positions of what is left."""
        columns, mask = self.columns, options.get("attention_mask")
        whole = columns is self.layers[0]
        if whole or (cut or self.cut) == "mask":
            hidden = mask if whole else self._kept("hidden", mask, lambda: columns.hidden(mask, self.total, self.total))
            return {**options, "attention_mask": hidden}
        rotary, places = options["position_embeddings"], options.get("position_ids")
        shorter = {
            "attention_mask": self._kept("square", mask, lambda: columns.square(mask)),
            "position_embeddings": self._kept("rotary", rotary, lambda: tuple(columns.take(each) for each in rotary)),
        }
        if places is not None:
            shorter["position_ids"] = self._kept("places", places, lambda: columns.take(places))
        return {**options, **shorter}

    def _step_mask(self, number: int, mask: Tensor | None, hidden: Tensor, options: dict[str, Any]) -> Tensor | None:
        columns, queries = self.layers[number], hidden.shape[1]
        if columns is self.layers[0]:
            return mask
        if self.cut == "mask":
            return self._kept("hidden", mask, lambda: columns.hidden(mask, queries, self.total), number)
        keys = cache_of(options).layers[number].keys.shape[2] + queries
        return self._kept((keys, "step"), mask, lambda: columns.step(mask, keys, self.total), number)

    def _kept(self, name: Any, source: Any, make: Any, number: int = -1) -> Any:
        """What layers with the same tokens share is made once; sources are kept, for their ids name them."""
        key = (name, id(source), id(self.layers[number]))
        if key not in self._memory:
            self._memory[key] = (source, make())
        return self._memory[key][1]
