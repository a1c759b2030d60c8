"""Answers of an unmodified model to a question about images of which fewer tokens are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from hra.domains.tokens import TokenAllocator
from hra.integrations.transformers.choosing import Realisation
from hra.integrations.transformers.positions import Positions
from hra.integrations.transformers.reduce import reduce


@dataclass(frozen=True)
class Answer:
    """What a model said.

    Attributes
    ----------
    text : without special tokens.
    counts : visual tokens that entered the language model, of each image or tile.
    prompt, length : tokens of the whole prompt that entered, and of the answer.

    Examples
    --------
    >>> from hra.integrations.transformers import Answer
    >>> Answer("two", (64,), 80, 1).counts
    (64,)
    """

    text: str
    counts: tuple[int, ...]
    prompt: int
    length: int


@dataclass(frozen=True, eq=False)
class Answers:
    """Asks one model about images, with one allocator and budget.

    Parameters
    ----------
    model : see `reduce`.
    processor : the model's, with a chat template.
    allocator, budget, realize, positions : see `reduce`.

    Examples
    --------
    >>> from hra.integrations.transformers import Answers
    >>> sorted(Answers.__dataclass_fields__)
    ['allocator', 'budget', 'model', 'positions', 'processor', 'realize']
    """

    model: Any
    processor: Any
    allocator: TokenAllocator[Any]
    budget: int
    realize: Realisation = "pool"
    positions: Positions = "original"

    def ask(
        self, messages: Sequence[Mapping[str, Any]], images: Sequence[Any], options: Mapping[str, Any] | None = None
    ) -> Answer:
        """The answer to a conversation.

        Parameters
        ----------
        messages : as the processor's chat template takes them; the text of the last one is the question.
        images : in the order of the messages; without any the model runs as it is.
        options : for ``generate``.

        Raises
        ------
        See `reduce`.
        """
        text = self.processor.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        pictures = {"images": list(images)} if images else {}
        inputs = self.processor(text=[text], return_tensors="pt", **pictures)
        inputs = {name: _moved(value, self.model) for name, value in inputs.items()}
        prompt, counts = inputs, ()
        if images:
            small = reduce(
                self.model, inputs, allocator=self.allocator, budget=self.budget, realize=self.realize,
                positions=self.positions, query=question_of(messages), processor=self.processor,
            )  # fmt: skip
            prompt, counts = small.inputs, small.counts
        before = prompt["input_ids"].shape[1]
        with torch.inference_mode():
            answer = self.model.generate(**prompt, **(options or {}))[0, before:]
        said = self.processor.batch_decode(answer[None], skip_special_tokens=True)[0]
        return Answer(said, counts, before, len(answer))


def question_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """The text of the last message of a conversation, its parts one below the other."""
    content = messages[-1]["content"] if messages else ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _moved(value: Any, model: Any) -> Any:
    """A tensor on the model's device, numbers with a point in its dtype."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(model.device, model.dtype if value.is_floating_point() else value.dtype)
