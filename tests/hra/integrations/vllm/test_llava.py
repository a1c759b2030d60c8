"""The plug-in and the prompts of vLLM, against what the record says: as many embeddings as were promised, in order."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from hra.errors import HraError
from hra.integrations.vllm import ARCHITECTURE, register
from tests.helpers import recorded_vllm as recorded

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def registry(monkeypatch):
    return recorded.install(monkeypatch)


def engine(registry: Any, **hra: Any) -> tuple[Any, Any]:
    """The registered model and what vLLM asks for counts, for 64 cells."""
    register()
    where, name = registry.models[ARCHITECTURE].split(":")
    kind = getattr(importlib.import_module(where), name)
    config = SimpleNamespace(cells=64, **({"hra": hra} if hra else {}))
    return kind(config), registry.processors[kind][1](config)


@pytest.mark.parametrize(("method", "budget"), [("divprune", 9), ("divprune", 64), ("divprune", 100), ("tome", 13)])
def test_an_image_has_as_many_embeddings_as_placeholders(registry, method, budget):
    model, info = engine(registry, method=method, budget=budget)
    promised = info.get_num_image_tokens(image_width=336, image_height=336)
    pixels = torch.randn(3, 64, 4, 2, generator=torch.Generator().manual_seed(0))
    made = model.embed_multimodal(pixel_values=pixels)
    assert promised == min(budget, 64)
    assert recorded.feature_sizes(made) == [promised] * 3
    if method == "divprune":  # what was kept is kept whole and in its order
        whole = pixels.flatten(2)
        slots = [int((whole[0] == row).all(dim=1).nonzero()[0, 0]) for row in made[0]]
        assert slots == sorted(slots)


def test_registering_twice_changes_nothing(registry):
    register()
    register()
    assert registry.models == {ARCHITECTURE: "hra.integrations.vllm.llava:ReducedLlava"}


def test_embeddings_that_a_prompt_brings_along_stay_as_they_are(registry):
    model, _ = engine(registry, method="divprune", budget=9)
    given = [torch.randn(5, 8), torch.randn(70, 8)]
    assert model.embed_multimodal(image_embeds=given) is given


def test_an_engine_refuses_what_it_cannot_keep(registry):
    model, info = engine(registry, method="visionzip", budget=9)
    with pytest.raises(HraError, match="engine does not give"):
        info.get_num_image_tokens(image_width=336, image_height=336)
    with pytest.raises(HraError, match="'share'"):
        engine(registry, share=0.5)[1].get_num_image_tokens(image_width=336, image_height=336)
    model, _ = engine(registry, method="divprune", budget=9)
    with pytest.raises(HraError, match="do not form a square"):
        model.embed_multimodal(pixel_values=torch.randn(1, 50, 2, 2))
    assert not model.supports_tower_connector_lora


@pytest.mark.parametrize("where", recorded.SIGNATURES, ids=lambda where: where[1])
def test_the_record_is_what_the_sources_say(where):
    spec = importlib.util.find_spec("vllm")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("vLLM is not installed: its record is not compared with it")
    text = Path(spec.submodule_search_locations[0], where[0]).read_text("utf-8")
    kind, method = where[1].split(".")
    (found,) = [
        each for part in ast.parse(text).body if isinstance(part, ast.ClassDef) and part.name == kind
        for each in part.body if isinstance(each, ast.FunctionDef) and each.name == method
    ]  # fmt: skip
    given = [*found.args.args, *found.args.kwonlyargs, *([found.args.kwarg] if found.args.kwarg else [])]
    assert tuple(each.arg for each in given) == recorded.SIGNATURES[where]
