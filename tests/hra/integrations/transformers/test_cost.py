"""Operations against a counter that watches tiny models at work."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np
import pytest
import torch
from transformers import Glm4vConfig, LlamaConfig, LlavaConfig, Mistral3Config, Qwen2_5_VLConfig, Qwen3VLConfig

from hra.domains import tokens
from hra.errors import ArrayError, BudgetTooSmall, FileError, HraError, InvalidBudget
from hra.integrations.transformers import CostModel, Dropping, Stage, Timed, configuration, reduce
from hra.integrations.transformers.cost import patches_of
from hra.integrations.transformers.language_attention import cache_argument, cache_of
from tests.helpers.model_matrix import SERVED, Case
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, counted, model_of, prompts

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
FAMILY = pytest.mark.parametrize("name", FAMILIES)
# The counter also sees the products that make rotary angles: large beside nothing but models as small as these.
CLOSE = 0.01


# Families with parts that are not known, and those whose counts are above what they take: both kinds of experts count,
# each token of a picture counts as one of four of the encoder, convolutions of the neck count for each patch.
_UNKNOWN, _CAREFUL = ("lighton_ocr",), {"ernie4_5_vl_moe": 0.9, "video_llama_3": 0.95, "got_ocr2": 0.6}
# Patches of padding are embedded, and left out behind it: much in these models of a few layers, .2 % in published ones.
_PADDING = 0.07


@contextmanager
def of_products(model: Any) -> Iterator[None]:
    """Attention and experts are made of products that the counter knows."""
    attention, experts = model.config._attn_implementation, model.config._experts_implementation
    model.set_attn_implementation("eager")
    model.set_experts_implementation("eager")
    yield
    model.set_attn_implementation(attention)
    model.set_experts_implementation(experts)


def watched(name: str) -> Any:
    """A model whose attention is made of products that the counter knows."""
    model = model_of(name)
    model.set_attn_implementation("eager")
    return model


def stated(name: str, model: Any, inputs: Any, **options: Any) -> Any:
    family, text = FAMILIES[name], int((inputs["input_ids"] != model.config.image_token_id).sum())
    size = (28 * family.cells[0], 28 * family.cells[1])
    return CostModel(model.config).cost(text=text, pictures=family.tiles, size=size, **options)


@FAMILY
def test_encoder_and_connector(name):
    model, inputs = watched(name), prompts(name)
    given = {key: inputs[key] for key in ("pixel_values", "image_grid_thw") if key in inputs}
    found = counted(lambda: model.base_model.get_image_features(**given, return_dict=True))
    cost = stated(name, model, inputs)
    assert cost.encoder + cost.connector == pytest.approx(found, rel=CLOSE)
    assert cost.tokens == int((inputs["input_ids"] == model.config.image_token_id).sum())


@FAMILY
@pytest.mark.parametrize("kept", [None, 5])
def test_prompt_and_one_more_token(name, kept):
    model, inputs = watched(name), prompts(name)
    allocator = tokens.UniformGrid(tokens.UniformRelevance())
    small = reduce(model, inputs, allocator=allocator, budget=kept or 999, processor=PROCESSOR)
    cost = stated(name, model, inputs, tokens=kept)
    given = small.inputs
    assert cost.prefill == pytest.approx(counted(lambda: model(**given, logits_to_keep=1)), rel=CLOSE)
    cache = cache_argument(model(**small.inputs, use_cache=True))
    step = {"attention_mask": small.mask(0), "position_ids": small.positions(0), **cache}
    ids = torch.ones(1, 1, dtype=torch.long)
    assert cost.decoding == pytest.approx(counted(lambda: model(input_ids=ids, **step)), rel=CLOSE)


@FAMILY
def test_layers_of_different_lengths(name):
    model, inputs = watched(name), prompts(name)
    with Dropping(model, [Stage(2, 0.5, ahead=True), Stage(3, 0.25, ahead=True)]) as inside:
        cache = cache_of(model(**inputs, use_cache=True, logits_to_keep=1))
        found = counted(lambda: model(**inputs, logits_to_keep=1))
    layers = [count for (count,) in inside.counts]
    cost = stated(name, model, inputs, layers=layers)
    assert cost.cache == 2 * sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    encoder = cost.encoder + cost.connector
    # Choosing computes keys and one query of two layers once more.
    assert encoder + cost.prefill < found < (encoder + cost.prefill) * 1.1
    with pytest.raises(ArrayError, match="layers"):
        stated(name, model, inputs, layers=layers[1:])


@FAMILY
def test_memory_of_the_cache(name):
    model, inputs = model_of(name), prompts(name)
    cache = cache_of(model(**inputs, use_cache=True))
    values = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    assert stated(name, model, inputs).cache == 2 * values


@FAMILY
def test_budgets_in_operations_are_met_and_one_token_more_is_too_much(name):
    model, inputs = watched(name), prompts(name)
    counting, cells = CostModel(model.config), FAMILIES[name].cells[0] * FAMILIES[name].cells[1]
    amount = stated(name, model, inputs, tokens=cells // 2).total() * (1 + 1e-9)
    small = reduce(model, inputs, allocator=tokens.Random(), budget=tokens.Flops(amount, counting), processor=PROCESSOR)
    assert small.counts == (cells // 2,) * FAMILIES[name].tiles
    images = {key: inputs[key] for key in ("pixel_values", "image_grid_thw") if key in inputs}
    encoder = counted(lambda: model.base_model.get_image_features(**images, return_dict=True))
    given = small.inputs
    assert encoder + counted(lambda: model(**given, logits_to_keep=1)) == pytest.approx(amount, rel=CLOSE)
    text = int((inputs["input_ids"] != model.config.image_token_id).sum())
    patches = [each for image in patches_of(model, inputs, small.encoded.layout) for each in image]
    assert counting.flops(text, sum(small.counts) + 1, patches) > amount
    with pytest.raises(BudgetTooSmall, match="flops"):
        reduce(model, inputs, allocator=tokens.Random(), budget=tokens.Flops(1.0, counting), processor=PROCESSOR)


@pytest.mark.parametrize("name", [name for name in SERVED if name not in _UNKNOWN])
@pytest.mark.parametrize("pictures", [1, 2])
def test_no_family_takes_more_than_is_stated(name, pictures):
    case = Case(name, prompts=(pictures,))
    model, small = case.model, case.reduced(budget=inf)
    names, given = ("pixel_values", "image_grid_thw", "image_sizes", "image_merge_sizes"), small.inputs
    images = {key: case.inputs[key] for key in names if key in case.inputs}
    with of_products(model):
        taken = counted(lambda: model.base_model.get_image_features(**images))
        taken += counted(lambda: model(**given, logits_to_keep=1))
    visual = int((given["input_ids"] == model.config.image_token_id).sum())
    patches = [each for image in patches_of(model, case.inputs, small.encoded.layout) for each in image]
    stated = CostModel(model.config).flops(given["input_ids"].numel() - visual, visual, patches)
    assert taken <= stated * (1 + (_PADDING if name in ("pixtral", "mistral3") else CLOSE))
    assert taken >= stated * _CAREFUL.get(name, 1 - CLOSE)


def test_rates_are_found_again_and_their_error_is_stated():
    config = model_of("llava").config
    counting = CostModel(config)
    costs = [counting.cost(tokens=count) for count in (1, 8, 20, 40, 64)]
    true = Timed(counting, encoder=3e-6, prefill=2e-6, weight=4e-5, error=0.0)

    def measured(noise: list[float]) -> list[Any]:
        prompt = [2e-6 * (each.prefill + each.connector) + 4e-5 * counting.weights for each in costs]
        return [(each, 3e-6 * each.encoder, ms * (1 + off)) for each, ms, off in zip(costs, prompt, noise, strict=True)]

    found = Timed.fitted(counting, measured([0.0] * 5))
    assert (found.encoder, found.prefill, found.weight) == pytest.approx((3e-6, 2e-6, 4e-5), rel=1e-6)
    assert found.error < 1e-6
    noisy = Timed.fitted(counting, measured([0.0, 0.2, 0.0, -0.1, 0.0]))
    assert 0.02 < noisy.error < 0.5
    inputs = prompts("llava", (1, 2))
    text = [int((row != 0).sum()) for row in inputs["input_ids"] != config.image_token_id]
    limit = tokens.Milliseconds(true.milliseconds(9, 40, [64]) * 1.0001, model=true)
    options: Any = {"allocator": tokens.Random(), "processor": PROCESSOR}
    small = reduce(model_of("llava"), prompts("llava"), budget=limit, **options)
    assert small.counts == (41,) or small.counts == (40,)
    plain = int((prompts("llava")["input_ids"] != config.image_token_id).sum())
    assert true.milliseconds(plain, small.counts[0], [64]) <= limit.amount
    assert true.milliseconds(plain, small.counts[0] + 1, [64]) > limit.amount and len(text) == 2
    both = reduce(model_of("llava"), inputs, budget=tokens.Milliseconds(3 * limit.amount, model=true), **options)
    assert both.counts[0] == 64 and abs(both.counts[1] - both.counts[2]) <= 1  # two pictures share what is left


def test_rates_are_read_from_a_record(tmp_path):
    file, config = tmp_path / "models.json", model_of("llava").config
    row = {"name": "calibration", "encoder": 1e-9, "prefill": 2e-9, "weight": 3e-8, "error": 0.1}
    file.write_text(json.dumps({"rows": [{"name": "prefill_64"}, row]}))
    read = Timed.read(file, config)
    assert (read.encoder, read.prefill, read.weight, read.error) == (1e-9, 2e-9, 3e-8, 0.1)
    file.write_text(json.dumps({"rows": [{"name": "calibration", "encoder": "fast"}]}))
    with pytest.raises(FileError, match="no calibration"):
        Timed.read(file, config)


@pytest.mark.parametrize(
    "change",
    [{"encoder": -1e-9}, {"prefill": None}, {"weight": "1e-9"}, {"error": True}, {"encoder": 10**400}],
    ids=["negative", "null", "text", "bool", "huge"],
)
def test_calibrations_that_are_damaged_are_refused(change, tmp_path):
    """With rates below 0 more tokens took less time, and every budget paid for all."""
    file, config = tmp_path / "rates.json", model_of("llava").config
    row = {"name": "calibration", "encoder": 1e-9, "prefill": 2e-9, "weight": 0, "error": 0.1}
    file.write_text(json.dumps({"rows": [row]}))
    assert Timed.read(file, config).weight == 0
    file.write_text(json.dumps({"rows": [{**row, **change}]}))
    with pytest.raises(FileError, match=f"no calibration: {next(iter(change))} is"):
        Timed.read(file, config)


@pytest.mark.parametrize("text", ['{"rows": 5}', '{"rows": null}', "{}", '{"rows": [3, {}]}'])
def test_records_of_other_forms_hold_no_calibration(text, tmp_path):
    file = tmp_path / "rates.json"
    file.write_text(text)
    with pytest.raises(FileError, match="no calibration"):
        Timed.read(file, model_of("llava").config)


def test_infinite_rates_are_refused(tmp_path):
    """JSON writes them as numbers that are too large for doubles."""
    file = tmp_path / "rates.json"
    file.write_text('{"rows": [{"name": "calibration", "encoder": 1e999, "prefill": 0, "weight": 0, "error": 0}]}')
    with pytest.raises(FileError, match="encoder is inf"):
        Timed.read(file, model_of("llava").config)


@pytest.mark.parametrize("time", [0.0, -1.0, float("nan"), float("inf")])
def test_times_that_are_none_are_refused(time):
    counting = CostModel(model_of("llava").config)
    costs = [counting.cost(text=12, tokens=count) for count in (1, 20, 64)]
    with pytest.raises(ArrayError, match=r"took 1.0 and .* milliseconds"):
        Timed.fitted(counting, [(costs[0], 1.0, 1.0), (costs[1], 1.0, time), (costs[2], 1.0, 3.0)])


@pytest.mark.parametrize("amount", [0, -1.0, float("nan"), True, None, "40", [40], 1j])
def test_amounts_that_buy_nothing_are_refused(amount):
    with pytest.raises(InvalidBudget, match="buy nothing"):
        tokens.Flops(amount, CostModel(model_of("llava").config))
    with pytest.raises(InvalidBudget, match="CostModel does not say what prompts cost in milliseconds"):
        tokens.Milliseconds(40, CostModel(model_of("llava").config))


def test_what_cannot_be_counted_is_refused():
    config = model_of("qwen3_vl").config
    with pytest.raises(ArrayError, match="any size"):
        CostModel(config).cost()
    with pytest.raises(ArrayError, match="tokens must be an integer from 0 to 24, got 25"):
        CostModel(config).cost(size=(112, 168), tokens=25)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"text": -1}, "text"), ({"text": 1.5}, "text"), ({"text": None}, "text"), ({"text": math.nan}, "text"),
        ({"pictures": 0}, "pictures"), ({"pictures": 1.5}, "pictures"), ({"pictures": True}, "pictures"),
        ({"tokens": 1.5}, "tokens"), ({"tokens": "3"}, "tokens"), ({"tokens": -1}, "tokens"),
        ({"size": (0, 112)}, "size"), ({"size": 112}, "size"), ({"size": (112,)}, "size"), ({"size": "ab"}, "size"),
        ({"size": (112.5, 112)}, "size"), ({"size": (math.nan, 112)}, "size"), ({"size": (112, 112, 3)}, "size"),
        ({"layers": 5}, "layers"), ({"layers": [1]}, "layers"), ({"layers": ["a", "b"]}, "layers"),
        ({"layers": [25, 1]}, "layers"), ({"layers": [1.5, 1]}, "layers"),
    ],
)  # fmt: skip
def test_numbers_that_are_no_prompt_are_refused(wrong, match):
    counting = CostModel(model_of("qwen3_vl").config)
    with pytest.raises(ArrayError, match=match):
        counting.cost(**{"size": (112, 168), **wrong})


def test_whole_numbers_of_numpy_are_those_of_python():
    counting = CostModel(model_of("qwen3_vl").config)
    given = {"text": np.int32(7), "tokens": np.uint8(24), "pictures": np.int64(300), "size": np.array([112, 168])}
    plain = counting.cost(text=7, tokens=24, pictures=300, size=(112, 168))
    assert repr(counting.cost(**given)) == repr(plain)


@pytest.mark.parametrize("config", [None, 5, "llava-1.5-7b", {}, LlamaConfig()], ids=lambda given: type(given).__name__)
def test_what_is_no_configuration_of_images_and_text_is_refused(config):
    with pytest.raises(ArrayError, match="is not the configuration of a model of images and text"):
        CostModel(config)


@pytest.mark.parametrize("wrong", [{"text": -1}, {"visual": 1.5}, {"patches": 5}, {"patches": [-4]}])
def test_a_prompt_of_numbers_that_are_none_is_refused(wrong):
    counting = CostModel(model_of("llava").config)
    with pytest.raises(ArrayError, match=next(iter(wrong))):
        counting.prompt(**{"text": 5, "visual": 5, "patches": [64], **wrong})


@pytest.mark.parametrize("source", [5, None, b"llava-1.5-7b", ["llava-1.5-7b"]], ids=repr)
def test_what_is_neither_a_path_nor_a_name_is_refused(source):
    with pytest.raises(HraError, match="model must be a str or PathLike"):
        configuration(source)


def test_a_configuration_is_read_by_a_path_and_a_folder_is_none(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(configuration("llava-1.5-7b").to_dict()))
    assert configuration(file).to_dict() == configuration(str(file)).to_dict()
    with pytest.raises(HraError, match="unknown"):
        configuration(tmp_path / "model")


# What published processors make of 640 x 480, 900 x 2100, 30 x 30 and 4000 x 3000 pixels: (height, width), and tokens.
_PROCESSED = [
    (Mistral3Config(), [((504, 644), 414), ((1540, 672), 1320), ((56, 56), 4), ((1176, 1540), 2310)]),
    (
        LlavaConfig(vision_config={"model_type": "pixtral"}),
        [((480, 640), 1200), ((1024, 448), 1792), ((32, 32), 4), ((768, 1024), 3072)],
    ),
    (Qwen2_5_VLConfig(), [((476, 644), 391), ((1512, 644), 1242), ((56, 56), 4), ((840, 1148), 1230)]),
    (Qwen3VLConfig(), [((480, 640), 300), ((1504, 640), 940), ((64, 64), 4), ((864, 1152), 972)]),
    (Glm4vConfig(), [((476, 644), 391), ((2100, 896), 2400), ((84, 84), 9), ((2100, 2800), 7500)]),
]


@pytest.mark.parametrize(("config", "sizes"), _PROCESSED, ids=lambda given: getattr(given, "model_type", ""))
def test_encoders_of_any_size_have_the_tokens_of_the_size(config, sizes):
    counting = CostModel(config)
    assert [counting.cost(size=size).tokens for size, _ in sizes] == [tokens for _, tokens in sizes]
    with pytest.raises(ArrayError, match="any size"):
        counting.cost()


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("idefics2", "queries of its own"), ("aria", "queries of its own"), ("mllama", "cross attention"),
        ("qwen3_5", "linear_attention"), ("clip", "makes no model of images and text"),
    ],
)  # fmt: skip
def test_models_whose_tokens_or_layers_are_not_known_are_not_counted(kind, match, tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"model_type": kind}))
    with pytest.raises(ArrayError, match=match):
        CostModel(configuration(file)).cost(size=(644, 504))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("vision_config", "patch_size", 0), ("vision_config", "patch_size", -14), ("vision_config", "patch_size", None),
        ("vision_config", "image_size", None), ("text_config", "num_hidden_layers", 0),
    ],
)  # fmt: skip
def test_configurations_with_sizes_that_are_none_are_refused(part, name, value):
    values = configuration("llava-1.5-7b").to_dict()
    values[part][name] = value
    with pytest.raises(ArrayError, match=r"makes no model|no layers"):
        CostModel(LlavaConfig(vision_config=values["vision_config"], text_config=values["text_config"])).cost()


def test_a_patch_without_pixels_is_refused():
    with pytest.raises(ArrayError, match="patch_size must be an integer of 1 or more"):
        CostModel(Qwen2_5_VLConfig(vision_config={"patch_size": 0})).cost(size=(644, 504))
