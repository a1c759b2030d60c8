"""A tiny vision-language model with random weights answers from fewer tokens."""

from types import SimpleNamespace

import torch
import transformers

from hra.domains import tokens
from hra.integrations.transformers import reduce

IMAGE = 95
vision = transformers.CLIPVisionConfig(
    hidden_size=32, intermediate_size=64, num_hidden_layers=3, num_attention_heads=4, image_size=112, patch_size=14
)
text = transformers.LlamaConfig(
    vocab_size=100,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=4,
    num_attention_heads=4,
    pad_token_id=0,
    eos_token_id=None,
)
model = transformers.LlavaForConditionalGeneration(
    transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_id=IMAGE)
).eval()
ids = torch.tensor([[1, 5, *[IMAGE] * 64, 7, 8]])
inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.randn(1, 3, 112, 112)}
processor = SimpleNamespace(image_mean=[0.5, 0.4, 0.3], image_std=[0.5, 0.4, 0.3])
with torch.no_grad():
    allocator = tokens.UniformGrid(tokens.UniformRelevance())
    small = reduce(model, inputs, allocator=allocator, budget=9, processor=processor)
    assert small.counts == (9,)
    answer = model.generate(**small.inputs, max_new_tokens=3, min_new_tokens=3)
assert answer.shape[-1] >= 3
print(f"transformers {transformers.__version__}")
