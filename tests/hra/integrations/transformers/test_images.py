from __future__ import annotations

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

from hra.domains import tokens
from hra.errors import ArrayError, HraWarning
from hra.integrations.transformers import reduce, shown
from hra.integrations.transformers.images import _packed, as_inputs, unlike
from hra.integrations.transformers.layouts import Layout
from tests.helpers.model_families import family_model
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", FAMILIES)
def test_pictures_are_what_the_encoder_sees(name):
    model, inputs = model_of(name), prompts(name, (1, 2))
    pictures = shown(model, inputs, PROCESSOR)
    family = FAMILIES[name]
    side = 112 // family.cells[0]
    assert len(pictures) == 3 * family.tiles
    assert {picture.shape for picture in pictures} == {(112, side * family.cells[1], 3)}
    assert all(0 <= picture.min() < picture.max() <= 1 for picture in pictures)


def test_packed_patches_come_in_blocks():
    # A picture of 4 x 4 patches, merged two by two: patch (0, 1) is the second of the first block.
    model = model_of("qwen3_vl")
    rows = torch.zeros(16, 3, 2, 14, 14)
    rows[1] = 1.0  # row 0, column 1
    rows[6] = 0.5  # second block (columns 2, 3), its third patch: row 1, column 2
    inputs = {"pixel_values": rows.reshape(16, -1), "image_grid_thw": torch.tensor([[1, 4, 4]])}
    picture = shown(model, inputs, SimpleNamespace(image_mean=[0.0] * 3, image_std=[1.0] * 3))[0]
    found = {
        (y, x): float(picture[14 * y, 14 * x, 0]) for y in range(4) for x in range(4) if picture[14 * y, 14 * x, 0]
    }
    assert found == {(0, 1): 1.0, (1, 2): 0.5}


_QWEN = dict.fromkeys(("qwen2_vl", "qwen2_5_vl", "qwen3_vl"), "Qwen2VL")
_PACKING = _QWEN | {"glm4v": "Glm4v", "glm46v": "Glm46V", "ernie4_5_vl_moe": "Ernie4_5_VLMoe",
                    "video_llama_3": "VideoLlama3", "paddleocr_vl": "PaddleOCRVL"}  # fmt: skip


def _packing(name: str, family: str):
    """A family's own processor, with patches of 14 pixels and pictures of 4 to 64 tokens."""
    made = getattr(transformers, f"{name}ImageProcessorPil")(patch_size=14, merge_size=2)
    twice = getattr(family_model(family).config.vision_config, "temporal_patch_size", 1)
    made.temporal_patch_size = twice
    made.size = {"shortest_edge": twice * 4 * 28**2, "longest_edge": twice * 64 * 28**2}
    return made


@pytest.mark.parametrize("family", _PACKING)
def test_pictures_are_those_that_the_family_s_own_processor_packed(family):
    across, down = np.meshgrid(np.linspace(0, 255, 400), np.linspace(0, 255, 120))
    picture = np.stack([across, down, 255 - across], axis=2).astype(np.uint8)
    processor = _packing(_PACKING[family], family)
    inputs = processor([picture], return_tensors="pt")
    seen = shown(family_model(family), inputs, processor)[0]
    ramp = np.linspace(0, 1, seen.shape[1])
    np.testing.assert_allclose(seen[..., 0], np.broadcast_to(ramp, seen.shape[:2]), atol=0.03)
    np.testing.assert_allclose(seen[..., 1], np.linspace(0, 1, len(seen))[:, None].repeat(len(ramp), 1), atol=0.03)


@pytest.mark.parametrize("family", _PACKING)
def test_pictures_encoded_again_are_packed_as_the_family_s_own_processor_does(family):
    picture = np.random.default_rng(0).integers(0, 256, (84, 112, 3), dtype=np.uint8)
    processor = _packing(_PACKING[family], family)
    inputs = processor([picture], return_tensors="pt")
    made = as_inputs(family_model(family), inputs, (picture / 255).astype(np.float32), processor)
    assert made["image_grid_thw"].tolist() == inputs["image_grid_thw"].tolist()
    torch.testing.assert_close(made["pixel_values"], inputs["pixel_values"], atol=1e-3, rtol=0)


def test_an_order_of_patches_that_is_not_known_is_refused():
    processor = _packing("HunYuanVL", "qwen2_vl")
    inputs = processor([np.zeros((112, 112, 3), np.uint8)], return_tensors="pt")
    with pytest.raises(ArrayError, match=r"HunYuanVL.* packs patches in an order that is not known"):
        shown(family_model("qwen2_vl"), inputs, processor)
    with pytest.raises(ArrayError, match="packs patches in an order that is not known"):
        _encoded(inputs, processor, [np.zeros((112, 112, 3))])


