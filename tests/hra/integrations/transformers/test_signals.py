"""What reducers read of models: attention against the model's own, and every reducer in every family."""

from __future__ import annotations

import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import reduce
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")
IMAGES = (1, 2)
# SigLIP and its kind, and Qwen.
WITHOUT_CLASS = ("gemma3", "smolvlm", "idefics3", "qwen2_5_vl", "qwen3_vl")


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.no_grad():
        yield


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("method", tokens.REDUCERS)
def test_every_reducer_meets_its_count_in_every_family(name, method):
    model, inputs = model_of(name), prompts(name, IMAGES)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    allocator = tokens.REDUCERS[method]()
    reads, options = getattr(allocator, "reads", ""), {"budget": 5, "processor": PROCESSOR}
    if name in WITHOUT_CLASS and reads == "flow":
        with pytest.raises(ArrayError, match="no class token"):
            reduce(model, inputs, allocator=allocator, **options)
        return
    small = reduce(model, inputs, allocator=allocator, **options)
    assert set(small.counts) == {5}
    assert int((small.prompt["input_ids"] == model.config.image_token_id).sum()) == 5 * len(small.counts)
    assert model(**small.inputs).logits.isfinite().all()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(module._forward_pre_hooks for module in model.modules())
