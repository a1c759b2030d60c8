"""Visual tokens allocated again in every step: by hand, with masks and with smaller caches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import INSIDE, Dropping, Reallocating, reduce
from hra.integrations.transformers.language_attention import cache_argument, cache_of
from tests.helpers.reallocating_cases import CLOSE, FAMILY, IMAGES, STEPS, answer, model
from tests.helpers.tiny_models import PROCESSOR, model_of, prompts

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]


@FAMILY
def test_a_smaller_cache_is_a_masked_one(name):
    inputs = prompts(name, IMAGES)
    # What is gone stays gone: with the budget of the first step and no change both are the same set.
    removed, left = answer(name, inputs, 7, gone="remove")
    masked, seen = answer(name, inputs, 7, gone="mask", max_churn=0)
    torch.testing.assert_close(removed, masked, **CLOSE)
    for one, other in zip(left.rows, seen.rows, strict=True):
        assert np.array_equal(one.kept, other.kept) and one.kept.sum() == 7
    whole, _ = answer(name, inputs, 10**6)
    assert (whole - removed).abs().max() > 1e-3, "what is dropped must matter for the test to mean anything"


@FAMILY
def test_all_kept_is_the_unmodified_model(name):
    inputs, options = prompts(name, IMAGES), {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0}
    plain = model(name).generate(**inputs, **options)
    for gone in ("mask", "remove"):
        with Reallocating(model(name), 10**6, gone) as steps:
            assert torch.equal(model(name).generate(**inputs, **options), plain)
        assert all(row.churn == [0] * STEPS for row in steps.rows)


@pytest.mark.parametrize("name", ["llava", "smolvlm", "internvl"])
def test_a_set_that_stays_is_a_mask_of_the_prompt(name):
    inputs = prompts(name, (1,))
    found, steps = answer(name, inputs, 5, max_churn=0)
    mask = inputs["attention_mask"].clone()
    visual = (inputs["input_ids"] == model(name).config.image_token_id)[0]
    out = model(name)(**inputs, use_cache=True)
    mask[0, visual] = torch.as_tensor(steps.rows[0].kept).long()
    for step in range(STEPS - 1):
        torch.testing.assert_close(out.logits[0, -1], found[step, 0], **CLOSE)
        mask = torch.cat([mask, mask.new_ones(1, 1)], dim=1)
        out = model(name)(
            input_ids=found[step].argmax(-1, keepdim=True), attention_mask=mask,
            position_ids=torch.tensor([[inputs["input_ids"].shape[1] + step]]), **cache_argument(out),
        )  # fmt: skip


def test_changes_are_limited_and_counts_exact():
    inputs = prompts("llava", IMAGES)
    _, free = answer("llava", inputs, 6, hysteresis=0.0)
    assert max(free.rows[0].churn[1:]) > 2, "attention must move for the test to mean anything"
    _, held = answer("llava", inputs, 6, hysteresis=0.0, max_churn=2)
    for row in held.rows:
        assert max(row.churn[1:]) <= 2 and row.kept.sum() == 6
        assert row.churn[0] == row.number - 6 and len(row.churn) == len(held.seconds) == STEPS


def test_the_attention_is_the_models_own():
    used, inputs = model_of("llava"), prompts("llava", IMAGES)
    with Reallocating(used, 6, hysteresis=0.0) as steps:
        out = used(**inputs, use_cache=True)
        first = [row.kept for row in steps.rows]
    used.set_attn_implementation("eager")
    table = used(**inputs, output_attentions=True, use_cache=True).attentions[2].mean(1)[:, -1]
    visual = inputs["input_ids"] == used.config.image_token_id
    for row, kept in enumerate(first):
        assert set(np.flatnonzero(kept)) == set(table[row, visual[row]].topk(6).indices.tolist())
    assert cache_of(out).layers[2].keys.shape[2] == inputs["input_ids"].shape[1]


def test_removed_keys_leave_the_cache():
    inputs = prompts("llava", (1,))
    with Reallocating(model("llava"), 6, "remove"):
        out = model("llava").generate(**inputs, max_new_tokens=3, return_dict_in_generate=True, pad_token_id=0)
    length = inputs["input_ids"].shape[1]
    lengths = [layer.keys.shape[2] for layer in cache_of(out).layers]
    assert lengths == [length + 2, *[length - 58 + 2] * 3]


def test_after_a_reduced_prompt():
    small = reduce(
        model("qwen2_5_vl"), prompts("qwen2_5_vl", IMAGES), allocator=tokens.REDUCERS["divprune"](), budget=12,
        processor=PROCESSOR,
    )  # fmt: skip
    removed, _ = answer("qwen2_5_vl", small.inputs, 5, gone="remove")
    masked, steps = answer("qwen2_5_vl", small.inputs, 5, max_churn=0)
    torch.testing.assert_close(removed, masked, **CLOSE)
    assert [row.number for row in steps.rows] == [12, 24]


def test_what_cannot_be_run_is_refused():
    inputs = prompts("llava", (1,))
    with pytest.raises(ArrayError, match=r"gone .* is unknown"):
        Reallocating(model("llava"), 5, "away")  # pyright: ignore
    with pytest.raises(ArrayError, match="budget"):
        Reallocating(model("llava"), -1)
    with pytest.raises(ArrayError, match="no prompt"):
        _ = Reallocating(model("llava"), 5).rows
    with Reallocating(model("llava"), 5), pytest.raises(ArrayError, match="beams"):
        model("llava").generate(**inputs, max_new_tokens=4, num_beams=2, do_sample=False, pad_token_id=0)


def test_two_at_once_are_refused_and_one_after_the_other_works():
    stages = INSIDE["fastv"](layers=4)
    with Dropping(model("llava"), stages), pytest.raises(ArrayError, match="another"):
        Reallocating(model("llava"), 5).__enter__()
    with Reallocating(model("llava"), 5), pytest.raises(ArrayError, match="another"):
        Dropping(model("llava"), stages).__enter__()
    with Dropping(model("llava"), stages) as inside:
        model("llava")(**prompts("llava", (1,)))
    assert inside.counts
