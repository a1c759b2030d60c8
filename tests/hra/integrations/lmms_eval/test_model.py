"""The model of lmms-eval: against what the record says that it asks and gives, from a folder to answers."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hra.domains import tokens
from hra.errors import HraError, InvalidBudget, MissingExtra
from hra.integrations.lmms_eval import manifest
from hra.integrations.transformers import Answers
from tests.helpers import recorded_lmms_eval as recorded
from tests.helpers.tiny_checkpoint import save

pytestmark = pytest.mark.filterwarnings("ignore")
QUESTIONS = ("what is on the left ?", "how many red of three ?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("llava"))


@pytest.fixture
def module(monkeypatch):
    recorded.install(monkeypatch)
    return importlib.import_module("hra.integrations.lmms_eval.model")


def made(module: Any, folder: Any, **arguments: Any) -> Any:
    """The model with a task of two questions about one picture, as the evaluator sets it up."""
    model = module.ReducedModel(pretrained=str(folder), device="cpu", **arguments)
    picture = Image.fromarray((np.random.default_rng(0).random((50, 70, 3)) * 255).astype(np.uint8))
    model.task_dict["t"] = {"test": [{"question": each, "image": picture} for each in QUESTIONS]}
    return model


def messages(doc: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [{"type": "image", "url": doc["image"]}, {"type": "text", "text": doc["question"]}]
    return [{"role": "user", "content": parts}]


def requests(options: dict[str, Any] | None = None, to_messages: Any = messages) -> list[SimpleNamespace]:
    """As tasks of messages make them: context, messages of a document, options, document, task, split."""
    options = options or {"max_new_tokens": 4}
    return [SimpleNamespace(args=("", to_messages, dict(options), doc, "t", "test")) for doc in range(len(QUESTIONS))]


def test_the_manifest_names_a_chat_model_that_can_be_made(module):
    from hra.integrations.lmms_eval import manifest

    where, name = manifest().chat_class_path.rsplit(".", 1)
    found = getattr(importlib.import_module(where), name)
    assert issubclass(found, recorded.lmms) and not found.is_simple and not inspect.isabstract(found)


def test_without_lmms_eval_the_manifest_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "lmms_eval", None)
    with pytest.raises(MissingExtra, match="lmms_eval"):
        manifest()


@pytest.mark.parametrize(("method", "budget"), [("visionzip", 9), ("tome", 5), ("pyramid", 17), ("cdpruner", 64)])
def test_any_method_and_budget_answers_each_request_in_its_order(module, folder, method, budget):
    model = made(module, folder, method=method, budget=budget)
    results = model.generate_until(requests())
    words = [len(question.split()) for question in QUESTIONS]
    assert [each.token_counts.input_tokens for each in results] == [budget + 2 + each for each in words]
    assert [each.token_counts.output_tokens for each in results] == [4, 4]
    again = model.generate_until(requests()[::-1])[::-1]
    assert [each.text for each in again] == [each.text for each in results]


@pytest.mark.parametrize("method", ["visionzip", "cdpruner", "pyramid"])
def test_a_batch_is_its_requests_one_by_one(module, folder, method):
    # Two lengths of answers, no image, one or two, and questions of different lengths.
    rng = np.random.default_rng(1)
    pictures = [Image.fromarray((rng.random((40 + 9 * n, 70, 3)) * 255).astype(np.uint8)) for n in range(3)]
    docs = [{"images": pictures[: n % 3], "question": " ".join(["red"] * (1 + n)) + " ?"} for n in range(7)]
    docs += [{"images": pictures[1:2], "question": "how many three ?"}]

    def several(doc: dict[str, Any]) -> list[dict[str, Any]]:
        images = [{"type": "image", "url": each} for each in doc["images"]]
        return [{"role": "user", "content": [*images, {"type": "text", "text": doc["question"]}]}]

    def asked(batch: int) -> list[Any]:
        model = made(module, folder, method=method, budget=9, batch_size=batch)
        model.task_dict["t"]["test"] = docs
        given = [SimpleNamespace(args=("", several, {"max_new_tokens": 3 + doc % 2}, doc, "t", "test"))
                 for doc in range(len(docs))]  # fmt: skip
        found = model.generate_until(given)
        assert model.batch_size == batch
        return [found, model.cache_hook.added]

    alone, told = asked(1)
    words = [len(doc["question"].split()) + 2 + 9 * len(doc["images"]) for doc in docs]
    for size in (2, 3, 8):
        together, told_together = asked(size)
        assert [each.text for each in together] == [each.text for each in alone]
        assert [vars(each.token_counts) for each in together] == [vars(each.token_counts) for each in alone]
        assert told_together == told
        assert [each.token_counts.input_tokens for each in together] == words


def test_an_answer_of_a_batch_ends_with_its_own_end(module, folder, monkeypatch):
    model = made(module, folder, method="divprune", budget=9, batch_size=2)
    made_of, said = model._model.generate, []
    monkeypatch.setattr(model._model, "generate", lambda **given: said.append(made_of(**given)) or said[-1])
    model.generate_until(requests({"max_new_tokens": 6}))
    first, second = said[0][:, -6:].tolist()
    ends = [token for token in first[:5] if token not in second[: first.index(token) + 1]]
    model._model.generation_config.eos_token_id = ends[0]
    model._model.generation_config.pad_token_id = 0
    together = model.generate_until(requests({"max_new_tokens": 6}))
    alone = [model.generate_until(requests({"max_new_tokens": 6})[n : n + 1])[0] for n in range(2)]
    lengths = [each.token_counts.output_tokens for each in together]
    assert lengths[0] == first.index(ends[0]) + 1 < lengths[1]
    assert lengths == [each.token_counts.output_tokens for each in alone]
    assert [each.text for each in together] == [each.text for each in alone]


def test_all_tokens_answer_as_the_model_does(module, folder):
    model = made(module, folder, method="divprune", budget=64, realize="select")
    doc = model.task_dict["t"]["test"][0]
    conversation = recorded.ChatMessages(messages(doc)).to_hf_messages()
    processor = model.answers.processor
    text = processor.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    whole = processor(text=[text], images=[doc["image"]], return_tensors="pt")
    plain = model._model.generate(**whole, max_new_tokens=4, do_sample=False)[0, whole["input_ids"].shape[1] :]
    assert model.generate_until(requests())[0].text == processor.batch_decode(plain[None], skip_special_tokens=True)[0]


def test_cached_answers_name_method_budget_and_what_was_asked_of_them(module, folder):
    def keys(**arguments: Any) -> list[str]:
        model = made(module, folder, **arguments)
        model.generate_until(requests())
        assert [one[0] for one in model.cache_hook.added] == ["generate_until"] * 2
        return [request[1]["hra"] for _, request, _ in model.cache_hook.added]

    plain, asked = keys(method="divprune", budget=5), keys(method="cdpruner", budget=5)
    assert plain[0] == plain[1] and asked[0] != asked[1]
    every = {*plain, *asked, *keys(method="divprune", budget=6), *keys(method="divprune", budget=5, realize="select")}
    assert len(every) == 5


def test_texts_without_images_are_the_model_as_it_is(module, folder):
    model = made(module, folder)
    only = lambda doc: [{"role": "user", "content": [{"type": "text", "text": doc["question"]}]}]  # noqa: E731
    results = model.generate_until(requests(to_messages=only))
    assert [each.token_counts.input_tokens for each in results] == [2 + len(each.split()) for each in QUESTIONS]


def test_videos_no_batches_and_other_requests_are_refused(module, folder):
    model = made(module, folder)
    video = lambda doc: [{"role": "user", "content": [{"type": "video", "url": "a.mp4"}]}]  # noqa: E731
    with pytest.raises(HraError, match="videos"):
        model.generate_until(requests(to_messages=video))
    for call in (model.loglikelihood, model.generate_until_multi_round):
        with pytest.raises(HraError):
            call([])
    for size in (0, -2, "auto", 1.5):
        with pytest.raises(HraError, match=f"batch_size={size}"):
            made(module, folder, batch_size=size)
    with pytest.raises(InvalidBudget):
        made(module, folder, budget=0)
    with pytest.raises(HraError, match="no-such"):
        made(module, folder, method="no-such")


def test_options_of_tasks(module):
    assert module.generation({"temperature": 0, "top_p": 0.9, "image_aspect_ratio": "pad"}) == {
        "max_new_tokens": 1024, "do_sample": False,
    }  # fmt: skip
    asked = {"temperature": 0.5, "top_p": 0.9, "max_new_tokens": 7, "num_beams": 2}
    assert module.generation(asked) == {**asked, "do_sample": True}
    assert module.generation({"temperature": 0.5, "do_sample": False}) == {"max_new_tokens": 1024, "do_sample": False}
    assert module.until("a\n\nb", "\n\n") == module.until("a</s>\n\n", ["\n\n", "</s>"]) == "a"
    assert module.until("a", None) == module.until("a", [""]) == "a"


def test_answers_need_no_program_around_them(folder):
    import transformers

    model = transformers.LlavaForConditionalGeneration.from_pretrained(folder)
    processor = transformers.AutoProcessor.from_pretrained(folder)
    answers = Answers(model, processor, tokens.PyramidSampling(), 11)
    conversation = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": QUESTIONS[0]}]}]
    answer = answers.ask(conversation, [Image.new("RGB", (30, 40), "red")], {"max_new_tokens": 3, "do_sample": False})
    assert answer.counts == (11,) and answer.length == 3 and isinstance(answer.text, str)


@pytest.mark.parametrize("where", recorded.SIGNATURES, ids=lambda where: where[1])
def test_the_record_is_what_the_package_says(where):
    pytest.importorskip("lmms_eval", reason="lmms-eval is not installed: its record is not compared with it")
    value: Any = importlib.import_module(where[0])
    for name in where[1].split("."):
        value = getattr(value, name)
    assert tuple(inspect.signature(value).parameters) == recorded.SIGNATURES[where]
