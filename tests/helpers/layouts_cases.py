"""What several tests of layouts share."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import transformers

from hra.domains import tokens
from hra.integrations.transformers import Reduced, reduce
from tests.helpers.tiny_models import IMAGE, PROCESSOR

hf: Any = transformers


# Six cells a side of a tile of 84 pixels; images are cut into at most four tiles.
SIDE, PATCH, PINPOINTS = 84, 14, [[84, 168], [168, 84], [168, 168], [84, 252], [252, 84]]


_TEXT: dict[str, Any] = {
    "vocab_size": 100, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 2048, "eos_token_id": None, "bos_token_id": 1,
    "pad_token_id": 0,
}  # fmt: skip


_VISION: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}


def llava_next() -> Any:
    vision = hf.CLIPVisionConfig(**_VISION, image_size=SIDE, patch_size=PATCH, projection_dim=32)
    config = hf.LlavaNextConfig(vision_config=vision, text_config=hf.LlamaConfig(**_TEXT), image_token_id=IMAGE,
                                image_grid_pinpoints=PINPOINTS)  # fmt: skip
    return hf.LlavaNextForConditionalGeneration(config)


def llava_onevision() -> Any:
    vision = hf.SiglipVisionConfig(**_VISION, image_size=SIDE, patch_size=PATCH, vision_use_head=False)
    config = hf.LlavaOnevisionConfig(vision_config=vision, text_config=hf.Qwen2Config(**_TEXT), image_token_id=IMAGE,
                                     image_grid_pinpoints=PINPOINTS, vision_aspect_ratio="anyres_max_2")  # fmt: skip
    return hf.LlavaOnevisionForConditionalGeneration(config)


def pixtral() -> Any:
    vision = hf.PixtralVisionConfig(**_VISION, image_size=196, patch_size=PATCH)
    config = hf.LlavaConfig(vision_config=vision, text_config=hf.LlamaConfig(**_TEXT), image_token_id=IMAGE,
                            vision_feature_layer=-1, vision_feature_select_strategy="full")  # fmt: skip
    return hf.LlavaForConditionalGeneration(config)


def mistral3() -> Any:
    vision = hf.PixtralVisionConfig(**_VISION, image_size=392, patch_size=PATCH)
    config = hf.Mistral3Config(vision_config=vision, text_config=hf.MistralConfig(**_TEXT), image_token_id=IMAGE,
                               image_token_index=IMAGE, spatial_merge_size=2, vision_feature_layer=-1)  # fmt: skip
    return hf.Mistral3ForConditionalGeneration(config)


ANYRES = {"llava_next": llava_next, "llava_onevision": llava_onevision}


SIZED = {"pixtral": (pixtral, PATCH), "mistral3": (mistral3, 2 * PATCH)}


@cache
def made(name: str) -> Any:
    torch.manual_seed(0)
    model = (ANYRES.get(name) or SIZED[name][0])().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model


def batch(name: str, sizes: list[tuple[int, int]], seed: int) -> dict[str, torch.Tensor]:
    """A prompt for each image of (height, width), shorter ones padded on the left, as a processor returns them."""
    generator, model = torch.Generator().manual_seed(seed), made(name)
    if name in ANYRES:
        module = __import__(type(model.base_model).__module__, fromlist=["x"])
        tiles = [module.image_size_to_num_patches(size, PINPOINTS, SIDE) for size in sizes]
        pixels = torch.zeros(len(sizes), max(tiles), 3, SIDE, SIDE)
        for image, count in zip(pixels, tiles, strict=True):
            image[:count] = torch.randn(count, 3, SIDE, SIDE, generator=generator).clamp(-1, 1)
    else:
        pixels = torch.zeros(len(sizes), 3, max(h for h, _ in sizes), max(w for _, w in sizes))
        for image, (height, width) in zip(pixels, sizes, strict=True):
            image[:, :height, :width] = torch.randn(3, height, width, generator=generator).clamp(-1, 1)
    shapes = torch.tensor(sizes)
    output = model.base_model.get_image_features(pixel_values=pixels, image_sizes=shapes, return_dict=True)
    counts = [len(each.reshape(-1, each.shape[-1])) for each in output.pooler_output]
    rows = [[1, 5 + row, *[IMAGE] * count, 7, 8 + row] for row, count in enumerate(counts)]
    longest = max(map(len, rows))
    ids = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "pixel_values": pixels, "image_sizes": shapes}


def reduced(name: str, inputs: Any, budget: Any, **options: Any) -> Reduced:
    options = {"allocator": tokens.Random(), "realize": "select", "processor": PROCESSOR, **options}
    return reduce(made(name), inputs, budget=budget, **options)
