from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from hra.errors import ArrayError
from hra.integrations.reduction import Reduction
from hra.integrations.transformers import reduce
from hra.integrations.vllm import embedding_prompt
from tests.helpers import recorded_vllm as recorded
from tests.helpers.tiny_models import PROCESSOR, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(("method", "budget"), [("visionzip", 7), ("pyramid", 12), ("tome", 64)])
def test_a_prompt_carries_what_reduce_makes(method, budget):
    model, inputs = model_of("llava"), prompts("llava", (2,))
    reduction = Reduction(method, budget, positions="compact")
    made = embedding_prompt(
        model, inputs, reduction, prompt="<image> a <image> b", question="left", processor=PROCESSOR
    )
    embeddings = made["multi_modal_data"]["image"]
    assert recorded.feature_sizes(embeddings) == [reduction.count(64)] * 2
    small = reduce(
        model, inputs, allocator=reduction.allocator, budget=budget, positions="compact", query="left",
        processor=PROCESSOR,
    )  # fmt: skip
    for one, chosen in zip(embeddings, small.chosen, strict=True):
        torch.testing.assert_close(one, chosen.levels[0])
    # An engine counts positions token by token, which is what "compact" does.
    assert small.prompt["position_ids"][0].tolist() == list(range(small.prompt["input_ids"].shape[1]))
    assert len(set(made["multi_modal_uuids"]["image"])) == 2


def test_what_is_cached_is_told_apart():
    model, inputs = model_of("llava"), prompts("llava")

    def name(method: str, budget: int, question: str = "", **options: Any) -> str:
        reduction = Reduction(method, budget, positions="compact", **options)
        made = embedding_prompt(model, inputs, reduction, prompt="<image>", question=question, processor=PROCESSOR)
        return made["multi_modal_uuids"]["image"][0]

    assert name("divprune", 5, "left") == name("divprune", 5, "right") == name("divprune", 5)
    every = [name("divprune", 5), name("divprune", 6), name("tome", 5), name("divprune", 5, realize="select")]
    every += [name("fastv", 5, "left"), name("fastv", 5, "right"), name("pyramid", 5, "left"), name("pyramid", 5, "up")]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    ("family", "images", "options", "message"),
    [
        ("qwen2_5_vl", (1,), {}, "'qwen2_5_vl'"),
        ("gemma3", (1,), {}, "'gemma3'"),
        ("llava", (1,), {"positions": "original"}, "counts tokens"),
        ("llava", (1, 1), {}, "several prompts"),
        ("internvl", (1,), {}, "tiles"),
    ],
)
def test_what_an_engine_would_get_wrong_is_refused(family, images, options, message):
    reduction = Reduction("divprune", 5, **{"positions": "compact", **options})
    inputs = prompts(family, images)
    if family == "internvl":  # two tiles of one image are one run of placeholders there
        inputs["input_ids"] = inputs["input_ids"][:, inputs["input_ids"][0] != 94]
        inputs["input_ids"] = inputs["input_ids"][:, ~_between(inputs["input_ids"][0])]
    with pytest.raises(ArrayError, match=message):
        embedding_prompt(model_of(family), inputs, reduction, prompt="<image>", processor=PROCESSOR)


def _between(ids: torch.Tensor) -> torch.Tensor:
    """Markers between two tiles: an end, and the start that follows it."""
    ends = (ids == 97).nonzero()[0, 0]
    here = torch.zeros_like(ids, dtype=torch.bool)
    here[ends : ends + 2] = True
    return here


def test_a_name_holds_the_image_too():
    reduction = Reduction("divprune", 5)
    assert reduction.key("a") != reduction.key("b") and reduction.key("a", model="m") != reduction.key("a", model="n")
    assert len(reduction.key("a")) == 64 and int(reduction.key("a"), 16) >= 0
    from hra.integrations.reduction import digest

    pixels = np.zeros((2, 3, 3), np.uint8)
    assert digest(pixels) != digest(pixels.reshape(3, 2, 3)) != digest(pixels.astype(np.float32))
