"""Tokens that go inside the language model: shorter layers against layers in which they are hidden, in every family."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import INSIDE, Dropping, Stage, reduce
from hra.integrations.transformers.inside.stage import earliest
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, model_of, prompts, row_of

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
IMAGES = (1, 2)
STEPS = 8
CLOSE: Any = {"rtol": 0.0, "atol": 1e-5}
FAMILY = pytest.mark.parametrize("name", FAMILIES)


@cache
def model(name: str) -> Any:
    return model_of(name)


def stages_of(name: str, method: str) -> list[Stage]:
    """A method's stages, none of them too early for the family."""
    first = earliest(model(name))
    return [stage for stage in INSIDE[method](4) if stage.layer >= first] or [Stage(first, 0.5)]


def decode(name: str, inputs: Any, stages: Any, cut: str) -> tuple[Any, Dropping]:
    """Logits [steps, B, words]."""
    with Dropping(model(name), stages, cut) as inside:  # pyright: ignore
        out = model(name).generate(
            **inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0, output_logits=True,
            return_dict_in_generate=True,
        )  # fmt: skip
    return torch.stack(out.logits), inside


@cache
def whole(name: str) -> Any:
    return decode(name, prompts(name, IMAGES), [Stage(3, 1.0)], "shorten")[0]


@FAMILY
@pytest.mark.parametrize("method", INSIDE)
def test_shorter_layers_are_layers_with_the_rest_hidden(name, method):
    inputs, stages = prompts(name, IMAGES), stages_of(name, method)
    short, inside = decode(name, inputs, stages, "shorten")
    hidden, beside = decode(name, inputs, stages, "mask")
    torch.testing.assert_close(short, hidden, **CLOSE)
    assert torch.equal(inside.columns, beside.columns) and inside.counts == beside.counts
    assert (whole(name)[0] - short[0]).abs().max() > 1e-3, "what is dropped must matter for the test to mean anything"


@FAMILY
def test_every_logit_of_what_is_left_is_that_of_the_masked_run(name):
    inputs = prompts(name, IMAGES)
    stages = stages_of(name, "pyramiddrop")
    with Dropping(model(name), stages) as inside:
        short = model(name)(**inputs).logits
    with Dropping(model(name), stages, "mask"):
        whole = model(name)(**inputs).logits
    rows, entries = (inside.columns >= 0).nonzero(as_tuple=True)
    real = inputs["attention_mask"][rows, inside.columns[rows, entries]].bool()
    rows, entries = rows[real], entries[real]
    torch.testing.assert_close(short[rows, entries], whole[rows, inside.columns[rows, entries]], **CLOSE)


@FAMILY
def test_all_kept_is_the_unmodified_model_and_nothing_stays_behind(name):
    inputs = prompts(name, IMAGES)
    before = model(name)(**inputs).logits
    real = inputs["attention_mask"].bool()
    for cut in ("shorten", "mask"):
        with Dropping(model(name), [Stage(3, 1.0)], cut):
            torch.testing.assert_close(model(name)(**inputs).logits[real], before[real], **CLOSE)
    decode(name, inputs, stages_of(name, "fastv"), "shorten")
    assert torch.equal(model(name)(**inputs).logits, before)


@FAMILY
def test_a_ragged_batch_is_its_rows_one_by_one(name):
    inputs, stages = prompts(name, IMAGES), stages_of(name, "pyramiddrop")
    batch, inside = decode(name, inputs, stages, "shorten")
    for row in range(len(IMAGES)):
        alone, own = decode(name, row_of(name, inputs, IMAGES, row), stages, "shorten")
        torch.testing.assert_close(alone[:, 0], batch[:, row], **CLOSE)
        assert own.layer_average == inside.layer_average[row : row + 1]


