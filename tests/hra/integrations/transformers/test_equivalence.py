"""Fewer tokens, the same model: reduced runs against the unmodified model of each family, with what is gone masked."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from hra.domains import tokens
from hra.integrations.transformers import Reduced, reduce
from hra.integrations.transformers.language_attention import cache_argument
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, model_of, prompts, real_positions, row_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
IMAGES = (1, 2)
STEPS = 8
CLOSE: Any = {"rtol": 0.0, "atol": 1e-5}
FAMILY = pytest.mark.parametrize("name", FAMILIES)


@cache
def model(name: str) -> Any:
    return model_of(name)


def reduced(name: str, inputs: Any, budget: Any, allocator: Any = None, **options: Any) -> Reduced:
    allocator = allocator or tokens.Random()
    return reduce(model(name), inputs, allocator=allocator, budget=budget, processor=PROCESSOR, **options)


def counts_of(name: str) -> list[int]:
    """A different budget for each image or tile."""
    cells = FAMILIES[name].cells[0] * FAMILIES[name].cells[1]
    return [3 + 2 * i % (cells - 3) for i in range(sum(IMAGES) * FAMILIES[name].tiles)]


def masked(name: str, inputs: Any, small: Reduced) -> dict[str, Any]:
    """The whole prompts, with every token that is gone hidden from attention."""
    mask = torch.zeros_like(inputs["attention_mask"])
    for row, columns in enumerate(small.columns):
        mask[row, columns[columns >= 0]] = 1
    positions = real_positions(model(name), inputs)
    return {**inputs, "attention_mask": mask, "position_ids": positions}


def there(small: Reduced, logits: Any) -> Any:
    """Rows of the reduced prompts' logits that are not padding."""
    return logits[small.columns >= 0]


def same_places(small: Reduced, logits: Any) -> Any:
    """Rows of the whole prompts' logits for the tokens that are left."""
    rows = torch.arange(len(small.columns))[:, None].expand_as(small.columns)
    kept = small.columns >= 0
    return logits[rows[kept], small.columns[kept]]


@FAMILY
def test_a_reduced_run_is_the_whole_run_with_the_rest_masked(name):
    inputs = prompts(name, IMAGES)
    small = reduced(name, inputs, counts_of(name), realize="select")
    assert list(small.counts) == counts_of(name)
    short, whole = model(name)(**small.inputs).logits, model(name)(**masked(name, inputs, small)).logits
    torch.testing.assert_close(there(small, short), same_places(small, whole), **CLOSE)
    full = same_places(small, model(name)(**inputs).logits)
    assert (full - there(small, short)).abs().max() > 1e-2, "what is dropped must matter for the test to mean anything"


@FAMILY
@pytest.mark.parametrize("realize", ["select", "pool"])
@pytest.mark.parametrize("positions", ["original", "compact"])
def test_all_tokens_kept_are_the_unmodified_model(name, realize, positions):
    inputs = prompts(name, IMAGES, seed=1)
    small = reduced(name, inputs, 10**6, realize=realize, positions=positions)
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(model(name)(**small.inputs).logits[real], model(name)(**inputs).logits[real], **CLOSE)
    plain = model(name).generate(**inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0)
    again = model(name).generate(**small.inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0)
    assert torch.equal(plain[:, -STEPS:], again[:, -STEPS:])


@FAMILY
def test_all_tokens_encoded_again_are_the_unmodified_model(name):
    inputs = prompts(name, IMAGES, seed=2)
    # Patches of the size of the model's own cells: no pixel is resampled.
    patch = 112 // FAMILIES[name].cells[0]
    small = reduced(name, inputs, 10**6, tokens.UniformGrid(tokens.UniformRelevance(), patch=patch), realize="encode")
    real = inputs["attention_mask"].bool()
    short, whole = model(name)(**small.inputs).logits[real], model(name)(**inputs).logits[real]
    torch.testing.assert_close(short, whole, rtol=0, atol=1e-4)  # pixels go to colours and back


@FAMILY
def test_coarse_tokens_of_each_level_are_encoded(name):
    small = reduced(name, prompts(name, IMAGES), 8, tokens.PyramidSampling(tokens.UniformRelevance()), realize="encode")
    pooled = reduced(name, prompts(name, IMAGES), 8, tokens.PyramidSampling(tokens.UniformRelevance()))
    logits = model(name)(**small.inputs).logits
    assert set(small.counts) == {8} and logits.isfinite().all()
    assert any(len(set(each.tokens.levels)) > 1 for each in small.chosen)
    assert (logits - model(name)(**pooled.inputs).logits).abs().max() > 1e-3


@FAMILY
def test_pooling_identical_features_changes_nothing(name, monkeypatch):
    inputs, base = prompts(name, IMAGES), model(name).base_model
    encode = base.get_image_features

    def alike(part: Any) -> Any:
        return [torch.ones_like(each) * 0.3 for each in part]

    def identical(*args: Any, **options: Any) -> Any:
        output = encode(*args, **options)
        pooled = output.pooler_output
        output.pooler_output = torch.full_like(pooled, 0.3) if torch.is_tensor(pooled) else alike(pooled)
        if getattr(output, "deepstack_features", None):
            output.deepstack_features = [alike(level) for level in output.deepstack_features]
        return output

    identical.__signature__ = __import__("inspect").signature(encode)
    monkeypatch.setattr(base, "get_image_features", identical)
    budget = 9 if FAMILIES[name].packed else 7  # no patch is half replaced
    small = reduced(name, inputs, budget, tokens.PyramidSampling(tokens.UniformRelevance()))
    assert any(each.tokens.levels.max() > 0 for each in small.chosen)
    assert all(len(np.unique(each.slots)) == budget for each in small.chosen)
    short, whole = model(name)(**small.inputs).logits, model(name)(**masked(name, inputs, small)).logits
    torch.testing.assert_close(there(small, short), same_places(small, whole), **CLOSE)


