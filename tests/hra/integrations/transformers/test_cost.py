"""Operations against a counter that watches tiny models at work."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import CostModel, Dropping, Stage, reduce
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")
FAMILY = pytest.mark.parametrize("name", FAMILIES)
# The counter also sees the products that make rotary angles: large beside nothing but models as small as these.
CLOSE = 0.01


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.no_grad():
        yield


def counted(call: Any) -> int:
    counter = FlopCounterMode(display=False)
    with counter:
        call()
    return counter.get_total_flops()


def watched(name: str) -> Any:
    """A model whose attention is made of products that the counter knows."""
    model = model_of(name)
    model.set_attn_implementation("eager")
    return model


def stated(name: str, model: Any, inputs: Any, **options: Any) -> Any:
    family, text = FAMILIES[name], int((inputs["input_ids"] != model.config.image_token_id).sum())
    size = (28 * family.cells[0], 28 * family.cells[1])
    return CostModel(model.config).cost(text=text, pictures=family.tiles, size=size, **options)


@FAMILY
def test_encoder_and_connector(name):
    model, inputs = watched(name), prompts(name)
    given = {key: inputs[key] for key in ("pixel_values", "image_grid_thw") if key in inputs}
    found = counted(lambda: model.base_model.get_image_features(**given, return_dict=True))
    cost = stated(name, model, inputs)
    assert cost.encoder + cost.connector == pytest.approx(found, rel=CLOSE)
    assert cost.tokens == int((inputs["input_ids"] == model.config.image_token_id).sum())


@FAMILY
@pytest.mark.parametrize("kept", [None, 5])
def test_prompt_and_one_more_token(name, kept):
    model, inputs = watched(name), prompts(name)
    allocator = tokens.UniformGrid(tokens.UniformRelevance())
    small = reduce(model, inputs, allocator=allocator, budget=kept or 999, processor=PROCESSOR)
    cost = stated(name, model, inputs, tokens=kept)
    given = small.inputs
    assert cost.prefill == pytest.approx(counted(lambda: model(**given, logits_to_keep=1)), rel=CLOSE)
    cache = model(**small.inputs, use_cache=True).past_key_values
    step = {"attention_mask": small.mask(0), "position_ids": small.positions(0), "past_key_values": cache}
    ids = torch.ones(1, 1, dtype=torch.long)
    assert cost.decoding == pytest.approx(counted(lambda: model(input_ids=ids, **step)), rel=CLOSE)


@FAMILY
def test_layers_of_different_lengths(name):
    model, inputs = watched(name), prompts(name)
    with Dropping(model, [Stage(2, 0.5, ahead=True), Stage(3, 0.25, ahead=True)]) as inside:
        cache = model(**inputs, use_cache=True, logits_to_keep=1).past_key_values
        found = counted(lambda: model(**inputs, logits_to_keep=1))
    layers = [count for (count,) in inside.counts]
    cost = stated(name, model, inputs, layers=layers)
    assert cost.cache == 2 * sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    encoder = cost.encoder + cost.connector
    # Choosing computes keys and one query of two layers once more.
    assert encoder + cost.prefill < found < (encoder + cost.prefill) * 1.1
    with pytest.raises(ArrayError, match="layers"):
        stated(name, model, inputs, layers=layers[1:])


@FAMILY
def test_memory_of_the_cache(name):
    model, inputs = model_of(name), prompts(name)
    cache = model(**inputs, use_cache=True).past_key_values
    values = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    assert stated(name, model, inputs).cache == 2 * values


def test_what_cannot_be_counted_is_refused():
    config = model_of("qwen3_vl").config
    with pytest.raises(ArrayError, match="any size"):
        CostModel(config).cost()
    with pytest.raises(ArrayError, match="25 of 24"):
        CostModel(config).cost(size=(112, 168), tokens=25)
