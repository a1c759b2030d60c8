"""What reducers read of models: attention against the model's own, and every reducer in every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import reduce
from hra.integrations.transformers.encoding import Encoded
from hra.integrations.transformers.language_attention import last_token_attention
from hra.integrations.transformers.prompts import Prompts
from hra.integrations.transformers.signals import Signals, recorded
from tests.helpers.tiny_models import FAMILIES, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")
IMAGES = (1, 2)
# Queries and keys of these encoders are one projection, turned by positions.
FUSED = ("qwen2_5_vl", "qwen3_vl")


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.no_grad():
        yield


def signals_of(name: str, inputs: Any) -> tuple[Any, Signals]:
    model = model_of(name)
    with recorded(model, ("attention", "shallow")) as projected:
        encoded = Encoded.of(model, inputs)
    return model, Signals(model, inputs, encoded, Prompts.of(model, inputs, encoded.grids), projected)


@pytest.mark.parametrize("name", ["llava", "internvl", "gemma3", "smolvlm"])
@pytest.mark.parametrize(("signal", "layer"), [("attention", 1), ("shallow", 0)])
def test_attention_of_the_encoder_is_its_own(name, signal, layer):
    inputs = prompts(name, IMAGES)
    model, signals = signals_of(name, inputs)
    maps = np.stack(signals.maps(signal))
    model.set_attn_implementation("eager")
    table = Encoded.of(model, inputs, output_attentions=True).output.attentions[layer].mean(1)
    special = table.shape[1] - maps[0].size
    expected = table[:, 0, 1:] if special else table.mean(1)
    np.testing.assert_allclose(maps.reshape(len(maps), -1), expected.numpy(), atol=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_attention_of_the_last_token_is_the_models_own(name):
    inputs = prompts(name, IMAGES)
    model = model_of(name)
    paid = last_token_attention(model, inputs, Encoded.of(model, inputs).output)
    model.set_attn_implementation("eager")
    table = model(**inputs, output_attentions=True).attentions[1].mean(1)[:, -1]
    torch.testing.assert_close(paid, table, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("method", tokens.REDUCERS)
def test_every_reducer_meets_its_count_in_every_family(name, method):
    model, inputs = model_of(name), prompts(name, IMAGES)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    if name in FUSED and tokens.REDUCERS[method]().__dict__.get("reads") == "attention":
        with pytest.raises(ArrayError, match="attention of the encoder"):
            reduce(model, inputs, allocator=tokens.REDUCERS[method](), budget=5)
        return
    small = reduce(model, inputs, allocator=tokens.REDUCERS[method](), budget=5)
    assert set(small.counts) == {5}
    assert int((small.prompt["input_ids"] == model.config.image_token_id).sum()) == 5 * len(small.counts)
    assert model(**small.inputs).logits.isfinite().all()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_words_make_relevance():
    inputs = prompts("llava", IMAGES)
    model, signals = signals_of("llava", inputs)
    maps = signals.maps("text")
    words = inputs["input_ids"][0][
        (inputs["input_ids"][0] != model.config.image_token_id) & (inputs["input_ids"][0] > 0)
    ]
    embedded = torch.nn.functional.normalize(model.get_input_embeddings()(words), dim=1)
    features = torch.nn.functional.normalize(signals.encoded.levels[0][:64], dim=1)
    cosine = -(features @ embedded.T).mean(1)
    expected = (cosine - cosine.min()) / (cosine.max() - cosine.min())
    np.testing.assert_allclose(maps[0].ravel(), expected.numpy(), atol=1e-6)
    assert [one.shape for one in maps] == [(8, 8)] * 3
