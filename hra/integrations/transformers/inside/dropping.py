"""Hooks that let visual tokens go on their way through a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from torch import Tensor

from hra.errors import ArrayError, check_choice
from hra.integrations.transformers.encoding import encoder_of
from hra.integrations.transformers.inside.prompt_run import PromptRun
from hra.integrations.transformers.inside.stage import (
    Stage,
    earliest,
    ids_and_cache,
    real_tokens,
    require_alone,
    strictest,
)
from hra.integrations.transformers.language_attention import decoder_layers

Cut = Literal["shorten", "mask"]


@dataclass(eq=False)
class Dropping:
    """Within this context, ``model(...)`` and ``generate`` drop visual tokens inside the language model.

    For prompts padded on the left, with the attention implementations "eager" and "sdpa", after `reduce` or without it.
    Nothing is patched: hooks of torch change what layers are given. Decoding goes on with caches of different lengths.

    Parameters
    ----------
    model : a ``...ForConditionalGeneration``.
    stages : see `INSIDE`.
    cut : "shorten", later layers get shorter sequences, logits are those of ``columns``; or "mask", they are hidden
        from all others and stay: the same answers at the costs of the whole prompt.

    Attributes
    ----------
    run : of the last prompt.

    Raises
    ------
    ArrayError : another one holds the model; layers that are not known or come too early: before the model has added
        all levels of DeepStack, or before one of each kind of layer (full attention, windows) has seen the whole
        prompt, from which models count.

    Examples
    --------
    >>> import torch
    >>> from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration
    >>> sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=4, num_attention_heads=2)
    >>> config = LlavaConfig(vision_config=CLIPVisionConfig(image_size=56, patch_size=14, **sizes),
    ...                      text_config=LlamaConfig(vocab_size=100, **sizes), image_token_id=99)
    >>> model = LlavaForConditionalGeneration(config).eval()
    >>> ids = torch.tensor([[1] + [99] * 16 + [5, 6]])
    >>> from hra.integrations.transformers import INSIDE, Dropping
    >>> with Dropping(model, INSIDE["pyramiddrop"](layers=4)) as inside:
    ...     answer = model.generate(input_ids=ids, pixel_values=torch.randn(1, 3, 56, 56), max_new_tokens=3)
    >>> inside.counts, inside.entering, inside.layer_average
    (((16,), (8,), (4,), (2,)), (16,), (7.5,))
    """

    model: Any
    stages: Sequence[Stage]
    cut: Cut = "shorten"
    run: PromptRun | None = None
    _handles: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_choice("cut", self.cut, get_args(Cut), ArrayError)
        encoder_of(self.model)
        depth, first = len(decoder_layers(self.model)), earliest(self.model)
        self.stages = tuple(strictest(self.stages))
        for stage in self.stages:
            if not first <= stage.layer < depth:
                what = f"no tokens can be dropped before layer {stage.layer} of {type(self.model).__name__}"
                raise ArrayError(what, where="stages", fix=f"use layers from {first} to {depth - 1}")

    def __enter__(self) -> Dropping:
        require_alone(self.model)
        base, layers = self.model.base_model, decoder_layers(self.model)
        self._handles = [base.register_forward_pre_hook(self._begin, with_kwargs=True)]
        for number, layer in enumerate(layers):
            self._handles.append(layer.register_forward_pre_hook(self._before(number), with_kwargs=True))
        return self

    def __exit__(self, *reason: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @property
    def counts(self) -> tuple[tuple[int, ...], ...]:
        """Visual tokens in each layer, of each prompt."""
        return tuple(tuple(counts) for counts in self._last.counts)

    @property
    def entering(self) -> tuple[int, ...]:
        """Visual tokens that entered the language model, of each prompt."""
        return tuple(self._last.entered)

    @property
    def layer_average(self) -> tuple[float, ...]:
        """Visual tokens of a layer on average, of each prompt."""
        return tuple(sum(each) / len(each) for each in zip(*self.counts, strict=True))

    @property
    def columns(self) -> Tensor:
        """Which tokens of the prompts are left after the last layer, int64 [B, n], -1 for padding."""
        return self._last.columns.places

    @property
    def seconds(self) -> float:
        """Time of choosing in the last prompt, of the processor."""
        return self._last.seconds

    @property
    def _last(self) -> PromptRun:
        if self.run is None:
            raise ArrayError("no prompt has run yet", where="Dropping", fix="call the model within the with block")
        return self.run

    def _begin(self, module: Any, arguments: tuple, options: dict[str, Any]) -> None:
        """A prompt starts a new run; a step counts on."""
        ids, cache = ids_and_cache(options)
        if cache is not None and cache.get_seq_length():
            self._last.further(ids.shape[1])
            return
        visual = ids == self.model.config.image_token_id
        self.run = PromptRun(tuple(self.stages), self.cut, visual, real_tokens(options.get("attention_mask"), ids))

    def _before(self, number: int) -> Any:
        def hook(module: Any, arguments: tuple, options: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
            hidden = arguments[0] if arguments else options["hidden_states"]
            options = {name: value for name, value in options.items() if name != "hidden_states"}
            hidden, options = self._last.enter(number, module, hidden, options)
            return (hidden, *arguments[1:]), options

        return hook
