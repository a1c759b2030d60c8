from __future__ import annotations

import pytest
import torch

from hra.integrations.transformers.encoding import Encoded
from hra.integrations.transformers.language_attention import last_token_attention
from tests.helpers.tiny_models import FAMILIES, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")


IMAGES = (1, 2)


@pytest.mark.parametrize("name", FAMILIES)
def test_attention_of_the_last_token_is_the_models_own(name):
    inputs = prompts(name, IMAGES)
    model = model_of(name)
    paid = last_token_attention(model, inputs, Encoded.of(model, inputs).outputs)
    model.set_attn_implementation("eager")
    table = model(**inputs, output_attentions=True).attentions[1].mean(1)[:, -1]
    torch.testing.assert_close(paid, table, atol=1e-6, rtol=0)
