from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from hra.domains import tokens
from hra.errors import HraWarning
from hra.integrations.transformers import reduce, shown
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
