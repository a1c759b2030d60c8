"""One budget: a model's prompt with all visual tokens and with fewer, in turns.

What a machine lets be saved: bare matrix products of a language model, and the bytes that a further token reads.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hra_lab.bench.models.model import Subject
from hra_lab.bench.models.ratios import Rounds, compared, medians, promised, ratios

_STEPS = 4
_BYTES = 4  # of a number of the models, which are in float32; caches are counted in bfloat16


def product_seconds(subject: Subject, tokens: int) -> float:
    """Processor seconds of all products with weights in a prompt of so many visual tokens, without any code between.

    Few rows are multiplied at a lower rate than many: the weights are read and packed whatever their number.
    """
    import torch

    weights = [each.weight for each in _layers(subject)]
    given = {wide: torch.randn(tokens + subject.text, wide) for wide in {weight.shape[1] for weight in weights}}
    last = torch.randn(1, subject.model.lm_head.weight.shape[1])
    start = time.process_time()
    for weight in weights:
        torch.nn.functional.linear(given[weight.shape[1]], weight)
    torch.nn.functional.linear(last, subject.model.lm_head.weight)
    return time.process_time() - start


def step_bytes(subject: Subject, tokens: int) -> int:
    """Bytes that one token of an answer reads: all weights of the language model, and its keys and values."""
    from hra.integrations.transformers import CostModel

    weights = sum(each.weight.numel() for each in _layers(subject)) + subject.model.lm_head.weight.numel()
    return _BYTES * weights + _BYTES // 2 * CostModel(subject.config).cost(text=subject.text, tokens=tokens).cache


def _layers(subject: Subject) -> list[Any]:
    import torch

    modules = subject.model.base_model.language_model.modules()
    return [module for module in modules if isinstance(module, torch.nn.Linear)]


@dataclass(frozen=True)
class ModelBenchmark:
    """Processor seconds of encoding, selection, prefill and decoding, on one thread.

    Attributes
    ----------
    tokens : visual tokens that are kept; None for all, by the model's own way and without a selection.
    method : of `hra.domains.tokens.REDUCERS`.
    """

    name: str
    tokens: int | None
    method: str
    subjects: Mapping[str, Subject]
    needs: tuple[str, ...] = ("torch:nn", "transformers:LlavaForConditionalGeneration")

    def measure(self, scale: str, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Medians; speed-ups are beside the whole prompt of the same round, ratios of operations beside its count.

        "reachable_ratio" is that of the bare products with the weights at both lengths, see `reachable`.
        """
        import torch

        subject, before = self.subjects[scale], torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.no_grad():
                rounds = [(whole_run(subject), self._times(subject)) for _ in range(repeat + 1)][1:]
                bare = [self._bare(subject) for _ in range(repeat + 1)][1:]
        finally:
            torch.set_num_threads(before)
        reachable = self._reachable(subject, rounds, [statistics.median(times) for times in zip(*bare, strict=True)])
        return {**self._facts(subject), **compared(rounds), **self._promised(subject), **reachable, "peer": None}

    def _times(self, subject: Subject) -> dict[str, float]:
        return whole_run(subject) if self.tokens is None else reduced_run(subject, self.method, self._kept(subject))

    def _bare(self, subject: Subject) -> tuple[float, float]:
        return product_seconds(subject, subject.visual), product_seconds(subject, self._kept(subject))

    def _reachable(self, subject: Subject, rounds: Rounds, bare: list[float]) -> dict[str, float]:
        """What bare products and bytes promise: of the prompt, a token of the answer, and sums of parts."""
        whole, own = (medians([one[which] for one in rounds]) for which in (0, 1))
        prompt = bare[0] / bare[1]
        step = step_bytes(subject, subject.visual) / step_bytes(subject, self._kept(subject))
        promise = {**whole, "prefill_s": whole["prefill_s"] / prompt, "decode_s": whole["decode_s"] / step}
        sums = ratios(whole, promise)
        return {
            "reachable_ratio": prompt,
            "products_s": bare[1],
            "decode_speedup": whole["decode_s"] / own["decode_s"],
            "decode_bytes_ratio": step,
            "first_reachable_ratio": sums["first_speedup"],
            "total_reachable_ratio": sums["total_speedup"],
        }

    def _kept(self, subject: Subject) -> int:
        """Small models have fewer tokens: the same share of them."""
        return subject.visual if self.tokens is None else max(1, self.tokens * subject.visual // 1024)

    def _facts(self, subject: Subject) -> dict[str, Any]:
        facts = {"tokens": self._kept(subject), "all": subject.visual, "parameters": subject.parameters}
        return {"name": self.name, **facts, "method": self.method if self.tokens else None}

    def _promised(self, subject: Subject) -> dict[str, float]:
        """Ratios of operations of the prefill, up to the first token, and of everything."""
        from hra.integrations.transformers import CostModel

        counting = CostModel(subject.config)
        whole = counting.cost(text=subject.text)
        return promised(whole, counting.cost(text=subject.text, tokens=self._kept(subject)))


def whole_run(subject: Subject) -> dict[str, float]:
    """The model as it is: encoder, then prompt, then a few tokens."""
    encoder = subject.model.base_model.get_image_features
    pixels = subject.inputs["pixel_values"]
    encode, encoded = _timed(lambda: encoder(pixels, return_dict=True))
    text = {name: subject.inputs[name] for name in ("input_ids", "attention_mask")}
    inputs = {**text, "mm_encoder_outputs": {"image": encoded}}
    return {"encode_s": encode, "selection_s": 0.0, **_language(subject, inputs, len(text["input_ids"][0]))}


def reduced_run(subject: Subject, method: str, tokens: int) -> dict[str, float]:
    """The model with fewer tokens."""
    from hra.domains.tokens import REDUCERS
    from hra.integrations.transformers import reduce

    small = reduce(subject.model, subject.inputs, allocator=REDUCERS[method](), budget=tokens)
    language = _language(subject, small.inputs, int(small.following[0]))
    return {"encode_s": small.seconds["encoding_cpu"], "selection_s": small.seconds["selection_cpu"], **language}


def _language(subject: Subject, inputs: dict[str, Any], following: int) -> dict[str, float]:
    """Seconds of the prompt, and of one further token."""
    import torch

    from hra.integrations.transformers.language_attention import cache_argument

    prefill, out = _timed(lambda: subject.model(**inputs, use_cache=True, logits_to_keep=1))
    cache = cache_argument(out)
    token = torch.full((1, 1), 5)
    steps = [
        _timed(lambda at=at: subject.model(input_ids=token, position_ids=torch.tensor([[at]]), **cache))[0]
        for at in range(following, following + _STEPS)
    ]
    return {"prefill_s": prefill, "decode_s": statistics.median(steps)}


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result
