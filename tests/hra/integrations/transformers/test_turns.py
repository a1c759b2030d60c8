"""Further turns: what ends answers, and which caches and models cannot go on."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from hra.errors import ArrayError
from hra.integrations.transformers import next_turn
from tests.helpers.model_matrix import Case

pytestmark = pytest.mark.filterwarnings("ignore")

_NEXT = torch.tensor([[7, 8]] * 2)


def _said(case: Case, inputs: dict[str, Any], **options: Any) -> Any:
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0, "return_dict_in_generate": True, **options}
    return case.model.generate(**inputs, **options)


def _ended(name: str) -> tuple[Case, dict[str, Any], Any, int]:
    """A batch in which the answer to the first prompt ends before that to the second, and the token that ends it."""
    case = Case(name)
    inputs = case.reduced().inputs
    answers = _said(case, inputs).sequences[:, inputs["input_ids"].shape[1] :]
    end = next(token for token in answers[0].tolist() if token not in answers[1].tolist())
    return case, inputs, _said(case, inputs, eos_token_id=end), end


def test_what_ended_answers_may_be_stated_as_generate_got_it():
    case, inputs, said, end = _ended("qwen2_5_vl")
    before = inputs["input_ids"].shape[1]
    behind = (said.sequences[0, before:] == end).nonzero()[0, 0] + 1
    turn = next_turn(case.model, inputs, said, _NEXT, eos_token_id=end)
    mask = turn["attention_mask"][:, before:-2]
    assert not mask[0, behind:].any() and mask[0, :behind].all() and mask[1].all()
    assert next_turn(case.model, inputs, said, _NEXT)["attention_mask"][:, before:].all()


def test_models_that_count_what_is_hidden_do_not_go_on():
    case, inputs, said, end = _ended("exaone4_5")
    with pytest.raises(ArrayError, match="count what is hidden"):
        next_turn(case.model, inputs, said, _NEXT, eos_token_id=end)


def test_a_static_cache_without_room_is_refused():
    case = Case("llava")
    inputs = case.reduced().inputs
    said = _said(case, inputs, cache_implementation="static")
    with pytest.raises(ArrayError, match="static cache has room for"):
        next_turn(case.model, inputs, said, _NEXT)
