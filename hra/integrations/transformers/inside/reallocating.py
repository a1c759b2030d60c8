"""Hooks that give every step of an answer its own visual tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from torch import Tensor

from hra.errors import ArrayError, check_choice
from hra.integrations.transformers.encoding import encoder_of
from hra.integrations.transformers.inside.answer_run import AnswerRun
from hra.integrations.transformers.inside.reallocation import Rate, Reallocation, traversal_of
from hra.integrations.transformers.inside.stage import earliest, ids_and_cache, real_tokens, require_alone
from hra.integrations.transformers.language_attention import cache_of, decoder_layers

Gone = Literal["mask", "remove"]


@dataclass(eq=False)
class Reallocating:
    """Within this context, each token of an answer sees ``budget`` visual tokens, by the attention of the one before.

    The prompt runs whole. For prompts padded on the left, "eager" and "sdpa", greedy or sampled answers; not together
    with `Dropping`.

    Parameters
    ----------
    model : a ``...ForConditionalGeneration``.
    budget : visual tokens of each prompt.
    gone : "mask", what is dropped stays in the cache, hidden, and may come back; "remove", its keys and values leave
        all layers but the first ones, from whose length models count, and those of windows: there they are hidden.
    max_churn : at most this many tokens go or come in a step; None for any number. The first allocation is free.
    hysteresis : what is there counts ``1 + hysteresis`` times its attention; for "mask".
    rate : what part of the budget stays in a step, see `dyrate`; None for all of it.

    Attributes
    ----------
    run : of the last prompt.

    Raises
    ------
    ArrayError : an unknown ``gone``, a budget below 0, or a model whose layers are not known; beams, while it
        runs; another one holds the model.

    Examples
    --------
    >>> import torch
    >>> from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration
    >>> sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=4, num_attention_heads=2)
    >>> config = LlavaConfig(vision_config=CLIPVisionConfig(image_size=56, patch_size=14, **sizes),
    ...                      text_config=LlamaConfig(vocab_size=100, **sizes), image_token_id=99)
    >>> model = LlavaForConditionalGeneration(config).eval()
    >>> ids = torch.tensor([[1] + [99] * 16 + [5, 6]])
    >>> from hra.integrations.transformers import Reallocating
    >>> with Reallocating(model, budget=5, max_churn=2) as steps:
    ...     answer = model.generate(input_ids=ids, pixel_values=torch.randn(1, 3, 56, 56), max_new_tokens=4,
    ...                             eos_token_id=None)
    >>> len(steps.seconds), int(steps.rows[0].kept.sum()), max(steps.rows[0].churn[1:]) <= 2
    (4, 5, True)
    """

    model: Any
    budget: int
    gone: Gone = "mask"
    max_churn: int | None = None
    hysteresis: float = 0.1
    rate: Rate | None = None
    run: AnswerRun | None = None
    _handles: list[Any] = field(default_factory=list)
    _keys: Tensor | None = None

    def __post_init__(self) -> None:
        check_choice("gone", self.gone, get_args(Gone), ArrayError)
        if self.budget < 0:
            raise ArrayError(f"a budget of {self.budget}", where="budget", fix="pass 0 or more")
        encoder_of(self.model)
        self._traversal = traversal_of(self.hysteresis, self.max_churn)
        layers = decoder_layers(self.model)
        whole = [at for at, layer in enumerate(layers) if not getattr(layer.self_attn, "sliding_window", None)]
        self._reader = min(whole, key=lambda at: (abs(at - len(layers) // 2), at))
        first = earliest(self.model)
        self._removes = frozenset(at for at in whole if at >= first and self.gone == "remove")

    def __enter__(self) -> Reallocating:
        require_alone(self.model)
        base = self.model.base_model
        begin, end = (
            base.register_forward_pre_hook(self._begin, with_kwargs=True),
            base.register_forward_hook(self._end),
        )
        self._handles = [begin, end]
        for number, layer in enumerate(decoder_layers(self.model)):
            self._handles.append(layer.register_forward_pre_hook(self._before(number), with_kwargs=True))
        return self

    def __exit__(self, *reason: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @property
    def rows(self) -> tuple[Reallocation, ...]:
        """The visual tokens of each prompt, with the changes of every step."""
        return tuple(self._last.rows)

    @property
    def seconds(self) -> tuple[float, ...]:
        """Processor time of every allocation: after the prompt, then after each step."""
        return tuple(self._last.seconds)

    @property
    def _last(self) -> AnswerRun:
        if self.run is None:
            fix = "call the model within the with block"
            raise ArrayError("no prompt has run yet", where="Reallocating", fix=fix)
        return self.run

    def _begin(self, module: Any, arguments: tuple, options: dict[str, Any]) -> None:
        """A prompt starts a new run; a step goes on."""
        ids, cache = ids_and_cache(options)
        if cache is None or not cache.get_seq_length():
            self.run = self._started(ids, options.get("attention_mask"))
            return
        if cache.layers[0].keys is not self._keys:
            what = "the cache is not that of the last step"
            raise ArrayError(what, where="past_key_values", fix="answer without beams, one batch after the other")
        self._last.further(ids.shape[1], cache)

    def _started(self, ids: Tensor, mask: Any) -> AnswerRun:
        visual = ids == self.model.config.image_token_id
        common = (self.budget, self._traversal, self.rate, self.gone == "mask")
        rows = [Reallocation(number, *common) for number in visual.sum(dim=1).tolist()]
        return AnswerRun(rows, visual, real_tokens(mask, ids), self._removes)

    def _end(self, module: Any, arguments: tuple, output: Any) -> None:
        """Remember whose cache it was: beams put their prompts in another order."""
        cache = cache_of(output)
        self._keys = None if cache is None else cache.layers[0].keys

    def _before(self, number: int) -> Any:
        def hook(module: Any, arguments: tuple, options: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
            hidden, run = arguments[0] if arguments else options["hidden_states"], self._last
            if options.get("attention_mask") is not None and options["attention_mask"].ndim != 4:
                fix = 'load the model with attn_implementation="sdpa"'
                raise ArrayError("the mask of this attention is not known", where="attention_mask", fix=fix)
            if number == self._reader:
                run.allocate(number, module, hidden, options)
            if run.total == run.held.prompt:
                return arguments, options
            return arguments, {**options, "attention_mask": run.mask(number, hidden, options)}

        return hook