@FAMILY
@pytest.mark.parametrize("positions", ["original", "compact"])
def test_a_ragged_batch_is_its_rows_one_by_one(name, positions):
    inputs, tiles = prompts(name, IMAGES), FAMILIES[name].tiles
    allocator = tokens.UniformGrid(tokens.UniformRelevance())
    options = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0}
    batch = reduced(name, inputs, counts_of(name), allocator, positions=positions)
    answers = model(name).generate(**batch.inputs, **options)
    logits, first = model(name)(**batch.inputs).logits, 0
    for row, images in enumerate(IMAGES):
        part = counts_of(name)[first : first + images * tiles]
        alone = reduced(name, row_of(name, inputs, IMAGES, row), part, allocator, positions=positions)
        own = model(name)(**alone.inputs).logits[0]
        torch.testing.assert_close(logits[row, -len(own) :], own, **CLOSE)
        assert torch.equal(model(name).generate(**alone.inputs, **options)[0, -STEPS:], answers[row, -STEPS:])
        first += images * tiles


@FAMILY
def test_beams_keep_each_prompt_with_its_own_tokens(name):
    inputs = prompts(name, IMAGES)
    options = {"max_new_tokens": 4, "do_sample": False, "num_beams": 3, "num_return_sequences": 2, "pad_token_id": 0}
    budgets = counts_of(name)
    answers = model(name).generate(**reduced(name, inputs, budgets).inputs, **options)
    first = FAMILIES[name].tiles * IMAGES[0]
    for row, part in enumerate((budgets[:first], budgets[first:])):
        alone = reduced(name, row_of(name, inputs, IMAGES, row), part)
        own = model(name).generate(**alone.inputs, **options)
        assert torch.equal(own[:, -4:], answers[2 * row : 2 * row + 2, -4:])


@FAMILY
def test_decoding_with_a_cache_goes_on_as_the_masked_run(name):
    inputs = prompts(name, IMAGES)
    small = reduced(name, inputs, counts_of(name), realize="select")
    by_hand = decode(name, small.inputs, lambda step: (small.mask(step), small.positions(step)))
    whole = masked(name, inputs, small)
    every = whole["position_ids"].amax(dim=-1, keepdim=True)
    latest = every if every.ndim == 2 else torch.cat([every[:1], every[1:].amax(0, keepdim=True).expand(3, -1, -1)])

    def beside(step: int) -> Any:
        mask = whole["attention_mask"]
        return torch.cat([mask, mask.new_ones(len(mask), step + 1)], dim=1), latest + step + 1

    torch.testing.assert_close(by_hand, decode(name, whole, beside), **CLOSE)
    generated = model(name).generate(
        **small.inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0, output_logits=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    torch.testing.assert_close(by_hand, torch.stack(generated.logits), **CLOSE)


def decode(name: str, inputs: Any, following: Any) -> Any:
    """Logits [steps, B, words] of greedy decoding by hand."""
    out = model(name)(**inputs, use_cache=True)
    logits = [out.logits[:, -1]]
    for step in range(STEPS - 1):
        mask, positions = following(step)
        out = model(name)(
            input_ids=logits[-1].argmax(-1, keepdim=True), attention_mask=mask, position_ids=positions,
            **cache_argument(out), use_cache=True,
        )  # fmt: skip
        logits.append(out.logits[:, -1])
    return torch.stack(logits)


@FAMILY
def test_a_second_image_meets_the_model_as_if_nothing_had_been(name):
    used, other = model(name), prompts(name, (2,), seed=5)
    used.generate(**reduced(name, prompts(name, IMAGES), 4).inputs, max_new_tokens=2, pad_token_id=0)
    fresh = model_of(name)
    options = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0}
    assert torch.equal(used.generate(**other, **options), fresh.generate(**other, **options))
    torch.testing.assert_close(used(**other).logits, fresh(**other).logits, **CLOSE)


@pytest.mark.parametrize("name", ["llava", "qwen3_vl"])
def test_compact_positions_have_no_holes(name):
    small = reduced(name, prompts(name, (2,)), [1, 5], positions="compact")
    positions = small.prompt["position_ids"].reshape(-1, small.columns.shape[1])[-3:]
    assert sorted(set(positions.flatten().tolist())) == list(range(int(small.following)))
    assert torch.equal(small.positions(0).flatten()[-1:], small.following)


@pytest.mark.parametrize("name", ["llava", "qwen2_5_vl"])
def test_original_positions_are_those_of_the_whole_prompt(name):
    inputs = prompts(name, IMAGES)
    small = reduced(name, inputs, 5)
    whole = real_positions(model(name), inputs).reshape(-1, *inputs["input_ids"].shape)
    positions = small.prompt["position_ids"].reshape(-1, *small.columns.shape)
    for row, columns in enumerate(small.columns):
        real = columns >= 0
        assert torch.equal(positions[-1, row, real], whole[-1, row, columns[real]])
