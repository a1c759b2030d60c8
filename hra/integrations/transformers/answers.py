"""Answers of an unmodified model to a question about images of which fewer tokens are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from hra.domains.tokens import TokenAllocator
from hra.errors import ArrayError
from hra.integrations.reduction import Positions, Realisation
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
        return self.ask_all([messages], [images], options)[0]

    def ask_all(
        self,
        conversations: Sequence[Sequence[Mapping[str, Any]]],
        images: Sequence[Sequence[Any]],
        options: Mapping[str, Any] | None = None,
    ) -> list[Answer]:
        """The answers to several conversations in one batch, each with its own question, images and tokens.

        Parameters
        ----------
        conversations, images : see `ask`; either all conversations have images, or none.
        options : for ``generate``.

        Raises
        ------
        ArrayError : only some conversations have images.
        See `reduce`.
        """
        if len({bool(each) for each in images}) != 1 or len(images) != len(conversations):
            what = f"{len(conversations)} conversations, {sum(map(bool, images))} with images"
            raise ArrayError(what, where="images", fix="ask those with images and those without separately")
        texts = [
            self.processor.apply_chat_template(list(each), tokenize=False, add_generation_prompt=True)
            for each in conversations
        ]
        given: dict[str, Any] = {"images": [list(each) for each in images]} if images[0] else {}
        given |= {"padding": True, "padding_side": "left"} if len(texts) > 1 else {}
        inputs = self.processor(text=texts, return_tensors="pt", **given)
        prompt = {name: _moved(value, self.model) for name, value in inputs.items()}
        counts: list[tuple[int, ...]] = [()] * len(texts)
        if images[0]:
            small = reduce(
                self.model, prompt, allocator=self.allocator, budget=self.budget, realize=self.realize,
                positions=self.positions, query=[question_of(each) for each in conversations],
                processor=self.processor,
            )  # fmt: skip
            pairs = list(zip(small.rows, small.counts, strict=True))
            counts = [tuple(count for row, count in pairs if row == number) for number in range(len(texts))]
            prompt = small.inputs
        lengths = (prompt["attention_mask"] != 0).sum(dim=1).tolist()
        with torch.inference_mode():
            found = self.model.generate(**prompt, **(options or {}))[:, prompt["input_ids"].shape[1] :]
        answers = [each[: _length(self.model, each)] for each in found]
        said = [self.processor.batch_decode(each[None], skip_special_tokens=True)[0] for each in answers]
        return [Answer(*each) for each in zip(said, counts, lengths, map(len, answers), strict=True)]


def _length(model: Any, answer: torch.Tensor) -> int:
    """Tokens up to the first that ends an answer, with it; behind it a batch is padded."""
    ends = torch.tensor(
        model.generation_config.eos_token_id if model.generation_config.eos_token_id is not None else []
    )
    last = torch.isin(answer.cpu(), ends.reshape(-1)).nonzero()[:, 0]
    return int(last[0]) + 1 if len(last) else len(answer)


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
