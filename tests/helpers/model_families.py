"""More small random models, one of each family, and prompts of pictures of given sizes for all of them.

What is here beside `tiny_models`: the families of the matrix of docs/models.md (`scripts/check_models.py`), with
pictures of different sizes and padding on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import torch
import transformers

from tests.helpers.tiny_models import _MROPE, _QWEN, _QWEN_IDS, _TEXT, _VISION, END, FAMILIES, IMAGE, PAD, START, TILE

hf: Any = transformers
Kind = Literal["square", "tiles", "anyres", "sized", "packed"]
Size = tuple[int, int]
# Six cells a side of a tile of 84 pixels; images are cut into at most four tiles.
SIDE, PATCH, PINPOINTS = 84, 14, [[84, 168], [168, 84], [168, 168], [84, 252], [252, 84]]
_SQUARE: dict[str, Any] = {**_VISION, "image_size": 112, "patch_size": 14}
_GLM_IDS = {"image_token_id": IMAGE, "image_start_token_id": START, "image_end_token_id": END, "video_token_id": 98,
            "video_start_token_id": 92, "video_end_token_id": 93}  # fmt: skip
_EXPERTS: dict[str, Any] = {"moe_intermediate_size": 32, "num_experts": 4, "num_experts_per_tok": 2}


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


def lighton_ocr() -> Any:
    vision = hf.PixtralVisionConfig(**_VISION, image_size=392, patch_size=PATCH)
    config = hf.LightOnOcrConfig(vision_config=vision, text_config=hf.Qwen3Config(**_TEXT, head_dim=16),
                                 image_token_id=IMAGE)  # fmt: skip
    return hf.LightOnOcrForConditionalGeneration(config)


def qwen2_vl() -> Any:
    vision = {"depth": 4, "embed_dim": 32, "hidden_size": 64, "num_heads": 4, "mlp_ratio": 2, "patch_size": 14}
    config = hf.Qwen2VLConfig(text_config={**_TEXT, "rope_parameters": _MROPE}, vision_config=vision, **_QWEN_IDS)
    return hf.Qwen2VLForConditionalGeneration(config)


def qwen3_vl_moe() -> Any:
    vision = {**_QWEN, "num_position_embeddings": 64, "deepstack_visual_indexes": [1, 2]}
    text = {**_TEXT, **_EXPERTS, "head_dim": 16, "rope_parameters": {**_MROPE, "mrope_interleaved": True}}
    return hf.Qwen3VLMoeForConditionalGeneration(
        hf.Qwen3VLMoeConfig(text_config=text, vision_config=vision, **_QWEN_IDS)
    )


def _glm(name: str, config: str, **text: Any) -> Any:
    vision = {**_QWEN, "image_size": 112, "attention_bias": True}
    text = {**_TEXT, "rope_parameters": {**_MROPE, "mrope_section": [2, 3, 3], "partial_rotary_factor": 1.0}, **text}
    made = getattr(hf, f"{config}Config")(text_config=text, vision_config=vision, **_GLM_IDS)
    return getattr(hf, f"{name}ForConditionalGeneration")(made)


def glm4v() -> Any:
    return _glm("Glm4v", "Glm4v")


def glm46v() -> Any:
    return _glm("Glm46V", "Glm46V")


def glm4v_moe() -> Any:
    return _glm("Glm4vMoe", "Glm4vMoe", head_dim=16, moe_intermediate_size=32, n_routed_experts=4, n_group=1,
                topk_group=1, num_experts_per_tok=2, n_shared_experts=1, first_k_dense_replace=1)  # fmt: skip


def glm_ocr() -> Any:
    return _glm("GlmOcr", "GlmOcr", head_dim=16)


def ernie4_5_vl_moe() -> Any:
    vision = {"depth": 4, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "patch_size": 14}
    text = {**_TEXT, "rope_parameters": {**_MROPE, "mrope_section": [3, 3, 2]}, "moe_intermediate_size": [32, 32],
            "moe_num_experts": 4, "moe_k": 2, "moe_num_shared_experts": 1}  # fmt: skip
    config = hf.Ernie4_5_VLMoeConfig(text_config=text, vision_config=vision, **_GLM_IDS)
    return hf.Ernie4_5_VLMoeForConditionalGeneration(config)


def paddleocr_vl() -> Any:
    vision = {**_VISION, "image_size": 112, "patch_size": 14}
    text = {**_TEXT, "head_dim": 16, "rope_parameters": _MROPE}
    config = hf.PaddleOCRVLConfig(text_config=text, vision_config=vision, **_QWEN_IDS)
    return hf.PaddleOCRVLForConditionalGeneration(config)


def exaone4_5() -> Any:
    vision = {**_QWEN, "window_size": 56, "fullatt_block_indexes": [1, 3], "num_key_value_heads": 2}
    text = {"model_type": "exaone4", **_TEXT, "head_dim": 16, "sliding_window": 512,
            "layer_types": ["sliding_attention", "full_attention"] * 2}  # fmt: skip
    config = hf.Exaone4_5_Config(text_config=text, vision_config=vision, image_token_id=IMAGE, video_token_id=98)
    return hf.Exaone4_5_ForConditionalGeneration(config)


def video_llama_3() -> Any:
    config = hf.VideoLlama3Config(text_config=hf.Qwen2Config(**_TEXT), vision_config={**_VISION, "patch_size": 14},
                                  image_token_id=IMAGE, video_token_id=98)  # fmt: skip
    return hf.VideoLlama3ForConditionalGeneration(config)


def paligemma() -> Any:
    vision = {**_SQUARE, "vision_use_head": False, "projection_dim": 64}
    text = {"model_type": "gemma", **_TEXT, "head_dim": 16}
    config = hf.PaliGemmaConfig(text_config=text, vision_config=vision, image_token_index=IMAGE, image_token_id=IMAGE,
                                projection_dim=64, hidden_size=64)  # fmt: skip
    return hf.PaliGemmaForConditionalGeneration(config)


def aya_vision() -> Any:
    vision, text = {**_SQUARE, "vision_use_head": False}, {"model_type": "cohere2", **_TEXT, "sliding_window": 512}
    config = hf.AyaVisionConfig(text_config=text, vision_config=vision, image_token_id=IMAGE, image_token_index=IMAGE)
    return hf.AyaVisionForConditionalGeneration(config)


def cohere2_vision() -> Any:
    vision, text = {**_SQUARE, "vision_use_head": False}, {"model_type": "cohere2", **_TEXT, "sliding_window": 512}
    config = hf.Cohere2VisionConfig(text_config=text, vision_config=vision, image_token_id=IMAGE,
                                    alignment_intermediate_size=64)  # fmt: skip
    return hf.Cohere2VisionForConditionalGeneration(config)


def vipllava() -> Any:
    vision = hf.CLIPVisionConfig(**_SQUARE, projection_dim=32)
    layers = {"vision_feature_layer": (-2, 1), "vision_feature_layers": (-2, 1)}  # the name changed with release 5.21
    config = hf.VipLlavaConfig(vision_config=vision, text_config=hf.LlamaConfig(**_TEXT), image_token_index=IMAGE,
                               image_token_id=IMAGE, **layers)  # fmt: skip
    return hf.VipLlavaForConditionalGeneration(config)


def deepseek_vl() -> Any:
    vision = {"model_type": "siglip_vision_model", **_SQUARE, "vision_use_head": False}
    config = hf.DeepseekVLConfig(vision_config=vision, text_config={"model_type": "llama", **_TEXT},
                                 image_token_id=IMAGE)  # fmt: skip
    return hf.DeepseekVLForConditionalGeneration(config)


def qianfan_ocr() -> Any:
    vision = hf.QianfanOCRVisionConfig(**_VISION, image_size=[112, 112], patch_size=[14, 14])
    config = hf.QianfanOCRConfig(vision_config=vision, text_config=hf.Qwen3Config(**_TEXT, head_dim=16),
                                 image_token_id=IMAGE, image_seq_length=16)  # fmt: skip
    return hf.QianfanOCRForConditionalGeneration(config)


def got_ocr2() -> Any:
    vision = {"hidden_size": 32, "output_channels": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "mlp_dim": 64,
              "image_size": 256, "patch_size": 16, "window_size": 8, "global_attn_indexes": [1]}  # fmt: skip
    config = hf.GotOcr2Config(vision_config=vision, text_config=hf.Qwen2Config(**_TEXT), image_token_id=IMAGE,
                              image_token_index=IMAGE, image_seq_length=16)  # fmt: skip
    return hf.GotOcr2ForConditionalGeneration(config)


def llama4() -> Any:
    vision = {**_SQUARE, "vision_output_dim": 64, "intermediate_size": 128, "projector_input_dim": 64,
              "projector_output_dim": 64}  # fmt: skip
    text = {**_TEXT, "head_dim": 16, "intermediate_size_mlp": 96, "num_local_experts": 2}
    config = hf.Llama4Config(text_config=text, vision_config=vision, image_token_id=IMAGE, image_token_index=IMAGE)
    return hf.Llama4ForConditionalGeneration(config)


def ovis2() -> Any:
    vision = {**_SQUARE, "vocab_size": 40, "hidden_stride": 2}
    config = hf.Ovis2Config(vision_config=vision, text_config={"model_type": "qwen2", **_TEXT}, image_token_id=IMAGE,
                            visual_indicator_token_ids=list(range(85, 90)), vocab_size=100, hidden_size=64)  # fmt: skip
    return hf.Ovis2ForConditionalGeneration(config)


# ---- what is refused ------------------------------------------------------------------------------------------------


def idefics2() -> Any:
    perceiver = {"resampler_n_latents": 16, "resampler_depth": 1, "resampler_n_heads": 4, "resampler_head_dim": 8,
                 "num_key_value_heads": 2, "hidden_size": 64}  # fmt: skip
    config = hf.Idefics2Config(vision_config=hf.Idefics2VisionConfig(**_SQUARE), perceiver_config=perceiver,
                               image_token_id=IMAGE, text_config={"model_type": "mistral", **_TEXT})  # fmt: skip
    return hf.Idefics2ForConditionalGeneration(config)


def qwen3_5() -> Any:
    vision = {**_QWEN, "num_position_embeddings": 64}
    text = {**_TEXT, "head_dim": 16, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2,
            "linear_num_value_heads": 4, "layer_types": ["linear_attention", "full_attention"] * 2,
            "rope_parameters": {**_MROPE, "mrope_interleaved": True}}  # fmt: skip
    config = hf.Qwen3_5Config(text_config=text, vision_config=vision, **_QWEN_IDS)
    return hf.Qwen3_5ForConditionalGeneration(config)


def lfm2_vl() -> Any:
    text = {"model_type": "lfm2", **_TEXT, "layer_types": ["conv", "full_attention"] * 2, "block_ff_dim": 96}
    vision = {"model_type": "siglip2_vision_model", **_VISION, "patch_size": 14, "num_patches": 64,
              "vision_use_head": False}  # fmt: skip
    config = hf.Lfm2VlConfig(text_config=text, vision_config=vision, image_token_id=IMAGE, projector_hidden_size=64)
    return hf.Lfm2VlForConditionalGeneration(config)


def blip_2() -> Any:
    qformer = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
               "encoder_hidden_size": 32, "vocab_size": 100}  # fmt: skip
    config = hf.Blip2Config(vision_config=_SQUARE, qformer_config=qformer, num_query_tokens=9, image_token_id=IMAGE,
                            text_config={"model_type": "opt", "vocab_size": 100, "hidden_size": 64, "ffn_dim": 96,
                                         "num_hidden_layers": 2, "num_attention_heads": 4, "word_embed_proj_dim": 64},
                            image_token_index=IMAGE)  # fmt: skip
    return hf.Blip2ForConditionalGeneration(config)


@dataclass(frozen=True)
class Family:
    """How pictures come into a family's prompts.

    Attributes
    ----------
    title : as the documentation names it.
    make : the model.
    kind : "square", one size for all; "tiles", one size, a row for each prompt; "anyres"; "sized", padded to the
        largest with `image_sizes`; "packed", rows of patches with `image_grid_thw`.
    unit : pixels a side of a token, where sizes are free.
    side : of the one size.
    merge : patches along a side of a token, of "packed".
    """

    title: str
    make: Callable[[], Any]
    kind: Kind
    unit: int = 14
    side: int = 112
    merge: int = 2


def _old(name: str) -> Callable[[], Any]:
    return FAMILIES[name].make


ALL: dict[str, Family] = {
    "llava": Family("LLaVA (CLIP, Llama)", _old("llava"), "square"),
    "vipllava": Family("VipLLaVA", vipllava, "square"),
    "llava_next": Family("LLaVA-NeXT", llava_next, "anyres"),
    "llava_onevision": Family("LLaVA-OneVision", llava_onevision, "anyres"),
    "pixtral": Family("Pixtral in LLaVA", pixtral, "sized"),
    "mistral3": Family("Mistral 3", mistral3, "sized", unit=28),
    "lighton_ocr": Family("LightOnOCR", lighton_ocr, "sized", unit=28),
    "qwen2_vl": Family("Qwen2-VL", qwen2_vl, "packed"),
    "qwen2_5_vl": Family("Qwen2.5-VL", _old("qwen2_5_vl"), "packed"),
    "qwen3_vl": Family("Qwen3-VL", _old("qwen3_vl"), "packed"),
    "qwen3_vl_moe": Family("Qwen3-VL-MoE", qwen3_vl_moe, "packed"),
    "glm4v": Family("GLM-4.1V", glm4v, "packed"),
    "glm4v_moe": Family("GLM-4.5V", glm4v_moe, "packed"),
    "glm46v": Family("GLM-4.6V", glm46v, "packed"),
    "glm_ocr": Family("GLM-OCR", glm_ocr, "packed"),
    "ernie4_5_vl_moe": Family("ERNIE 4.5 VL", ernie4_5_vl_moe, "packed"),
    "paddleocr_vl": Family("PaddleOCR-VL", paddleocr_vl, "packed"),
    "exaone4_5": Family("EXAONE 4.5", exaone4_5, "packed"),
    "video_llama_3": Family("VideoLLaMA 3", video_llama_3, "packed"),
    "internvl": Family("InternVL", _old("internvl"), "square"),
    "qianfan_ocr": Family("Qianfan-OCR", qianfan_ocr, "square"),
    "gemma3": Family("Gemma 3", _old("gemma3"), "square"),
    "paligemma": Family("PaliGemma", paligemma, "square"),
    "aya_vision": Family("Aya Vision", aya_vision, "square"),
    "cohere2_vision": Family("Command A Vision", cohere2_vision, "square"),
    "deepseek_vl": Family("DeepSeek-VL", deepseek_vl, "square"),
    "got_ocr2": Family("GOT-OCR 2", got_ocr2, "square", side=256),
    "llama4": Family("Llama 4", llama4, "square"),
    "ovis2": Family("Ovis 2", ovis2, "square"),
    "smolvlm": Family("SmolVLM", _old("smolvlm"), "tiles"),
    "idefics3": Family("Idefics 3", _old("idefics3"), "tiles"),
    "idefics2": Family("Idefics 2", idefics2, "tiles"),
    "blip_2": Family("BLIP-2", blip_2, "square"),
    "qwen3_5": Family("Qwen3.5", qwen3_5, "packed"),
    "lfm2_vl": Family("LFM2-VL", lfm2_vl, "packed"),
}


@cache
def family_model(name: str) -> Any:
    """A model whose answers depend on what it sees: larger weights than a fresh one has."""
    torch.manual_seed(0)
    model = ALL[name].make().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += 0.05 * torch.randn(parameter.shape, generator=generator)
    return model


def pictures_of(name: str, count: int, seed: int) -> list[Size]:
    """(height, width) in pixels of so many pictures, drawn at random where a family takes any."""
    family, rng = ALL[name], np.random.default_rng(seed)
    if family.kind == "anyres":
        return [(int(h), int(w)) for h, w in rng.integers(40, 900, (count, 2))]
    if family.kind in ("sized", "packed"):
        unit = family.unit * (family.merge if family.kind == "packed" else 1)
        return [(int(h) * unit, int(w) * unit) for h, w in rng.integers(2, 7, (count, 2))]
    return [(family.side, family.side)] * count


def family_inputs(
    name: str, prompts: Sequence[int], sizes: Sequence[Size], seed: int = 0, padding: str = "left"
) -> dict[str, torch.Tensor]:
    """A batch of prompts with so many pictures each, as a processor returns them."""
    family, model = ALL[name], family_model(name)
    pixels = _pixels(family, model, prompts, sizes, torch.Generator().manual_seed(seed))
    counts = _counts(family, model, pixels, sizes)
    rng, rows = np.random.default_rng(seed), []
    for number in prompts:
        row = [1, *rng.integers(2, 80, 3).tolist()]
        for _ in range(number):
            row += [TILE, START, *[IMAGE] * counts.pop(0), END, *rng.integers(2, 80, 2).tolist()]
        rows.append(row)
    longest = max(map(len, rows))
    ids, mask = torch.full((len(rows), longest), PAD), torch.zeros((len(rows), longest), dtype=torch.int64)
    for number, row in enumerate(rows):
        here = slice(longest - len(row), None) if padding == "left" else slice(len(row))
        ids[number, here], mask[number, here] = torch.tensor(row), 1
    inputs = {"input_ids": ids, "attention_mask": mask, **pixels}
    if hasattr(model.base_model, "get_rope_index"):
        inputs["mm_token_type_ids"] = (ids == IMAGE).int()
    if name in ("gemma3", "paligemma"):
        inputs["token_type_ids"] = (ids == IMAGE).long() if name == "gemma3" else torch.zeros_like(ids)
    return inputs


def _pixels(family: Family, model: Any, prompts: Sequence[int], sizes: Sequence[Size], random: Any) -> dict[str, Any]:
    if family.kind == "packed":
        grids = [(1, h // family.unit, w // family.unit) for h, w in sizes]
        count = sum(rows * columns for _, rows, columns in grids)
        pixels = torch.randn(count, 3, 1, family.unit**2, generator=random).clamp(-1, 1)
        twice = getattr(model.config.vision_config, "temporal_patch_size", 1)
        packed = pixels.expand(-1, -1, twice, -1).reshape(count, -1)
        if type(model).__name__.startswith("PaddleOCR"):
            packed = pixels.reshape(count, 3, family.unit, family.unit)
        made = {"pixel_values": packed, "image_grid_thw": torch.tensor(grids)}
        if type(model).__name__.startswith("VideoLlama3"):
            made["image_merge_sizes"] = torch.full((len(sizes),), family.merge)
        return made
    if family.kind == "anyres":
        module = __import__(type(model.base_model).__module__, fromlist=["x"])
        tiles = [module.image_size_to_num_patches(size, PINPOINTS, SIDE) for size in sizes]
        pixels = torch.zeros(len(sizes), max(tiles), 3, SIDE, SIDE)
        for image, number in zip(pixels, tiles, strict=True):
            image[:number] = torch.randn(number, 3, SIDE, SIDE, generator=random).clamp(-1, 1)
        return {"pixel_values": pixels, "image_sizes": torch.tensor(sizes)}
    largest = [max(size[axis] for size in sizes) for axis in (0, 1)]
    pixels = torch.zeros(len(sizes), 3, *largest)
    for image, (height, width) in zip(pixels, sizes, strict=True):
        image[:, :height, :width] = torch.randn(3, height, width, generator=random).clamp(-1, 1)
    if family.kind == "sized":
        return {"pixel_values": pixels, "image_sizes": torch.tensor(sizes)}
    if family.kind == "square":
        return {"pixel_values": pixels}
    padded = torch.zeros(len(prompts), max(prompts), *pixels.shape[1:])
    for row, part in zip(padded, pixels.split(list(prompts)), strict=True):
        row[: len(part)] = part
    return {"pixel_values": padded}


def _counts(family: Family, model: Any, pixels: dict[str, Any], sizes: Sequence[Size]) -> list[int]:
    """Placeholders of each picture: what the family's processor says, taken from its encoder."""
    if family.kind == "packed":
        return [h * w // (family.unit * family.merge) ** 2 for h, w in sizes]
    with torch.no_grad():
        made = model.base_model.get_image_features(**pixels, return_dict=True)
    made = made.last_hidden_state if made.pooler_output is None else made.pooler_output
    if family.kind in ("anyres", "sized"):
        return [len(each.reshape(-1, each.shape[-1])) for each in made]
    total = sum(len(each.reshape(-1, each.shape[-1])) for each in made)
    return [total // len(sizes)] * len(sizes)