@pytest.mark.parametrize("name", ["llava", "qwen2_5_vl", "gemma3"])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_attention_is_the_models_own(name, attention):
    used, inputs = model_of(name), prompts(name, IMAGES)
    used.set_attn_implementation(attention)
    first = earliest(used)
    with Dropping(used, [Stage(first, 0.5)]) as inside:
        used(**inputs)
    used.set_attn_implementation("eager")
    table = used(**inputs, output_attentions=True).attentions[first - 1].mean(1)[:, -1]
    visual = inputs["input_ids"] == used.config.image_token_id
    for row, places in enumerate(inside.columns):
        kept = set(places[places >= 0].tolist())
        order = table[row].masked_fill(~visual[row], -1).argsort(descending=True)
        count = inside.counts[-1][row]
        assert {place for place in kept if visual[row, place]} == set(order[:count].tolist())


@pytest.mark.parametrize("name", ["llava", "smolvlm", "qwen3_vl"])
def test_before_and_inside_go_together(name):
    small = reduce(
        model(name), prompts(name, IMAGES), allocator=tokens.REDUCERS["divprune"](), budget=8, processor=PROCESSOR
    )
    stages = stages_of(name, "pyramiddrop")
    short, inside = decode(name, small.inputs, stages, "shorten")
    torch.testing.assert_close(short, decode(name, small.inputs, stages, "mask")[0], **CLOSE)
    tiles = FAMILIES[name].tiles
    assert inside.entering == (8 * tiles, 16 * tiles)


def test_beams_keep_each_prompt_with_its_own_tokens():
    inputs, options = prompts("llava", IMAGES), {"max_new_tokens": 4, "num_beams": 3, "pad_token_id": 0}
    answers = []
    for cut in ("shorten", "mask"):
        with Dropping(model("llava"), INSIDE["fastv"](4), cut):
            answers.append(model("llava").generate(**inputs, do_sample=False, **options))
    assert torch.equal(*answers)


def test_windows_are_those_of_the_whole_prompt():
    """A prompt longer than the window of half of the layers, and an answer that moves it on."""
    used = model_of("gemma3")
    used.config.get_text_config().sliding_window = 20
    for layer in used.model.language_model.layers:
        if layer.self_attn.is_sliding:
            layer.self_attn.sliding_window = 20
    inputs, logits = prompts("gemma3", (2,)), []
    for cut in ("shorten", "mask"):
        with Dropping(used, [Stage(2, 0.4), Stage(3, 0.2)], cut):
            out = used.generate(**inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0, output_logits=True,
                                return_dict_in_generate=True)  # fmt: skip
        logits.append(torch.stack(out.logits))
    torch.testing.assert_close(*logits, **CLOSE)


def test_counts_are_exact_and_averages_are_theirs():
    inputs = prompts("llava", (1,))
    for keep in (0.0, 0.13, 0.5, 1.0):
        with Dropping(model("llava"), [Stage(1, keep), Stage(3, keep / 2)]) as inside:
            model("llava")(**inputs)
        first, last = int(64 * keep), int(32 * keep)
        assert inside.counts == ((64,), (first,), (first,), (last,))
        assert inside.layer_average == ((64 + 2 * first + last) / 4,)


def test_what_cannot_be_run_is_refused():
    inputs = prompts("llava", (1,))
    with pytest.raises(ArrayError, match="layer 4"):
        Dropping(model("llava"), [Stage(4, 0.5)])
    with pytest.raises(ArrayError, match="layer 1 of Qwen3"):
        Dropping(model("qwen3_vl"), [Stage(1, 0.5)])
    with pytest.raises(ArrayError, match="layer 1 of Gemma3"):
        Dropping(model("gemma3"), [Stage(1, 0.5)])
    with pytest.raises(ArrayError, match="share"):
        Stage(1, 1.5)
    with pytest.raises(ArrayError, match=r"cut .* is unknown"):
        Dropping(model("llava"), [Stage(1, 0.5)], "gone")  # pyright: ignore
    with pytest.raises(ArrayError, match="no prompt"):
        _ = Dropping(model("llava"), [Stage(1, 0.5)]).counts
    mask = inputs["attention_mask"].clone()
    mask[0, -1] = 0
    with Dropping(model("llava"), [Stage(1, 0.5)]), pytest.raises(ArrayError, match="right"):
        model("llava")(**{**inputs, "attention_mask": mask})
