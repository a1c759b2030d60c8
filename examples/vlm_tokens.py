"""Fewer visual tokens in a vision-language model: what each budget keeps, costs and answers.

Run ``python examples/vlm_tokens.py``. The model is a tiny one of random weights, so that it runs anywhere; put
``AutoModelForImageTextToText.from_pretrained(NAME)`` and its processor's inputs in its place for a real one.
"""

from typing import Any

import torch
from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

from hra import samples
from hra.domains import tokens
from hra.integrations.transformers import CostModel, reduce

IMAGE_TOKEN, CELLS = 99, 256


def tiny_model() -> Any:
    """A model of the LLaVA kind: 16 x 16 visual tokens of a picture of 224 x 224 pixels."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
    }
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=224, patch_size=14, **sizes),
        text_config=LlamaConfig(vocab_size=100, eos_token_id=None, **sizes),
        image_token_id=IMAGE_TOKEN,  # pyright: ignore[reportCallIssue]: not in its types
    )
    return LlavaForConditionalGeneration(config).eval()


if __name__ == "__main__":
    image = samples.path("photo.jpg")
    model = tiny_model()
    ids = torch.tensor([[1] + [IMAGE_TOKEN] * CELLS + [5, 8, 13, 21]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.randn(1, 3, 224, 224)}
    counting = CostModel(model.config)
    whole = counting.cost(text=5)
    for budget in (16, 64, CELLS):
        for name, allocator in (("pyramid", tokens.PyramidSampling()), ("divprune", tokens.REDUCERS["divprune"]())):
            small = reduce(
                model, inputs, allocator=allocator, budget=budget, images=[image], query="what is on the left?"
            )
            answer = model.generate(**small.inputs, max_new_tokens=6, do_sample=False)[0, -6:].tolist()
            saved = whole.prefill / counting.cost(text=5, tokens=budget).prefill
            length = small.prompt["input_ids"].shape[1]
            print(f"{name:8} {small.counts[0]:4} visual tokens, prompt {length:4}, prefill / {saved:4.1f}, {answer}")
