"""What `reduce` cannot use is refused by name before the encoder runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from hra.domains import tokens
from hra.errors import HraError
from hra.integrations.transformers import reduce
from tests.helpers.tiny_models import FAMILIES, model_of, prompts

pytestmark = pytest.mark.filterwarnings("ignore")

_GRID = FAMILIES["llava"].cells
_BLANK = np.full((112, 112, 3), 0.5, np.float32)


def _reduced(inputs: Any = None, model: Any = None, changed: Any = (), **options: Any) -> Any:
    inputs = {**prompts("llava", (1,)), **dict(changed)} if inputs is None else inputs
    options = {"allocator": tokens.UniformGrid(), "budget": 4, "images": [_BLANK], **options}
    return reduce(model_of("llava") if model is None else model, inputs, **options)


def test_the_prompt_itself_is_taken():
    assert _reduced().counts == (4,)


@pytest.mark.parametrize("budget", [4.0, np.float64(4), np.int64(4), np.array(4), np.array([4]), [4], (4,)])
def test_budgets_that_are_whole_numbers_are_taken(budget):
    assert _reduced(budget=budget).counts == (4,)


_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a budget of text": ({"budget": "4"}, "budget"),
    "no budget": ({"budget": None}, "budget"),
    "a table of budgets": ({"budget": np.ones((2, 2))}, "budget"),
    "texts as budgets": ({"budget": ["4"]}, "budget"),
    "no query": ({"query": None}, "query"),
    "a number as query": ({"query": 3}, "query"),
    "one Pillow image": ({"images": Image.new("RGB", (112, 112))}, "images"),
    "one array": ({"images": _BLANK}, "images"),
    "one path": ({"images": "page.png"}, "images"),
    "one Path": ({"images": Path("page.png")}, "images"),
    "grids of text": ({"grids": "x"}, "grids"),
    "one grid": ({"grids": _GRID}, "grids"),
    "negative grids": ({"grids": [(-_GRID[0], -_GRID[1])]}, "grids"),
    "grids of fractions": ({"grids": [(2.5, 4)]}, "grids"),
    "grids of one axis": ({"grids": [(_GRID[0] * _GRID[1],)]}, "grids"),
    "grids that the model contradicts": ({"grids": [(2, _GRID[0] * _GRID[1] // 2)]}, "grids"),
    "no inputs": ({"inputs": 3}, "inputs"),
    "a list of inputs": ({"inputs": [1, 2]}, "inputs"),
    "no ids": ({"changed": {"input_ids": None}}, "input_ids"),
    "ids of one axis": ({"changed": {"input_ids": prompts("llava", (1,))["input_ids"][0]}}, "input_ids"),
    "a list of ids": ({"changed": {"input_ids": prompts("llava", (1,))["input_ids"].tolist()}}, "input_ids"),
    "ids of NumPy": ({"changed": {"input_ids": prompts("llava", (1,))["input_ids"].numpy()}}, "input_ids"),
    "ids of floats": ({"changed": {"input_ids": prompts("llava", (1,))["input_ids"].float()}}, "input_ids"),
    "pixels of NumPy": ({"changed": {"pixel_values": prompts("llava", (1,))["pixel_values"].numpy()}}, "pixel_values"),
    "a list of pixels": ({"changed": {"pixel_values": [1.0]}}, "pixel_values"),
    "a longer mask": ({"changed": {"attention_mask": torch.ones(1, 99, dtype=torch.int64)}}, "attention_mask"),
    "a mask of one axis": ({"changed": {"attention_mask": torch.ones(99, dtype=torch.int64)}}, "attention_mask"),
    "a mask of NumPy": ({"changed": {"attention_mask": np.ones((1, 99))}}, "attention_mask"),
    "a mask that hides pictures": (
        {"changed": {"attention_mask": torch.zeros_like(prompts("llava", (1,))["input_ids"])}},
        "attention_mask",
    ),
    "no model": ({"model": 3}, "model"),
    "a model of text": ({"model": model_of("llava").model.language_model}, "model"),
    "no allocator": ({"allocator": "grid"}, "allocator"),
    "a class of allocators": ({"allocator": tokens.UniformGrid}, "allocator"),
}


@pytest.mark.parametrize("name", _WRONG)
def test_what_cannot_be_used_is_refused_by_name(name):
    options, where = _WRONG[name]
    with pytest.raises(HraError) as raised:
        _reduced(**options)
    assert raised.value.where.split("[")[0] == where, str(raised.value)
    assert raised.value.fix
