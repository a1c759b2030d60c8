"""What the matrix of docs/models.md measures: reduced runs of a family against whole runs with the rest masked.

Every entry is the largest difference of logits, in float32, between a run of `reduce` and one forward pass of the
unmodified model over whole prompts and answers, without a cache, in which what is gone is hidden by the mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from hra.domains import tokens
from hra.integrations.transformers import Reduced, next_turn, reduce
from tests.helpers.model_families import ALL, family_inputs, family_model, pictures_of
from tests.helpers.tiny_models import IMAGE, PROCESSOR, real_positions

PROMPTS = (1, 2)
LIMIT = 2e-6
STEPS = 6
# Random models would say placeholders, too.
_OPTIONS: dict[str, Any] = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0,
                            "suppress_tokens": [IMAGE, 98]}  # fmt: skip


class Case:
    """A family with a batch of a prompt of one picture and one of two, and other counts for each of them."""

    def __init__(self, name: str, seed: int = 0, padding: str = "left", prompts: Sequence[int] = PROMPTS) -> None:
        self.name, self.model, self.prompts = name, family_model(name), prompts
        self.sizes = pictures_of(name, sum(prompts), seed)
        self.inputs = family_inputs(name, prompts, self.sizes, seed, padding)
        self.budgets = [3 + 2 * i for i in range(len(self.sizes))]

    def reduced(self, **options: Any) -> Reduced:
        """Random cells; families that state no grid get it."""
        stated = {"grids": [STATED[self.name]] * len(self.sizes)} if self.name in STATED else {}
        stated |= {"positions": "compact"} if self.name in COMPACT else {}
        options = {"allocator": tokens.Random(), "budget": self.budgets, "realize": "select", **stated, **options}
        return reduce(self.model, self.inputs, processor=PROCESSOR, **options)

    def whole(self, small: Reduced, added: Tensor) -> Tensor:
        """Logits [B, L + n, words] of the unmodified model for whole prompts and ``added`` tokens [B, n]."""
        mask, ids = torch.zeros_like(self.inputs["attention_mask"]), self.inputs["input_ids"]
        for row, columns in enumerate(small.columns):
            mask[row, columns[columns >= 0]] = 1
        more, places = torch.ones_like(added), real_positions(self.model, self.inputs)
        if self.name in COMPACT:
            places = (mask.cumsum(-1) - 1).clamp(min=0)
        last = places.amax(-1) if places.ndim == 2 else places[1:].amax((0, 2))
        next_places = last[:, None] + torch.arange(1, added.shape[1] + 1)
        if places.ndim == 3:
            order = self.inputs["attention_mask"].sum(1)[:, None] + torch.arange(added.shape[1])
            next_places = torch.stack([order, next_places, next_places, next_places])
        text = torch.full_like(added, self.name == "paligemma")  # behind its prefix
        kinds = {key: torch.cat([self.inputs[key], text.to(self.inputs[key])], 1)
                 for key in ("token_type_ids", "mm_token_type_ids") if key in self.inputs}  # fmt: skip
        inputs = {**self.inputs, **kinds, "input_ids": torch.cat([ids, added], 1)}
        masked = {"attention_mask": torch.cat([mask, more], 1), "position_ids": torch.cat([places, next_places], -1)}
        return self.model(**{**inputs, **masked}, use_cache=False).logits

    def prompt(self) -> float:
        """The prompts themselves."""
        small = self.reduced()
        whole = self.whole(small, self.inputs["input_ids"][:, :0])
        short, kept = self.model(**small.inputs).logits, small.columns >= 0
        return float((short[kept] - self._kept(small, whole)).abs().max())

    def effect(self) -> float:
        """What dropping changes: the scale beside which the other numbers are small."""
        small = self.reduced()
        whole = self.model(**self.inputs).logits
        return float((self.model(**small.inputs).logits[small.columns >= 0] - self._kept(small, whole)).abs().max())

    def _kept(self, small: Reduced, whole: Tensor) -> Tensor:
        kept = small.columns >= 0
        rows = torch.arange(len(kept))[:, None].expand_as(kept)
        return whole[rows[kept], small.columns[kept]]

    def answers(self, **options: Any) -> float:
        """`generate`, every step."""
        small = self.reduced()
        said = self._said(small.inputs, **options)
        return self._difference(small, said.sequences, small.columns.shape[1], [said])

    def turns(self) -> float:
        """Two turns on one cache, every step of both."""
        small = self.reduced()
        inputs = small.inputs
        first = self._said(inputs)
        ids = torch.randint(2, 80, (len(self.prompts), 3), generator=torch.Generator().manual_seed(5))
        second = self._said(next_turn(self.model, inputs, first, ids))
        return self._difference(small, second.sequences, small.columns.shape[1], [first, second], gap=3)

    def beams(self) -> float:
        """Beams of the batch beside beams of each prompt alone: 0 where all tokens are the same, else 1."""
        options = {**_OPTIONS, "max_new_tokens": 4, "num_beams": 3}
        batch = self.model.generate(**self.reduced().inputs, **options)[:, -4:]
        alone, first = [], 0
        for row, count in enumerate(self.prompts):
            part = self.row(row)
            part.budgets = self.budgets[first : first + count]
            alone.append(self.model.generate(**part.reduced().inputs, **options)[:, -4:])
            first += count
        return float(not torch.equal(torch.cat(alone), batch))

    def row(self, row: int) -> Case:
        """One prompt of this batch alone."""
        made = object.__new__(Case)
        first, count, kind = sum(self.prompts[:row]), self.prompts[row], ALL[self.name].kind
        made.name, made.model, made.prompts = self.name, self.model, (count,)
        made.sizes = self.sizes[first : first + count]
        real = self.inputs["attention_mask"][row].bool()
        made.inputs = {key: value[row : row + 1, real] for key, value in self.inputs.items()
                       if value.shape == real.shape or value.shape == self.inputs["input_ids"].shape}  # fmt: skip
        for key in ("image_sizes", "image_grid_thw", "image_merge_sizes"):
            if key in self.inputs:
                made.inputs[key] = self.inputs[key][first : first + count]
        pixels = self.inputs["pixel_values"]
        if kind == "packed":
            ends = self.inputs["image_grid_thw"].prod(1).cumsum(0).tolist()
            made.inputs["pixel_values"] = pixels[([0, *ends])[first] : ends[first + count - 1]]
        elif kind == "tiles":
            made.inputs["pixel_values"] = pixels[row : row + 1, :count]
        else:
            made.inputs["pixel_values"] = pixels[first : first + count]
        return made

    def assisted(self) -> float:
        """Guesses of several tokens from the prompt (one prompt): every step."""
        alone = self.row(1)
        alone.budgets = self.budgets[1:]
        small = alone.reduced()
        said = alone._said(small.inputs, prompt_lookup_num_tokens=3)
        return alone._difference(small, said.sequences, small.columns.shape[1], [said])

    def _said(self, inputs: Mapping[str, Any], **options: Any) -> Any:
        options = {**_OPTIONS, "output_logits": True, "return_dict_in_generate": True, **options}
        return self.model.generate(**inputs, **options)

    def _difference(self, small: Reduced, sequences: Tensor, before: int, said: Sequence[Any], gap: int = 0) -> float:
        whole = self.whole(small, sequences[:, before:])
        length, at, worst = self.inputs["input_ids"].shape[1], 0, 0.0
        for turn in said:
            for step, logits in enumerate(turn.logits):
                worst = max(worst, float((logits - self._after(whole, length, at + step)).abs().max()))
            at += len(turn.logits) + gap
        return worst

    def _after(self, whole: Tensor, length: int, number: int) -> Tensor:
        """Logits after so many added tokens; after none, those of each prompt's last one."""
        if number:
            return whole[:, length + number - 1]
        last = self.inputs["attention_mask"] * torch.arange(length)
        return whole[torch.arange(len(whole)), last.argmax(1)]


STATED = {"got_ocr2": (4, 4)}  # the grid of its pictures, which no configuration states
COMPACT = ("exaone4_5",)  # `generate` of these counts tokens
COLUMNS: dict[str, Callable[[str], float]] = {
    "dropping changes": lambda name: Case(name).effect(),
    "masked, padded left": lambda name: Case(name).prompt(),
    "padded right": lambda name: Case(name, 1, "right").prompt(),
    "generate": lambda name: Case(name).answers(),
    "no cache": lambda name: max(
        Case(name).answers(use_cache=False), Case(name, 2, prompts=(2,)).answers(use_cache=False)
    ),
    "static": lambda name: Case(name).answers(cache_implementation="static"),
    "two turns": lambda name: max(Case(name).turns(), Case(name, 2, prompts=(1,)).turns()),
    "assisted": lambda name: Case(name).assisted(),
    "beams": lambda name: Case(name).beams(),
}
"""Each measures one family."""
REFUSED = ("idefics2", "blip_2", "qwen3_5", "lfm2_vl", "llama4")
SERVED = tuple(name for name in ALL if name not in REFUSED)
