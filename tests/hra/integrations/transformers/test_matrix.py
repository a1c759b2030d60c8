"""The matrix of docs/models.md (`scripts/check_models.py` makes the whole): what `generate` does after `reduce`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import next_turn, reduce
from tests.helpers.model_families import family_inputs, family_model, pictures_of
from tests.helpers.model_matrix import COLUMNS, COMPACT, LIMIT, REFUSED, SERVED, Case
from tests.helpers.tiny_models import IMAGE, PROCESSOR

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
EVERY = pytest.mark.parametrize("name", SERVED)
OPTIONS: dict[str, Any] = {
    "max_new_tokens": 6, "do_sample": False, "pad_token_id": 0, "suppress_tokens": [IMAGE, 98],
    "return_dict_in_generate": True,
}  # fmt: skip


@EVERY
def test_a_reduced_run_is_the_whole_run_with_the_rest_masked(name):
    assert Case(name).prompt() <= LIMIT < 1e-2 < Case(name).effect()


@EVERY
def test_without_a_cache_every_step_is_that_of_the_masked_run(name):
    assert COLUMNS["no cache"](name) <= LIMIT


@EVERY
def test_a_second_turn_goes_on_where_the_whole_conversation_would(name):
    assert COLUMNS["two turns"](name) <= LIMIT


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize(
    "column", [each for each in COLUMNS if each not in ("dropping changes", "no cache", "two turns")]
)
def test_the_rest_of_the_matrix(name, column):
    assert COLUMNS[column](name) <= LIMIT


@pytest.mark.parametrize("column", ["padded right", "static", "assisted", "beams"])
@pytest.mark.parametrize("name", ["llava", "qwen3_vl", "llava_next", "gemma3"])
def test_padding_on_the_right_caches_of_one_size_guesses_and_beams(name, column):
    assert COLUMNS[column](name) <= LIMIT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("idefics2", "the places of 16 features of 1 pictures are unknown"),
        ("blip_2", "the places of 9 features of 1 pictures are unknown"),
        ("qwen3_5", "layers of linear_attention: dropping is not masking"),
        ("lfm2_vl", "layers of conv: dropping is not masking"),
        ("llama4", "returns no features of its connector"),
    ],
)
def test_what_would_be_silently_wrong_is_refused(name, message):
    assert name in REFUSED
    inputs = family_inputs(name, (1,), pictures_of(name, 1, 0))
    with pytest.raises(ArrayError, match=message):
        reduce(family_model(name), inputs, allocator=tokens.Random(), budget=4, processor=PROCESSOR)


@pytest.mark.parametrize("name", COMPACT)
def test_models_that_count_tokens_themselves_need_compact_positions(name):
    case = Case(name)
    with pytest.raises(ArrayError, match="counts the tokens of a prompt") as caught:
        case.reduced(positions="original")
    assert "compact" in caught.value.fix


def test_flash_attention_gets_a_column_of_padding_before_holes(monkeypatch):
    # It reads the holes of one prompt without padding as ends of packed prompts, with a cache and without.
    case = Case("llava", prompts=(1,))
    text = case.model.config.get_text_config()
    plain = case.reduced()
    monkeypatch.setattr(type(text), "_attn_implementation", "flash_attention_2")
    small, compact, whole = (
        case.reduced(),
        case.reduced(positions="compact"),
        case.reduced(budget=10**6),
    )
    monkeypatch.undo()
    assert small.columns[0, 0] == -1 and torch.equal(small.columns[:, 1:], plain.columns)
    assert small.prompt["attention_mask"][0].tolist() == [0] + [1] * (small.columns.shape[1] - 1)
    assert (compact.columns >= 0).all() and (whole.columns >= 0).all()
    short = case.model(**small.inputs).logits[:, 1:]
    torch.testing.assert_close(short, case.model(**plain.inputs).logits, atol=LIMIT, rtol=0)


@pytest.mark.parametrize("name", ["llava", "qwen2_5_vl", "gemma3"])
def test_an_answer_that_ended_early_is_gone_on_with_behind_its_end(name, monkeypatch):
    case = Case(name)
    small = case.reduced()
    said = case.model.generate(**small.inputs, **OPTIONS)
    one, two = said.sequences[:, small.columns.shape[1] :].tolist()
    end = next(token for token in one[:-1] if token not in two)  # only the first answer ends by it, before its last
    monkeypatch.setattr(case.model.generation_config, "eos_token_id", end)
    first = case.model.generate(**small.inputs, **{**OPTIONS, "eos_token_id": end})
    new = first.sequences[:, small.columns.shape[1] :]
    length = one.index(end) + 1
    assert new.tolist() == [one[:length] + [0] * (len(one) - length), two]
    ids = torch.tensor([[7, 8], [9, 10]])
    inputs = next_turn(case.model, small.inputs, first, ids)
    again = case.model.generate(**inputs, **{**OPTIONS, "output_logits": True, "max_new_tokens": 1})
    alone = case.row(0)
    alone.budgets = case.budgets[:1]
    own = alone.reduced()
    ahead = torch.cat([new[:1, :length], ids[:1]], dim=1)
    expected = alone.whole(own, ahead)[:, -1]
    torch.testing.assert_close(again.logits[0][:1], expected, atol=LIMIT, rtol=0)


def test_turns_that_cannot_go_on_say_why():
    case = Case("llava", prompts=(1,))
    small, ids = case.reduced(), torch.tensor([[7, 8]])
    said = case.model.generate(**small.inputs, **OPTIONS)
    beams = case.model.generate(**small.inputs, **{**OPTIONS, "num_beams": 2})
    none = case.model.generate(**small.inputs, **{**OPTIONS, "use_cache": False})
    for output, new, message in (
        (none, ids, "left no cache"),
        (beams, ids, "holds beams"),
        (said, ids[0], r"ids of shape \(2,\) for 1 answers"),
        (said, torch.tensor([[7, 8], [9, 10]]), r"ids of shape \(2, 2\) for 1 answers"),
        (said, torch.tensor([[7, IMAGE]]), "brings pictures"),
    ):
        with pytest.raises(ArrayError, match=message):
            next_turn(case.model, small.inputs, output, new)
    for bare in (Output(sequences=said.sequences), said.sequences):
        with pytest.raises(ArrayError, match="return_dict_in_generate"):
            next_turn(case.model, small.inputs, bare, ids)


class Output(dict):
    """What ``generate`` returns, by the names of any release of Transformers."""

    sequences = property(lambda self: self["sequences"])


@pytest.mark.parametrize("named", ["cache", "past_key_values"])  # from Transformers 5.24 on, and before
def test_a_turn_after_a_video_is_text(named):
    config = SimpleNamespace(image_token_id=IMAGE, video_token_id=98)
    model = SimpleNamespace(config=config, generation_config=SimpleNamespace(eos_token_id=None))
    ids, kinds = torch.tensor([[1, 98, 98, 5]]), torch.tensor([[0, 2, 2, 0]])
    places = torch.arange(4).expand(4, 1, 4)
    inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "position_ids": places, "mm_token_type_ids": kinds}
    output = Output(sequences=torch.tensor([[1, 98, 98, 5, 7, 8]]), **{named: object()})
    made = next_turn(model, inputs, output, torch.tensor([[9]]))
    assert made["mm_token_type_ids"].tolist() == [[0, 2, 2, 0, 0, 0, 0]] and made[named] is output[named]
    assert made["position_ids"][3, 0].tolist() == list(range(7)) and made["attention_mask"].tolist() == [[1] * 7]
    with pytest.raises(ArrayError, match="brings pictures"):
        next_turn(model, inputs, output, torch.tensor([[98]]))
