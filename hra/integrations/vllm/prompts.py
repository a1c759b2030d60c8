"""Prompts for vLLM that carry the embeddings of the tokens that were kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from hra.errors import ArrayError, check_kind
from hra.integrations.reduction import Reduction, digest
from hra.integrations.transformers import reduce
from hra.integrations.transformers.prompts import check_inputs

# Families for which vLLM counts a prompt's placeholders by the embeddings, and positions by the placeholders. Others
# take both from a grid that fewer tokens do not have, want levels of features side by side, or take no embeddings.
_COUNTED = ("llava", "internvl")


def embedding_prompt(
    model: Any,
    inputs: Mapping[str, Any],
    reduction: Reduction,
    *,
    prompt: str,
    question: str = "",
    processor: Any = None,
    images: Sequence[Any] | None = None,
    name: str = "",
) -> dict[str, Any]:
    """A prompt for ``LLM.generate`` of an engine with ``enable_mm_embeds=True``: K embeddings of each image.

    Engines place tokens one after another: the answer is that of ``reduce(..., positions="compact")``.

    Parameters
    ----------
    model : of `hra.integrations.transformers.reduce`; its image encoder and connector are run.
    inputs : of the model's processor for one prompt; the ids have all placeholders.
    reduction : method and budget; its positions are "compact".
    prompt : text of the same prompt with one placeholder for each image.
    question, processor, images : see `reduce`.
    name : of the model with its revision, for the cache.

    Returns
    -------
    "prompt", "multi_modal_data" with embeddings [K, D] of each image, and "multi_modal_uuids", by which vLLM keeps
    what it made of them: they hold method, budget and, where the method reads it, the question.

    Raises
    ------
    ArrayError : a family of which vLLM does not count embeddings; positions that it cannot keep; several prompts, or
        several tiles of an image, or none.
    HraError : something else than a model, its inputs, a `Reduction` and texts.
    """
    _check(model, inputs, reduction, {"prompt": prompt, "question": question, "name": name})
    small = reduce(
        model, inputs, allocator=reduction.allocator, budget=reduction.budget, realize=_named(reduction.realize),
        positions="compact", images=images, query=question, processor=processor,
    )  # fmt: skip
    embeddings = [each.levels[0].detach() for each in small.chosen]
    promised = [reduction.count(rows * columns) for rows, columns in small.encoded.grids]
    if [len(each) for each in embeddings] != promised:
        raise ArrayError(f"{small.counts} embeddings for {promised}", where="budget", fix="report this method")
    pixels = inputs["pixel_values"].detach().float().cpu().reshape(len(embeddings), -1)
    shown = [digest(each.numpy()) for each in pixels]
    return {
        "prompt": prompt,
        "multi_modal_data": {"image": embeddings},
        "multi_modal_uuids": {"image": [reduction.key(one, question, name) for one in shown]},
    }


def _named(realize: str) -> Any:
    return realize


def _check(model: Any, inputs: Any, reduction: Any, texts: Mapping[str, Any]) -> None:
    check_kind("model", model, torch.nn.Module, "pass a ...ForConditionalGeneration")
    check_kind("inputs", inputs, Mapping, "pass what the model's processor returns")
    check_kind("reduction", reduction, Reduction, "pass Reduction(method, budget, positions='compact')")
    for argument, text in texts.items():
        check_kind(argument, text, str, "pass a text")
    check_inputs(inputs)
    family = getattr(model.config, "model_type", "")
    if family not in _COUNTED:
        what = f"vLLM does not count the embeddings of {family!r} as they are"
        raise ArrayError(what, where="model", fix=f"use a model of {', '.join(_COUNTED)}, or run it with transformers")
    if reduction.positions != "compact":
        what = f"the engine counts tokens, so positions={reduction.positions!r} cannot work"
        raise ArrayError(what, where="reduction", fix="pass positions='compact'")
    ids, pixels = inputs["input_ids"], inputs.get("pixel_values", torch.empty(0))
    if len(ids) != 1 or pixels.ndim != 4 or len(pixels) != _runs(ids[0] == model.config.image_token_id):
        what = "several prompts, tiles, no image, or images without a word between them"
        raise ArrayError(what, where="inputs", fix="pass one prompt of whole images with text between them")


def _runs(here: Tensor) -> int:
    """Runs of what is true."""
    before = torch.nn.functional.pad(here[:-1], (1, 0), value=False)
    return int((here & ~before).sum())
