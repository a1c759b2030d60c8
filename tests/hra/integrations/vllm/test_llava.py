"""The plug-in and the prompts of vLLM, against what the record says: as many embeddings as were promised, in order."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from hra.errors import ArrayError, HraError, MissingExtra
from hra.integrations.reduction import Reduction
from hra.integrations.transformers import reduce
from hra.integrations.vllm import ARCHITECTURE, embedding_prompt, register
from tests.helpers import recorded_vllm as recorded
from tests.helpers.tiny_models import PROCESSOR, model_of, prompts

ROOT = Path(__file__).parents[4]
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


@pytest.mark.parametrize("option", [{"realize": "select"}, {"realize": "encode"}, {"positions": "original"}])
def test_an_engine_refuses_options_that_it_does_not_heed(registry, option):
    _, info = engine(registry, method="divprune", budget=9, **option)
    with pytest.raises(HraError, match="inside the engine") as refused:
        info.get_num_image_tokens(image_width=336, image_height=336)
    assert refused.value.where == f"hra.{next(iter(option))}"
    _, info = engine(registry, method="divprune", budget=9, realize="pool", positions="compact")
    assert info.get_num_image_tokens(image_width=336, image_height=336) == 9


def test_without_vllm_the_plug_in_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtra, match="vllm"):
        register()


@pytest.mark.parametrize(("method", "budget"), [("visionzip", 7), ("pyramid", 12), ("tome", 64)])
def test_a_prompt_carries_what_reduce_makes(method, budget):
    model, inputs = model_of("llava"), prompts("llava", (2,))
    reduction = Reduction(method, budget, positions="compact")
    made = embedding_prompt(
        model, inputs, reduction, prompt="<image> a <image> b", question="left", processor=PROCESSOR
    )
    embeddings = made["multi_modal_data"]["image"]
    assert recorded.feature_sizes(embeddings) == [reduction.count(64)] * 2
    small = reduce(
        model, inputs, allocator=reduction.allocator, budget=budget, positions="compact", query="left",
        processor=PROCESSOR,
    )  # fmt: skip
    for one, chosen in zip(embeddings, small.chosen, strict=True):
        torch.testing.assert_close(one, chosen.levels[0])
    # An engine counts positions token by token, which is what "compact" does.
    assert small.prompt["position_ids"][0].tolist() == list(range(small.prompt["input_ids"].shape[1]))
    assert len(set(made["multi_modal_uuids"]["image"])) == 2


def test_what_is_cached_is_told_apart():
    model, inputs = model_of("llava"), prompts("llava")

    def name(method: str, budget: int, question: str = "", **options: Any) -> str:
        reduction = Reduction(method, budget, positions="compact", **options)
        made = embedding_prompt(model, inputs, reduction, prompt="<image>", question=question, processor=PROCESSOR)
        return made["multi_modal_uuids"]["image"][0]

    assert name("divprune", 5, "left") == name("divprune", 5, "right") == name("divprune", 5)
    every = [name("divprune", 5), name("divprune", 6), name("tome", 5), name("divprune", 5, realize="select")]
    every += [name("fastv", 5, "left"), name("fastv", 5, "right"), name("pyramid", 5, "left"), name("pyramid", 5, "up")]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    ("family", "images", "options", "message"),
    [
        ("qwen2_5_vl", (1,), {}, "'qwen2_5_vl'"),
        ("gemma3", (1,), {}, "'gemma3'"),
        ("llava", (1,), {"positions": "original"}, "counts tokens"),
        ("llava", (1, 1), {}, "several prompts"),
        ("internvl", (1,), {}, "tiles"),
    ],
)
def test_what_an_engine_would_get_wrong_is_refused(family, images, options, message):
    reduction = Reduction("divprune", 5, **{"positions": "compact", **options})
    inputs = prompts(family, images)
    if family == "internvl":  # two tiles of one image are one run of placeholders there
        inputs["input_ids"] = inputs["input_ids"][:, inputs["input_ids"][0] != 94]
        inputs["input_ids"] = inputs["input_ids"][:, ~_between(inputs["input_ids"][0])]
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    with pytest.raises(ArrayError, match=message):
        embedding_prompt(model_of(family), inputs, reduction, prompt="<image>", processor=PROCESSOR)


def _between(ids: torch.Tensor) -> torch.Tensor:
    """Markers between two tiles: an end, and the start that follows it."""
    ends = (ids == 97).nonzero()[0, 0]
    here = torch.zeros_like(ids, dtype=torch.bool)
    here[ends : ends + 2] = True
    return here


def test_a_name_holds_the_image_too():
    reduction = Reduction("divprune", 5)
    assert reduction.key("a") != reduction.key("b") and reduction.key("a", model="m") != reduction.key("a", model="n")
    assert len(reduction.key("a")) == 64 and int(reduction.key("a"), 16) >= 0
    from hra.integrations.reduction import digest

    pixels = np.zeros((2, 3, 3), np.uint8)
    assert digest(pixels) != digest(pixels.reshape(3, 2, 3)) != digest(pixels.astype(np.float32))


def test_bounds_of_transformers_go_together():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (ours,) = [Requirement(each) for each in extras["hf"] if each.startswith("transformers")]
    both = ours.specifier & SpecifierSet(recorded.REQUIRES["transformers"])
    # The newest release that vLLM takes, in which the matrix of docs/models.md was run too.
    assert both.contains("5.20.2") and ours.specifier.contains("5.23.0") and not both.contains("5.23.0")


def sources() -> Path:
    """The package's sources, installed or unpacked."""
    spec = importlib.util.find_spec("vllm")
    folders = list((spec and spec.submodule_search_locations) or ())
    named = os.environ.get("HRA_VLLM_SOURCES")
    if not (folders or named):
        pytest.skip("vLLM is not installed and HRA_VLLM_SOURCES names no folder: its record is not compared with it")
    return Path(named, "vllm") if named else Path(folders[0])


