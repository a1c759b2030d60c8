"""What a machine lets be saved: bare matrix products of a language model, and the bytes that a further token reads."""

from __future__ import annotations

import time
from typing import Any

from hra_lab.bench.models.model import Subject

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
