"""Small random models that take videos, prompts of pictures and videos for them, and what the matrix measures there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from hra.domains import tokens
from hra.integrations.transformers import Reduced, next_turn, reduce
from tests.helpers.tiny_models import END, IMAGE, PROCESSOR, START, hf

VIDEO, SIDE = 98, 84
QWEN = ("qwen2_5_vl", "qwen3_vl")
# Of each prompt its pictures and videos: (steps, rows, columns) of tokens; pictures have one step.
Media = list[list[tuple[int, int, int]]]
MIXED: Media = [[(1, 3, 4), (4, 2, 5)], [(3, 4, 3), (1, 2, 2), (3, 2, 3)]]
FRAMES: Media = [[(3, 3, 3)], [(3, 3, 3)]]
VIDEO_FAMILIES = {"qwen2_5_vl": "Qwen2.5-VL", "qwen3_vl": "Qwen3-VL", "llava_onevision": "LLaVA-OneVision"}
STEPS = 5


@cache
def made(name: str) -> Any:
    """The model of a family, its weights far enough from their start for every part to matter."""
    torch.manual_seed(0)
    model = {"qwen2_5_vl": qwen2_5_vl, "qwen3_vl": qwen3_vl, "llava_onevision": onevision}[name]().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model


TEXT: dict[str, Any] = {
    "vocab_size": 100, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2,
    "num_key_value_heads": 1, "eos_token_id": None, "pad_token_id": 0,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 2, 2]},
}  # fmt: skip
VISION: dict[str, Any] = {
    "depth": 4, "hidden_size": 32, "intermediate_size": 48, "num_heads": 4, "patch_size": 14, "spatial_merge_size": 2,
    "temporal_patch_size": 2, "out_hidden_size": 32,
}  # fmt: skip
IDS = {"image_token_id": IMAGE, "video_token_id": VIDEO, "vision_start_token_id": START, "vision_end_token_id": END}


def qwen2_5_vl() -> Any:
    vision = {**VISION, "window_size": 56, "fullatt_block_indexes": [1, 3]}
    return hf.Qwen2_5_VLForConditionalGeneration(hf.Qwen2_5_VLConfig(text_config=TEXT, vision_config=vision, **IDS))


def qwen3_vl() -> Any:
    vision = {**VISION, "num_position_embeddings": 64, "deepstack_visual_indexes": [1, 2]}
    text = {**TEXT, "head_dim": 16, "rope_parameters": {**TEXT["rope_parameters"], "mrope_interleaved": True}}
    return hf.Qwen3VLForConditionalGeneration(hf.Qwen3VLConfig(text_config=text, vision_config=vision, **IDS))


def onevision() -> Any:
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
    vision = hf.SiglipVisionConfig(**sizes, image_size=SIDE, patch_size=14, vision_use_head=False)
    text = hf.Qwen2Config(**sizes, vocab_size=100, num_key_value_heads=2, eos_token_id=None, pad_token_id=0)
    config = hf.LlavaOnevisionConfig(
        vision_config=vision, text_config=text, image_token_id=IMAGE, video_token_id=VIDEO,
        image_grid_pinpoints=[[84, 168], [168, 84], [168, 168]], vision_aspect_ratio="anyres_max_2",
    )  # fmt: skip
    return hf.LlavaOnevisionForConditionalGeneration(config)


def batch(name: str, media: Media | None = None, seed: int = 0, still: bool = False) -> dict[str, Any]:
    """Prompts with pictures and videos, padded on the left, as a processor returns them."""
    rng = torch.Generator().manual_seed(seed)
    if name in QWEN:
        return _qwen(name, media or MIXED, rng, still)
    frames = torch.randn(2, 1 if still else 3, 3, SIDE, SIDE, generator=rng).clamp(-1, 1)
    frames = frames.repeat(1, 3 if still else 1, 1, 1, 1)
    if media == FRAMES:
        return _padded([[1, 5, *[VIDEO] * 28, 7], [1, *[VIDEO] * 28, 8, 9, 6]], {"pixel_values_videos": frames})
    pixels = torch.randn(1, 3, 3, SIDE, SIDE, generator=rng).clamp(-1, 1)
    sizes = torch.tensor([[60, 130]])
    count = len(made(name).base_model.get_image_features(pixels, sizes, return_dict=True).pooler_output[0])
    rows = [[1, 5, *[IMAGE] * count, 7, *[VIDEO] * 28, 9], [1, *[VIDEO] * 28, 8, 9, 6]]
    return _padded(rows, {"pixel_values": pixels, "image_sizes": sizes, "pixel_values_videos": frames})


def _qwen(name: str, media: Media, rng: torch.Generator, still: bool) -> dict[str, Any]:
    rows, pixels, sizes = [], {1: [], 2: []}, {1: [], 2: []}
    for number, parts in enumerate(media):
        row = [1, 5 + number]
        for steps, height, width in parts:
            kind, count = (1, 1) if steps == 1 else (2, 1 if still else steps)
            patches = torch.randn(count, 4 * height * width, 3 * 2 * 14 * 14, generator=rng).clamp(-1, 1)
            pixels[kind].append(patches.expand(steps, -1, -1).reshape(-1, 3 * 2 * 14 * 14))
            sizes[kind].append([steps, 2 * height, 2 * width])
            groups = steps if name == "qwen3_vl" else 1
            token = IMAGE if kind == 1 else VIDEO
            for step in range(groups):
                row += [20 + step, START, *[token] * (steps * height * width // groups), END]
        rows.append([*row, 7, 8 + number])
    given: dict[str, Any] = {}
    for kind, names in ((1, ("pixel_values", "image_grid_thw")), (2, ("pixel_values_videos", "video_grid_thw"))):
        if sizes[kind]:
            given |= dict(zip(names, (torch.cat(pixels[kind]), torch.tensor(sizes[kind])), strict=True))
    if name == "qwen2_5_vl" and sizes[2]:
        given["second_per_grid_ts"] = torch.tensor([0.5 + each for each in range(len(sizes[2]))])
    inputs = _padded(rows, given)
    ids = inputs["input_ids"]
    return {**inputs, "mm_token_type_ids": (ids == IMAGE).int() + 2 * (ids == VIDEO).int()}


def _padded(rows: list[list[int]], given: dict[str, Any]) -> dict[str, Any]:
    longest = max(map(len, rows))
    ids = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, **given}


def row_of(name: str, inputs: dict[str, Any], media: Media, row: int) -> dict[str, Any]:
    """One prompt of a batch of Qwen, without its padding."""
    real = inputs["attention_mask"][row].bool()
    alone = {
        key: value[row : row + 1, real] for key, value in inputs.items() if value.shape == inputs["input_ids"].shape
    }
    for kind, pixels, sizes in ((1, "pixel_values", "image_grid_thw"), (2, "pixel_values_videos", "video_grid_thw")):
        before, here = (sum((each[0] == 1) == (kind == 1) for part in parts for each in part)
                        for parts in (media[:row], media[row : row + 1]))  # fmt: skip
        ends = [0, *inputs[sizes].prod(1).cumsum(0).tolist()]
        if here:
            alone[sizes] = inputs[sizes][before : before + here]
            alone[pixels] = inputs[pixels][ends[before] : ends[before + here]]
        if here and kind == 2 and name == "qwen2_5_vl":
            alone["second_per_grid_ts"] = inputs["second_per_grid_ts"][before : before + here]
    return alone


def reduced(name: str, inputs: Any, budget: Any, **options: Any) -> Reduced:
    options = {"allocator": tokens.Random(), "realize": "select", "processor": PROCESSOR, **options}
    return reduce(made(name), inputs, budget=budget, **options)


def masked(name: str, inputs: Any, small: Reduced) -> dict[str, Any]:
    """The whole prompts, with what is gone hidden from attention, at the model's own positions."""
    mask = torch.zeros_like(inputs["attention_mask"])
    for row, columns in enumerate(small.columns):
        mask[row, columns[columns >= 0]] = 1
    places = (inputs["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    if name in QWEN:
        names = ("mm_token_type_ids", "image_grid_thw", "video_grid_thw", "second_per_grid_ts", "attention_mask")
        given = {key: inputs[key] for key in names if key in inputs}
        places = torch.cat([places[None], made(name).model.get_rope_index(inputs["input_ids"], **given)[0]])
    return {**inputs, "attention_mask": mask, "position_ids": places}


def prompt_difference(name: str, seed: int = 0, right: bool = False) -> float:
    """Logits of the prompts beside the whole ones in which what is gone is masked, the largest difference."""
    inputs = batch(name, seed=seed)
    small = reduced(name, padded_right(inputs) if right else inputs, 4, allocator=tokens.Random(seed))
    left = reduced(name, inputs, 4, allocator=tokens.Random(seed))
    whole, short = made(name)(**masked(name, inputs, left)).logits, made(name)(**small.inputs).logits
    rows, kept = torch.arange(len(short))[:, None].expand_as(left.columns), left.columns >= 0
    return float((short[kept] - whole[rows[kept], left.columns[kept]]).abs().max())


def effect(name: str) -> float:
    """What dropping changes."""
    inputs = batch(name)
    small = reduced(name, inputs, 4)
    whole, short, kept = made(name)(**inputs).logits, made(name)(**small.inputs).logits, small.columns >= 0
    rows = torch.arange(len(short))[:, None].expand_as(kept)
    return float((short[kept] - whole[rows[kept], small.columns[kept]]).abs().max())


def answer_difference(name: str, second: bool = False, **options: Any) -> float:
    """`generate`, every step of one turn or of two, beside one forward pass of the masked whole conversation."""
    media = [[(3, 2, 3)], [(2, 3, 3)]] if name in QWEN else FRAMES
    inputs = batch(name, media if second else None, seed=4)
    options = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0, "suppress_tokens": [IMAGE, VIDEO],
               "output_logits": True, "return_dict_in_generate": True, **options}  # fmt: skip
    small = reduced(name, inputs, 6)
    turns = [made(name).generate(**small.inputs, **options)]
    gap = 0
    if second:
        further = torch.tensor([[11, 12], [13, 14]])
        turns.append(made(name).generate(**next_turn(made(name), small.inputs, turns[0], further), **options))
        gap = further.shape[1]
    added = turns[-1].sequences[:, small.columns.shape[1] :]
    whole = masked(name, inputs, small)
    # `generate` counts on from the last token; the times of a video's frames may be beyond it.
    every = whole["position_ids"][..., -1:]
    latest = every if every.ndim == 2 else torch.cat([every[:1], every[1:].amax(0, keepdim=True).expand(3, -1, -1)])
    more = torch.arange(1, added.shape[1] + 1)
    longer = {"input_ids": torch.cat([inputs["input_ids"], added], 1),
              "attention_mask": torch.cat([whole["attention_mask"], torch.ones_like(added)], 1),
              "position_ids": torch.cat([whole["position_ids"], latest + more], -1)}  # fmt: skip
    if name in QWEN:
        kinds = inputs["mm_token_type_ids"]
        longer["mm_token_type_ids"] = torch.cat([kinds, torch.zeros_like(added, dtype=kinds.dtype)], 1)
    logits = made(name)(**{**whole, **longer}, use_cache=False).logits[:, inputs["input_ids"].shape[1] - 1 :]
    found, at = [], 0
    for turn in turns:
        found += [float((step - logits[:, at + k]).abs().max()) for k, step in enumerate(turn.logits)]
        at += len(turn.logits) + gap
    return max(found)


def padded_right(inputs: dict[str, Any]) -> dict[str, Any]:
    """Prompts with their padding behind them."""
    shape, order = inputs["input_ids"].shape, inputs["attention_mask"].argsort(dim=1, descending=True, stable=True)
    return {key: value.gather(1, order) if value.shape == shape else value for key, value in inputs.items()}


VIDEO_COLUMNS: dict[str, Callable[[str], float]] = {
    "dropping changes": effect,
    "masked, padded left": lambda name: max(prompt_difference(name, seed) for seed in range(6)),
    "padded right": lambda name: prompt_difference(name, 1, right=True),
    "generate": answer_difference,
    "no cache": lambda name: answer_difference(name, use_cache=False),
    "static": lambda name: answer_difference(name, cache_implementation="static"),
    "two turns": lambda name: answer_difference(name, second=True),
}
"""Each measures one family: prompts with pictures and videos."""
