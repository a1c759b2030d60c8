"""What `reduce` takes, refuses and states."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from hra.domains import tokens
from hra.errors import ArrayError, HraError, HraWarning, InvalidBudget
from hra.integrations.transformers import reduce
from hra.integrations.transformers.encoding import Encoded
from tests.helpers.tiny_models import PROCESSOR, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")
EVEN = tokens.UniformGrid(tokens.UniformRelevance())


def test_budgets_of_each_image():
    inputs = prompts("llava", (1, 2))
    small = reduce(model_of("llava"), inputs, allocator=EVEN, budget=[3, 5, 64], processor=PROCESSOR)
    assert small.counts == (3, 5, 64)
    assert small.prompt["attention_mask"].sum(1).tolist() == [3 + 4 + 5, 5 + 64 + 4 + 2 * 5]
    assert set(small.seconds) == {"encoding", "encoding_cpu", "selection", "selection_cpu"}


def test_markers_and_text_stay_where_they_are():
    inputs = prompts("internvl", (2,))
    small = reduce(model_of("internvl"), inputs, allocator=EVEN, budget=1, processor=PROCESSOR)
    ids = inputs["input_ids"][0]
    kept = small.prompt["input_ids"][0]
    assert torch.equal(kept[kept != 95], ids[ids != 95])
    assert torch.equal(small.prompt["position_ids"][0], small.columns[0])


def test_pictures_may_be_given_instead_of_pixels():
    inputs = prompts("llava")
    picture = np.random.default_rng(0).random((90, 70, 3))
    small = reduce(
        model_of("llava"), inputs, allocator=tokens.PyramidSampling(), budget=9, images=[picture], query="left"
    )
    assert small.counts == (9,) and small.chosen[0].allocation.cost == 9


@pytest.mark.parametrize("name", ["divprune", "tome", "prunevid"])
def test_what_chooses_by_features_has_no_picture_to_encode_again(name):
    # It was a grey one: all 64 tokens kept gave other answers than the unmodified model.
    with pytest.raises(ArrayError, match="sees no pictures"):
        reduce(
            model_of("llava"), prompts("llava"), allocator=tokens.REDUCERS[name](), budget=64, realize="encode",
            processor=PROCESSOR,
        )  # fmt: skip


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("name", "side"), [("llava", 14), ("internvl", 28), ("qwen2_5_vl", 28), ("gemma3", 28)])
def test_pictures_that_are_encoded_again_with_less_detail_are_told(name, side):
    options: dict[str, Any] = {"budget": 4, "realize": "encode", "processor": PROCESSOR}
    for patch in (side - 2, side, side + 2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reduce(model_of(name), prompts(name), allocator=tokens.EvenPyramid(patch=patch), **options)
        told = [str(one.message) for one in caught if issubclass(one.category, HraWarning)]
        assert len(told) == (patch < side) and all(f"patch={side}" in one for one in told)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"processor": None}, "normalised the colours"),
        ({"pixel_values": None}, {}, "no images"),
        ({"pixel_values_videos": torch.zeros(1)}, {}, "videos"),
        ({"position_ids": torch.zeros(1, 73)}, {}, "cannot be shortened"),
        ({"words": torch.zeros(1, 73)}, {}, "'words' cannot be shortened"),
        ({"input_ids": torch.tensor([[1, 95, 95, 4]]), "attention_mask": None}, {}, "2 placeholders for 64"),
        ({}, {"grids": [(8, 9)]}, "the model and its inputs state"),
        ({}, {"images": []}, "0 pictures for 1"),
        ({}, {"budget": [1, 2]}, "2 budgets for 1"),
        ({}, {"realize": "guess"}, "realize 'guess' is unknown"),
        ({}, {"positions": "new"}, "positions 'new' is unknown"),
    ],
)
def test_what_does_not_fit_is_refused(change, options, message):
    inputs = {**prompts("llava"), **change}
    inputs = {key: value for key, value in inputs.items() if value is not None}
    with pytest.raises(ArrayError, match=message):
        reduce(model_of("llava"), inputs, **{"allocator": EVEN, "budget": 4, "processor": PROCESSOR, **options})


def test_something_else_than_an_allocator_is_refused():
    with pytest.raises(HraError, match="allocator"):
        reduce(model_of("llava"), prompts("llava"), allocator="visionzip", budget=4)  # pyright: ignore


def test_budgets_below_the_least_are_refused():
    with pytest.raises(InvalidBudget):
        reduce(model_of("llava"), prompts("llava"), allocator=tokens.Downsample(), budget=0, processor=PROCESSOR)


def test_a_cut_of_coarse_patches_cannot_be_selected():
    with pytest.raises(ArrayError, match="not one cell"):
        reduce(model_of("llava"), prompts("llava"), allocator=tokens.PyramidSampling(), budget=4, realize="select",
               processor=PROCESSOR)  # fmt: skip


def test_models_that_take_no_outputs_of_an_encoder_are_refused():
    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=100, **sizes))
    with pytest.raises(ArrayError, match="does not take outputs"):
        reduce(model, prompts("llava"), allocator=EVEN, budget=4, processor=PROCESSOR)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "pixels", "grid"),
    [
        (transformers.LlavaConfig(), (1, 3, 336, 336), (24, 24)),
        (transformers.InternVLConfig(), (2, 3, 448, 448), (16, 16)),
        (transformers.Gemma3Config(vision_config={"image_size": 896, "patch_size": 14}), (1, 3, 896, 896), (16, 16)),
    ],
    ids=["llava-1.5-7b", "internvl-3", "gemma-3"],
)
def test_grids_of_models_in_their_real_size(model, pixels, grid):
    """Shapes alone, on torch's meta device: no weights are made."""
    with torch.device("meta"):
        made = transformers.AutoModelForImageTextToText.from_config(model)
        found = Encoded.of(made, {"pixel_values": torch.empty(pixels)})
    assert found.grids == (grid,) * pixels[0]
    assert found.levels[0].shape[1] == model.get_text_config().hidden_size
