"""Further turns of a conversation on the cache that an answer left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import StaticCache

from hra.errors import ArrayError
from hra.integrations.transformers.language_attention import cache_argument, cache_of
from hra.integrations.transformers.positions import counts_tokens
from hra.integrations.transformers.prompts import TYPES


def next_turn(
    model: Any, inputs: Mapping[str, Any], output: Any, ids: Tensor, *, eos_token_id: int | Sequence[int] | None = None
) -> dict[str, Any]:
    """Inputs of ``generate`` for the next turn: all tokens so far and ``ids``, with the positions that go on.

    Without positions a model would count from the length of its cache, which is short by the tokens that are gone. In
    a batch, what stands behind the end of an answer is hidden, and each prompt goes on from its own last token.

    Parameters
    ----------
    model : which answered.
    inputs : what the last call of ``generate`` got: `Reduced.inputs`, or what this function returned. Pictures come
        with the first turn.
    output : what it returned with ``return_dict_in_generate=True``. Its cache is used up: write each turn once.
    ids : int64 [B, n], the tokens of the next turn, of one length for all prompts.
    eos_token_id : what ended answers, as ``generate`` got it; by default that of ``model.generation_config``.

    Raises
    ------
    ArrayError : no cache, that of beams or one without room, other prompts, pictures among ``ids``, or answers of
        different lengths where the model counts tokens whatever positions it is given.

    Examples
    --------
    >>> import torch
    >>> from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration
    >>> sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    >>> config = LlavaConfig(vision_config=CLIPVisionConfig(image_size=56, patch_size=14, **sizes),
    ...                      text_config=LlamaConfig(vocab_size=100, **sizes), image_token_id=99)
    >>> model = LlavaForConditionalGeneration(config).eval()
    >>> from hra.domains import tokens
    >>> from hra.integrations.transformers import next_turn, reduce
    >>> prompt = {"input_ids": torch.tensor([[1] + [99] * 16 + [5, 6]]), "pixel_values": torch.randn(1, 3, 56, 56)}
    >>> inputs = reduce(model, prompt, allocator=tokens.REDUCERS["divprune"](), budget=5).inputs
    >>> options = dict(min_new_tokens=3, max_new_tokens=3, do_sample=False, return_dict_in_generate=True)
    >>> said = model.generate(**inputs, **options)
    >>> inputs = next_turn(model, inputs, said, torch.tensor([[7, 8]]))
    >>> inputs["position_ids"][0, -3:].tolist()  # 19 tokens of the whole prompt, 3 of the answer, 2 new ones
    [21, 22, 23]
    >>> said = model.generate(**inputs, **options)
    """
    cache = cache_of(output)
    _check(model, inputs, output, cache, ids)
    sequences = output.sequences
    before = inputs["input_ids"].shape[1]
    ends = getattr(model.generation_config, "eos_token_id", None) if eos_token_id is None else eos_token_id
    real = torch.cat([_until_end(ends, sequences[:, before:]), torch.ones_like(ids)], dim=1)
    if not bool(real.all()) and counts_tokens(model):
        what = f"{type(model).__name__} would count what is hidden behind the end of a shorter answer"
        raise ArrayError(what, where="output", fix="generate each prompt alone, or make the whole prompts again")
    places = inputs["position_ids"]
    new = places[..., -1:] + real.cumsum(dim=1)
    mask = inputs["attention_mask"]
    visual = _is_visual(model, inputs["input_ids"])
    kinds = {name: inputs[name] for name in TYPES if inputs.get(name) is not None}
    # Text is 0 beside pictures of 1 and videos of 2, or 1 where 0 is a prefix whose tokens all see each other.
    kinds = {
        name: _longer(kind, torch.full_like(real, bool(visual.any() and not kind[visual].any())))
        for name, kind in kinds.items()
    }
    return {
        **kinds,
        "input_ids": torch.cat([sequences, ids.to(sequences)], dim=1),
        "attention_mask": _longer(mask, real * mask.max()),
        "position_ids": torch.cat([places, new.to(places)], dim=-1),
        **cache_argument(output),
    }


def _is_visual(model: Any, ids: Tensor) -> Tensor:
    """Whether tokens are placeholders of images or videos."""
    known = (model.config.image_token_id, getattr(model.config, "video_token_id", None))
    return torch.isin(ids, torch.tensor([token for token in known if token is not None], device=ids.device))


def _longer(values: Tensor, new: Tensor) -> Tensor:
    return torch.cat([values, new.to(values)], dim=1)


def _until_end(ends: int | Sequence[int] | None, answers: Tensor) -> Tensor:
    """1 up to the end of each answer with it, 0 behind it: int64 [B, n]."""
    known = torch.tensor([] if ends is None else ends, device=answers.device).reshape(-1)
    ended = torch.isin(answers, known.to(answers)).long()
    return (ended.cumsum(dim=1) - ended == 0).long()


def _check(model: Any, inputs: Mapping[str, Any], output: Any, cache: Any, ids: Tensor) -> None:
    if cache is None:
        what, fix = "the last turn left no cache", "call generate with return_dict_in_generate=True and use_cache=True"
    elif getattr(output, "beam_indices", None) is not None:
        what, fix = "the cache holds beams, not answers", "generate without beams, or make the whole prompt again"
    elif isinstance(cache, StaticCache) and _room(cache) < output.sequences.shape[1] + ids.shape[-1]:
        what, fix = f"the static cache has room for {_room(cache)} tokens", "leave cache_implementation out"
    elif ids.ndim != 2 or len(ids) != len(output.sequences) or len(ids) != len(inputs["input_ids"]):
        what, fix = f"ids of shape {tuple(ids.shape)} for {len(output.sequences)} answers", "pass int64 [B, n]"
    elif bool(_is_visual(model, ids).any()):
        what, fix = "a further turn brings pictures", "reduce the whole conversation again"
    else:
        return
    raise ArrayError(what, where="next_turn", fix=fix)


def _room(cache: Any) -> int:
    """How many tokens a static cache holds."""
    return max(layer.max_cache_len for layer in cache.layers)
