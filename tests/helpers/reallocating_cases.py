"""What several tests of reallocating share."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

from hra.integrations.transformers import Reallocating
from tests.helpers.tiny_models import FAMILIES, model_of

IMAGES = (1, 2)


STEPS = 8


CLOSE: Any = {"rtol": 0.0, "atol": 1e-5}


# One of each way to lay out positions and masks; the others take minutes.
ALWAYS = {"llava", "qwen2_5_vl", "gemma3"}


FAMILY = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ALWAYS else [pytest.mark.slow]) for name in FAMILIES]
)


@cache
def model(name: str) -> Any:
    return model_of(name)


def answer(name: str, inputs: Any, budget: int, **options: Any) -> tuple[Any, Reallocating]:
    """Logits [steps, B, words]."""
    with Reallocating(model(name), budget, **options) as steps:
        out = model(name).generate(
            **inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0, output_logits=True,
            return_dict_in_generate=True,
        )  # fmt: skip
    return torch.stack(out.logits), steps