@pytest.mark.parametrize("given", [True, False])
def test_the_order_of_patches_is_asked_for_once(given):
    processor, picture = _packing("Qwen2VL", "qwen2_vl"), np.eye(112)[..., None].repeat(3, axis=2)
    inputs = processor([(255 * picture).astype(np.uint8)], return_tensors="pt")
    asked: list[int] = []
    packed = processor.preprocess
    processor.preprocess = lambda *given, **options: asked.append(1) or packed(*given, **options)
    assert len(_encoded(inputs, processor, [picture] if given else None).chosen[0].tokens.values)
    assert len(asked) == 1


def _encoded(inputs, processor, images):
    model = family_model("qwen2_vl")
    config, (_, rows, columns) = model.config, inputs["image_grid_thw"][0].tolist()
    ids = torch.tensor([[config.vision_start_token_id, *[config.image_token_id] * (rows * columns // 4), 1]])
    text = {"input_ids": ids, "mm_token_type_ids": (ids == config.image_token_id).int()}
    allocator = tokens.PyramidSampling(tokens.UniformRelevance())
    return reduce(
        model, {**inputs, **text}, allocator=allocator, budget=7, realize="encode", processor=processor, images=images
    )


@pytest.mark.parametrize("change", ["order", "turned"])
def test_pictures_in_another_order_or_upside_down_are_told(change):
    model, inputs = model_of("llava"), dict(prompts("llava", (2,)))
    pictures = np.random.default_rng(2).random((2, 112, 112, 3))
    pictures = np.kron(pictures[:, :14, :14], np.ones((1, 8, 8, 1)))
    inputs["pixel_values"] = torch.tensor(pictures).permute(0, 3, 1, 2).float()
    other = pictures[::-1] if change == "order" else pictures[:, ::-1, ::-1]
    for images, wrong in ((pictures, None), (other, r"images \[0, 1\] are not what the encoder sees")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reduce(model, inputs, allocator=tokens.UniformGrid(), budget=4, images=list(images))
        told = [str(one.message) for one in caught if issubclass(one.category, HraWarning)]
        assert len(told) == (wrong is not None) and all(re.search(str(wrong), one) for one in told)


@pytest.mark.parametrize("change", ["same", "reversed", "black"])
def test_frames_in_another_order_and_black_ones_are_told(change):
    model, rng = family_model("qwen2_5_vl"), np.random.default_rng(3)
    frames = np.kron(rng.random((4, 8, 8, 3)), np.ones((1, 14, 14, 1))).astype(np.float32)
    packed = [_packed(torch.tensor(frame).permute(2, 0, 1), 2, model.config.vision_config) for frame in frames]
    # Two frames for each step of time: both halves of a patch.
    rows = [each["pixel_values"].reshape(64, 3, 2, 14, 14) for each in packed]
    steps = [torch.stack([rows[k][:, :, 0], rows[k + 1][:, :, 0]], dim=2) for k in (0, 2)]
    inputs = {"pixel_values_videos": torch.cat(steps).reshape(128, -1), "video_grid_thw": torch.tensor([[2, 8, 8]])}
    given = {"same": frames, "reversed": frames[::-1], "black": np.zeros_like(frames)}[change]
    assert unlike(model, inputs, [list(given)], Layout.of_grids([(2, 4, 4)])) == ([] if change == "same" else [0])


def test_pictures_that_a_processor_cropped_are_told():
    model, inputs = model_of("llava"), dict(prompts("llava", (1,)))
    *_, height, width = inputs["pixel_values"].shape
    across = np.linspace(0, 1, 3 * width, dtype=np.float32)
    photo = np.repeat(np.stack([across, across**2, np.sin(9 * across) ** 2], axis=1)[None], height, axis=0)
    seen = torch.tensor(photo).permute(2, 0, 1)[None]
    stretched = torch.nn.functional.interpolate(seen, (height, width), mode="bilinear", antialias=True)
    for pixels, warns in ((stretched, False), (seen[..., width : 2 * width], True)):
        inputs["pixel_values"] = (pixels - 0.4) * 3  # whatever the processor's normalisation
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reduce(model, inputs, allocator=tokens.UniformGrid(), budget=4, images=[photo])
        told = [str(one.message) for one in caught if issubclass(one.category, HraWarning)]
        assert bool(told) == warns and all("processor=" in one for one in told)
