"""Vision-language models of every family with random weights, small enough for tests, and prompts for them."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

hf: Any = transformers  # its configurations take more names than they declare
IMAGE, START, END, TILE, PAD = 95, 96, 97, 94, 0
PROCESSOR = SimpleNamespace(image_mean=[0.5, 0.4, 0.3], image_std=[0.5, 0.4, 0.3])
_TEXT: dict[str, Any] = {
    "vocab_size": 100, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 2048, "eos_token_id": None, "bos_token_id": 1,
    "pad_token_id": PAD,
}  # fmt: skip
_MROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 2, 2]}
_VISION: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
_QWEN: dict[str, Any] = {
    "depth": 4, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "patch_size": 14, "spatial_merge_size": 2,
    "temporal_patch_size": 2, "out_hidden_size": 64,
}  # fmt: skip
_QWEN_IDS = {
    "image_token_id": IMAGE, "vision_start_token_id": START, "vision_end_token_id": END, "video_token_id": 98
}  # fmt: skip


def llava() -> Any:
    vision = hf.CLIPVisionConfig(**_VISION, image_size=112, patch_size=14, projection_dim=32)
    config = hf.LlavaConfig(
        vision_config=vision, text_config=hf.LlamaConfig(**_TEXT), image_token_id=IMAGE, vision_feature_layer=-2
    )
    return hf.LlavaForConditionalGeneration(config)


def qwen2_5_vl() -> Any:
    vision = {**_QWEN, "window_size": 56, "fullatt_block_indexes": [1, 3]}
    config = hf.Qwen2_5_VLConfig(text_config={**_TEXT, "rope_parameters": _MROPE}, vision_config=vision, **_QWEN_IDS)
    return hf.Qwen2_5_VLForConditionalGeneration(config)


def qwen3_vl() -> Any:
    vision = {**_QWEN, "num_position_embeddings": 64, "deepstack_visual_indexes": [1, 2]}
    text = {**_TEXT, "head_dim": 16, "rope_parameters": {**_MROPE, "mrope_interleaved": True}}
    return hf.Qwen3VLForConditionalGeneration(hf.Qwen3VLConfig(text_config=text, vision_config=vision, **_QWEN_IDS))


def smolvlm() -> Any:
    vision = {**_VISION, "image_size": 112, "patch_size": 14}
    config = hf.SmolVLMConfig(text_config={"model_type": "llama", **_TEXT}, vision_config=vision, image_token_id=IMAGE,
                              scale_factor=2, pad_token_id=PAD)  # fmt: skip
    return hf.SmolVLMForConditionalGeneration(config)


def idefics3() -> Any:
    vision = {**_VISION, "image_size": 112, "patch_size": 14}
    config = hf.Idefics3Config(text_config={"model_type": "llama", **_TEXT}, vision_config=vision,
                               image_token_id=IMAGE, scale_factor=2, pad_token_id=PAD)  # fmt: skip
    return hf.Idefics3ForConditionalGeneration(config)


def internvl() -> Any:
    vision = hf.InternVLVisionConfig(**_VISION, image_size=[112, 112], patch_size=[14, 14])
    config = hf.InternVLConfig(
        vision_config=vision, text_config=hf.Qwen2Config(**_TEXT), image_token_id=IMAGE, image_seq_length=16
    )
    return hf.InternVLForConditionalGeneration(config)


def gemma3() -> Any:
    vision = {**_VISION, "image_size": 112, "patch_size": 14, "vision_use_head": False}
    text = {**_TEXT, "head_dim": 16, "sliding_window": 512, "layer_types": ["sliding_attention", "full_attention"] * 2}
    config = hf.Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=16, image_token_index=IMAGE,
                             image_token_id=IMAGE)  # fmt: skip
    return hf.Gemma3ForConditionalGeneration(config)


@dataclass(frozen=True)
class Family:
    """How the prompts of a family look.

    Attributes
    ----------
    make : the model.
    cells : (rows, columns) of tokens that it makes of a tile.
    tiles : tiles of each image, each after a marker.
    packed : whether pixels come as rows of patches.
    """

    make: Any
    cells: tuple[int, int]
    tiles: int = 1
    packed: bool = False


FAMILIES = {
    "llava": Family(llava, (8, 8)),
    "qwen2_5_vl": Family(qwen2_5_vl, (4, 6), packed=True),
    "qwen3_vl": Family(qwen3_vl, (4, 6), packed=True),
    "smolvlm": Family(smolvlm, (4, 4), tiles=2),
    "idefics3": Family(idefics3, (4, 4), tiles=2),
    "internvl": Family(internvl, (4, 4), tiles=2),
    "gemma3": Family(gemma3, (4, 4)),
}


def model_of(name: str) -> Any:
    """A model whose answers depend on what it sees: larger weights than a fresh one has."""
    torch.manual_seed(0)
    model = FAMILIES[name].make().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model


def prompts(name: str, images: tuple[int, ...] = (1,), seed: int = 0) -> dict[str, torch.Tensor]:
    """A batch with so many images in each row, the shorter rows padded on the left, as a processor returns it."""
    family, rng = FAMILIES[name], np.random.default_rng(seed)
    rows = [_row(family, count, rng) for count in images]
    longest = max(map(len, rows))
    ids = torch.tensor([[PAD] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    inputs = {"input_ids": ids, "attention_mask": mask, **_pixels(name, family, images, seed)}
    if family.packed:
        inputs["mm_token_type_ids"] = (ids == IMAGE).int()
    if name == "gemma3":
        inputs["token_type_ids"] = (ids == IMAGE).long()
    return inputs


def _row(family: Family, images: int, rng: np.random.Generator) -> list[int]:
    row = [1, *rng.integers(2, 90, 3).tolist()]
    for _ in range(images):
        for _ in range(family.tiles):
            row += [TILE, START, *[IMAGE] * (family.cells[0] * family.cells[1]), END]
        row += rng.integers(2, 90, 2).tolist()
    return row


def _pixels(name: str, family: Family, images: tuple[int, ...], seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    count = sum(images) * family.tiles
    if family.packed:
        rows, columns = (2 * cells for cells in family.cells)
        pixels = torch.randn(count * rows * columns, 3 * 14 * 14, generator=generator).clamp(-1, 1)
        pixels = pixels.reshape(-1, 3, 1, 196).expand(-1, -1, 2, -1).reshape(len(pixels), -1)
        return {"pixel_values": pixels, "image_grid_thw": torch.tensor([[1, rows, columns]] * count)}
    pixels = torch.randn(count, 3, 112, 112, generator=generator).clamp(-1, 1)
    if name not in ("smolvlm", "idefics3"):
        return {"pixel_values": pixels}
    most = max(images) * family.tiles
    padded = torch.zeros(len(images), most, 3, 112, 112)
    for row, part in enumerate(pixels.split([number * family.tiles for number in images])):
        padded[row, : len(part)] = part
    return {"pixel_values": padded}


def row_of(name: str, inputs: dict[str, torch.Tensor], images: tuple[int, ...], row: int) -> dict[str, torch.Tensor]:
    """One prompt of a batch, without its padding."""
    family, real = FAMILIES[name], inputs["attention_mask"][row].bool()
    alone = {
        key: value[row : row + 1, real] for key, value in inputs.items() if value.shape == inputs["input_ids"].shape
    }
    first, count = sum(images[:row]) * family.tiles, images[row] * family.tiles
    pixels = inputs["pixel_values"]
    if family.packed:
        size = 4 * family.cells[0] * family.cells[1]
        alone["image_grid_thw"] = inputs["image_grid_thw"][first : first + count]
        alone["pixel_values"] = pixels[first * size : (first + count) * size]
    else:
        alone["pixel_values"] = pixels[first : first + count] if pixels.ndim == 4 else pixels[row : row + 1, :count]
    return alone


def real_positions(model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Position ids of whole prompts, as the models document them."""
    mask = inputs["attention_mask"]
    text = (mask.cumsum(-1) - 1).clamp(min=0)
    if not hasattr(model.model, "get_rope_index"):
        return text
    places, _ = model.model.get_rope_index(
        inputs["input_ids"], mm_token_type_ids=inputs["mm_token_type_ids"], image_grid_thw=inputs["image_grid_thw"],
        attention_mask=mask,
    )  # fmt: skip
    return torch.cat([text[None], places])


def counted(call: Any) -> int:
    """Floating-point operations of a call, by torch's counter."""
    counter = FlopCounterMode(display=False)
    with counter:
        call()
    return counter.get_total_flops()
