"""The model ``hra`` of lmms-eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from transformers import AutoModelForImageTextToText, AutoProcessor

from hra.errors import HraError
from hra.integrations.hosts import host
from hra.integrations.reduction import Reduction, digest
from hra.integrations.transformers.answers import Answer, Answers, question_of

with host("lmms-eval"):
    from lmms_eval.api.instance import GenerationResult, TokenCounts  # pyright: ignore[reportMissingImports]
    from lmms_eval.api.model import lmms  # pyright: ignore[reportMissingImports]
    from lmms_eval.protocol import ChatMessages  # pyright: ignore[reportMissingImports]

# Of a task's settings, those that `generate` knows; tasks carry others that are meant for single models.
_PASSED = ("max_new_tokens", "do_sample", "temperature", "top_p", "top_k", "num_beams", "repetition_penalty")
_LONGEST = 1024


@dataclass(frozen=True, eq=False)
class Asked:
    """A request: its text, options, messages and images."""

    context: str
    options: Mapping[str, Any]
    conversation: Sequence[Mapping[str, Any]]
    images: Sequence[Any]

    @property
    def kind(self) -> tuple[str, bool]:
        """What those of a batch have in common."""
        return repr(sorted(generation(self.options).items())), bool(self.images)


class ReducedModel(lmms):
    """A model of Hugging Face that is given fewer visual tokens. Requests of a batch have questions of their own.

    Parameters
    ----------
    pretrained : name or folder of model and processor.
    method, budget, realize, positions, relevance : see `Reduction`.
    revision, dtype, attn_implementation, device_map : for ``from_pretrained``.
    device : where the model goes without a ``device_map``.
    batch_size : requests at a time, of one kind of options, all with images or all without.

    Raises
    ------
    HraError : see `Reduction`; no whole number above 0 as the batch size.
    """

    is_simple: ClassVar[bool] = False

    def __init__(
        self,
        pretrained: str = "llava-hf/llava-1.5-7b-hf",
        method: str = "visionzip",
        budget: int = 64,
        realize: str = "pool",
        positions: str = "original",
        relevance: str | None = None,
        revision: str = "main",
        dtype: str = "auto",
        attn_implementation: str | None = None,
        device: str = "cuda",
        device_map: str | None = None,
        batch_size: int | str = 1,
    ) -> None:
        super().__init__()
        if not str(batch_size).isdecimal() or int(batch_size) < 1:
            raise HraError(f"batch_size={batch_size}", where="batch_size", fix="use a whole number above 0")
        self._batch_size = int(batch_size)
        self.reduction = Reduction(method, budget, realize, positions, relevance)
        self.name = f"{pretrained}@{revision}"
        placed = {} if device_map is None else {"device_map": device_map}
        model: Any = AutoModelForImageTextToText.from_pretrained(
            pretrained, revision=revision, dtype=dtype, attn_implementation=attn_implementation, **placed
        )
        self._model = (model if placed else model.to(device)).eval()
        processor = AutoProcessor.from_pretrained(pretrained, revision=revision)
        named: Any = (realize, positions)
        self.answers = Answers(self._model, processor, self.reduction.allocator, budget, *named)

    @property
    def batch_size(self) -> int:
        """Requests at a time."""
        return self._batch_size

    def generate_until(self, requests: Sequence[Any]) -> list[Any]:
        """The answer to each request, in their order, with the tokens that entered and left the language model."""
        asked = [self._asked(*request.args) for request in requests]
        answers: dict[int, Answer] = {}
        for kind in {one.kind: None for one in asked}:
            numbers = [number for number, one in enumerate(asked) if one.kind == kind]
            for first in range(0, len(numbers), self.batch_size):
                some = numbers[first : first + self.batch_size]
                parts = [asked[number] for number in some]
                found = self.answers.ask_all(
                    [one.conversation for one in parts], [one.images for one in parts], generation(parts[0].options)
                )
                answers.update(zip(some, found, strict=True))
        return [self._told(one, answers[number]) for number, one in enumerate(asked)]

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        """Not available: tasks with messages ask for answers.

        Raises
        ------
        HraError : always.
        """
        raise HraError(
            "likelihoods of answers are not supported", where="loglikelihood", fix="use tasks that generate answers"
        )

    def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
        """Not available: another round would go on from a cache that lacks the tokens its question needs.

        Raises
        ------
        HraError : always.
        """
        raise HraError(
            "further rounds are not supported", where="generate_until_multi_round", fix="use tasks of one round"
        )

    def _asked(
        self, context: str, to_messages: Any, options: Mapping[str, Any], doc: Any, task: str, split: str
    ) -> Asked:
        messages = ChatMessages(messages=to_messages(self.task_dict[task][split][doc]))
        images, videos, sounds = messages.extract_media()
        if videos or sounds:
            raise HraError("videos and sounds are not reduced", where=task, fix="use tasks of images and text")
        return Asked(context, options, messages.to_hf_messages(), images)

    def _told(self, one: Asked, answer: Answer) -> Any:
        text = until(answer.text, one.options.get("until"))
        seen = " ".join(map(digest, one.images))
        asked = {**one.options, "hra": self.reduction.key(seen, question_of(one.conversation), self.name)}
        self.cache_hook.add_partial("generate_until", (one.context, asked), text)
        return GenerationResult(text=text, token_counts=_counts(answer))


def generation(options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``generate``: greedy unless a temperature above 0 is asked for."""
    passed = {name: options[name] for name in _PASSED if options.get(name) is not None}
    samples = bool(passed.get("do_sample", True)) and passed.get("temperature", 0) > 0
    if not samples:
        passed = {name: value for name, value in passed.items() if name not in ("temperature", "top_p", "top_k")}
    return {"max_new_tokens": _LONGEST, **passed, "do_sample": samples}


def until(text: str, ends: str | Sequence[str] | None) -> str:
    """What comes before the first of some strings."""
    for end in [ends] if isinstance(ends, str) else ends or ():
        text = text.split(end)[0] if end else text
    return text


def _counts(answer: Answer) -> Any:
    return TokenCounts(input_tokens=answer.prompt, output_tokens=answer.length)