@pytest.mark.parametrize("where", recorded.SIGNATURES, ids=lambda where: where[1])
def test_the_record_is_what_the_sources_say(where):
    text = (sources() / where[0]).read_text("utf-8")
    kind, method = where[1].split(".")
    (found,) = [
        each for part in ast.parse(text).body if isinstance(part, ast.ClassDef) and part.name == kind
        for each in part.body if isinstance(each, ast.FunctionDef) and each.name == method
    ]  # fmt: skip
    given = [*found.args.args, *found.args.kwonlyargs, *([found.args.kwarg] if found.args.kwarg else [])]
    assert tuple(each.arg for each in given) == recorded.SIGNATURES[where]


def test_names_and_requirements_are_those_of_the_sources():
    folder = sources()
    for file, names in recorded.CLASSES.items():
        there = {
            each.name for each in ast.parse((folder / file).read_text("utf-8")).body if isinstance(each, ast.ClassDef)
        }
        assert set(names) <= there
    for file, word in recorded.WORDS.items():
        assert word in (folder / file).read_text("utf-8"), file
    (metadata,) = [each for each in folder.parent.glob("vllm-*.dist-info/METADATA") if recorded.VERSION in str(each)]
    required = [
        Requirement(line.partition(": ")[2])
        for line in metadata.read_text("utf-8").splitlines()
        if line.startswith("Requires-Dist: transformers")
    ]
    assert [each.specifier for each in required] == [SpecifierSet(recorded.REQUIRES["transformers"])]


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"model": None}, "model must be a Module"),
        ({"inputs": None}, "inputs must be a Mapping"),
        ({"inputs": {}}, "input_ids is missing"),
        ({"inputs": {"input_ids": np.zeros((1, 4), np.int64)}}, "input_ids is a ndarray"),
        ({"inputs": {"input_ids": torch.zeros((1, 4), dtype=torch.int64)}}, "no image"),
        ({"reduction": "divprune"}, "reduction must be a Reduction"),
        ({"prompt": None}, "prompt must be a str"),
        ({"question": None}, "question must be a str"),
        ({"name": 5}, "name must be a str"),
    ],
)
def test_what_makes_no_prompt_is_refused_by_name(wrong, match):
    given = {
        "model": model_of("llava"), "inputs": prompts("llava", (1,)), "prompt": "<image>",
        "reduction": Reduction("divprune", 4, positions="compact"), **wrong,
    }  # fmt: skip
    with pytest.raises(HraError, match=match):
        embedding_prompt(**given)
