"""Who answers: a model of Hugging Face, a function, or a server; each from the tokens that a method leaves.

All are asked by `Model.ask` and say what the answer cost.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hra.domains import tokens
from hra.errors import HraError, needs
from hra.files.images import load_image
from hra.files.images.files import png_bytes
from hra_lab.bench.memory import peak
from hra_lab.vqa.methods import Way, function_named

PROMPT = "{question}\nAnswer the question using a single word or phrase."
_LONGEST = 32  # tokens of an answer
_SECONDS = 600


@dataclass(frozen=True)
class Told:
    """An answer and what it cost.

    Attributes
    ----------
    text : the answer.
    tokens : visual tokens that the model was given; None where a server does not say.
    covered : share of the image's pixels that some token shows.
    selection_s : seconds of relevance and choice, apart from `first_s` and `answer_s`.
    first_s, answer_s : seconds up to the first token of the answer, and up to its end.
    length : tokens of the answer.
    peak_bytes : most bytes held, on the device where there is one, else by the process beyond those before.
    """

    text: str
    tokens: int | None = None
    covered: float | None = None
    selection_s: float = 0.0
    first_s: float | None = None
    answer_s: float = 0.0
    length: int | None = None
    peak_bytes: int | None = None


@dataclass(frozen=True)
class Question:
    """What is asked about an image.

    Attributes
    ----------
    about : the question that tokens are chosen for; ``text`` may be another one.
    blank : whether a grey image of the same size is shown.
    """

    image: Path
    text: str
    about: str
    blank: bool = False

    def pixels(self) -> np.ndarray:
        """float32 [H, W, 3]."""
        image = load_image(self.image)[..., :3]
        return np.full_like(image, 0.5) if self.blank else image


class Model(Protocol):
    """Somebody who answers."""

    @property
    def name(self) -> str:
        """For the report, and to tell results apart."""
        ...

    def ask(self, question: Question, way: Way | None) -> Told:
        """The answer from the tokens of a method; without one from all that the model takes."""
        ...


def model_named(name: str, weights: str | None = None) -> Model:
    """A server (``http://host:port/v1``), a ``module:function``, or a model of Hugging Face by name or folder.

    Parameters
    ----------
    weights : of a server, the same model for its encoder: embeddings are sent in place of pictures.

    Raises
    ------
    HraError : no such function, server or model. MissingExtra : transformers is not installed.
    """
    if "://" in name:
        encoder = None if weights is None else HuggingFaceModel.load(weights)
        return ServerModel(name.rstrip("/"), _served(name.rstrip("/")), encoder)
    if weights is not None:
        raise HraError("weights belong to a server", where="--weights", fix="leave them out, or give its address")
    if ":" in name and not Path(name).exists():
        return FunctionModel.load(name)
    return HuggingFaceModel.load(name)


@dataclass(frozen=True, eq=False)
class FunctionModel:
    """A function of tokens and a question: ``answer(tokens, question) -> str``.

    ``tokens`` is a `hra.domains.tokens.TokenSet` with values [K, patch * patch * 3] in 0 .. 1 and boxes, and gives the
    picture that they show back by ``reconstruct()``. A function that wants another side than 16 pixels has it as its
    attribute ``patch``.
    """

    name: str
    function: Callable[[Any, str], str]
    patch: int = 16

    @classmethod
    def load(cls, name: str) -> FunctionModel:
        """A function by "module:function"; see `hra_lab.vqa.methods.function_named`."""
        found = function_named(name)
        return cls(name, found, int(getattr(found, "patch", 16)))

    def ask(self, question: Question, way: Way | None) -> Told:
        """See `Model`."""
        chosen, selection_s = _tokens(question, way, self.patch)
        with measured() as cost:
            text = str(self.function(chosen, question.text))
        return Told(text, len(chosen), _covered(chosen), selection_s, answer_s=cost.seconds, peak_bytes=cost.bytes)


def _tokens(question: Question, way: Way | None, patch: int) -> tuple[Any, float]:
    """A method's tokens, or all finest patches, and the seconds that they took."""
    if way is None:
        whole = tokens.GridTopK(tokens.UniformRelevance(), patch=patch)
        return whole.realize(whole.allocate((question.pixels(), ""), float("inf"))), 0.0
    allocator, image = way.allocator(patch), question.pixels()
    started = time.perf_counter()
    chosen = allocator.realize(allocator.allocate((image, question.about), way.budget))
    return chosen, time.perf_counter() - started + way.relevance.spared()


@dataclass(frozen=True, eq=False)
class HuggingFaceModel:
    """A model that `hra.integrations.transformers.reduce` serves; token places stay those of the whole image."""

    name: str
    model: Any
    processor: Any

    @classmethod
    def load(cls, name: str) -> HuggingFaceModel:
        """Model and processor, on a GPU where there is one."""
        with needs("transformers", "vlm"):
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor
        try:
            model: Any = AutoModelForImageTextToText.from_pretrained(name, dtype="auto")
            processor = AutoProcessor.from_pretrained(name)
        except (OSError, ValueError) as error:
            what = f"not a model of images and text: {str(error).splitlines()[0]}"
            raise HraError(what, where=name, fix="give its name, or the folder of its weights and processor") from error
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(name, model.to(device).eval(), processor)

    @property
    def patch(self) -> int:
        """Side of a visual token in the pixels that the encoder sees."""
        vision = getattr(self.model.config, "vision_config", None)
        side = getattr(vision, "patch_size", 14)
        side = side if isinstance(side, int) else int(side[0])
        return int(np.clip(side * getattr(vision, "spatial_merge_size", 1), 8, 64))

    def inputs(self, question: Question) -> dict[str, Any]:
        """What the processor makes of image and question."""
        from PIL import Image

        content = [{"type": "image"}, {"type": "text", "text": PROMPT.format(question=question.text)}]
        messages = [{"role": "user", "content": content}]
        text = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        picture = Image.fromarray(np.round(255 * question.pixels()).astype(np.uint8))
        made = self.processor(text=[text], images=[picture], return_tensors="pt")
        return {name: _moved(value, self.model) for name, value in made.items()}

    def reduced(self, question: Question, way: Way, positions: Any = "original") -> tuple[Any, float, float]:
        """The prompt with fewer tokens, the share of the image that they show, and the seconds of their selection."""
        from hra.integrations.transformers import reduce

        small = reduce(
            self.model, self.inputs(question), allocator=way.allocator(self.patch), budget=way.budget,
            positions=positions, query=question.about, processor=self.processor,
        )  # fmt: skip
        covered = float(np.mean([_covered(one.tokens) for one in small.chosen]))
        return small, covered, small.seconds["selection"] + way.relevance.spared()

    def ask(self, question: Question, way: Way | None) -> Told:
        """See `Model`; encoding the image counts up to the first token of the answer."""
        prompt = self.inputs(question)
        count = int((prompt["input_ids"] == _image_id(self.model)).sum())
        covered, selection_s, encoding_s = 1.0, 0.0, 0.0
        with measured() as cost:
            if way is not None:
                small, covered, selection_s = self.reduced(question, way)
                prompt, count, encoding_s = small.inputs, sum(small.counts), small.seconds["encoding"]
            length = prompt["input_ids"].shape[1]
            first = _First(length)
            found = self.model.generate(**prompt, max_new_tokens=_LONGEST, do_sample=False, streamer=first)
            answer_s = time.perf_counter() - first.started
        said = found[0, length:]
        text = self.processor.batch_decode(said[None], skip_special_tokens=True)[0].strip()
        return Told(
            text, count, covered, selection_s, first.seconds + encoding_s, answer_s + encoding_s, len(said), cost.bytes
        )


class _First:
    """A streamer that takes the time of the first token behind the prompt."""

    def __init__(self, length: int) -> None:
        self.length, self.started, self.seconds = length, time.perf_counter(), 0.0

    def put(self, value: Any) -> None:
        """A prompt comes first, and then token by token."""
        if value.numel() != self.length and not self.seconds:
            self.seconds = time.perf_counter() - self.started

    def end(self) -> None:
        """Nothing is left to do."""


def _image_id(model: Any) -> int:
    return int(model.config.image_token_id)


def _moved(value: Any, model: Any) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    return value.to(model.device, model.dtype if value.is_floating_point() else value.dtype)


@dataclass(frozen=True, eq=False)
class ServerModel:
    """A server that speaks OpenAI's protocol, such as vLLM's.

    With the encoder's weights at hand it is sent embeddings of the tokens (vLLM with ``--enable-mm-embeds``), else the
    picture that they give back, which it cuts into as many tokens as any other.
    """

    url: str
    served: str
    encoder: HuggingFaceModel | None = None

    @property
    def name(self) -> str:
        """Address, model, and whether embeddings are sent."""
        return f"{self.url} {self.served}, {'embeddings' if self.encoder else 'pictures'}"

    def ask(self, question: Question, way: Way | None) -> Told:
        """See `Model`."""
        if self.encoder is not None and way is not None:
            small, covered, selection_s = self.encoder.reduced(question, way, "compact")
            parts = [{"type": "image_embeds", "image_embeds": _packed(one.levels[0])} for one in small.chosen]
            told = Told("", sum(small.counts), covered, selection_s)
        else:
            picture, told = question.pixels(), Told("", covered=1.0)
            if way is not None:
                chosen, selection_s = _tokens(question, way, 16)
                picture, told = chosen.reconstruct(), Told("", None, _covered(chosen), selection_s)
            data = base64.b64encode(png_bytes(np.round(255 * picture.clip(0, 1)).astype(np.uint8))).decode()
            parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]
        content = [*parts, {"type": "text", "text": PROMPT.format(question=question.text)}]
        started, first, text, length = time.perf_counter(), None, "", None
        for chunk in self._stream(content):
            for choice in chunk.get("choices", ()):
                said = (choice.get("delta") or {}).get("content") or ""
                if said and first is None:
                    first = time.perf_counter() - started
                text += said
            length = (chunk.get("usage") or {}).get("completion_tokens", length)
        seconds = time.perf_counter() - started
        return Told(text.strip(), told.tokens, told.covered, told.selection_s, first, seconds, length)

    def _stream(self, content: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """What the server sends, piece by piece."""
        asked = {
            "model": self.served, "messages": [{"role": "user", "content": content}], "temperature": 0,
            "max_tokens": _LONGEST, "stream": True, "stream_options": {"include_usage": True},
        }  # fmt: skip
        with _request(f"{self.url}/chat/completions", asked) as reply:
            for line in reply:
                piece = line.decode("utf-8").strip()
                if piece.startswith("data:") and piece != "data: [DONE]":
                    yield json.loads(piece.removeprefix("data:"))


def _served(url: str) -> str:
    """The first model that a server names."""
    with _request(f"{url}/models") as reply:
        return str(json.load(reply)["data"][0]["id"])


@contextmanager
def _request(url: str, content: Any = None) -> Iterator[Any]:
    data = None if content is None else json.dumps(content).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '-')}"}
    if not url.startswith(("http://", "https://")):
        raise HraError("not an address of the web", where=url[:200], fix="write http://host:port/v1")
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=_SECONDS) as reply:
            yield reply
    except urllib.error.HTTPError as error:
        said = error.read(500).decode("utf-8", "replace")
        raise HraError(f"the server refused: {error.code} {said}", where=url, fix="see the server's log") from error
    except (OSError, ValueError, KeyError, IndexError) as error:
        what = f"no answer of a server: {error}"
        raise HraError(what, where=url, fix="start it, and give its address with /v1 at the end") from error


def _packed(features: Any) -> str:
    """Features [K, D] as vLLM reads them: a tensor of torch, saved, in base64."""
    import torch

    stream = io.BytesIO()
    torch.save(features.detach().cpu(), stream)
    return base64.b64encode(stream.getvalue()).decode()


def _covered(chosen: Any) -> float:
    return float(np.isfinite(chosen.shown_detail()).mean())


@dataclass
class Cost:
    """Seconds and most bytes of what ran: of a GPU where torch uses one, else of the process beyond those before."""

    seconds: float = 0.0
    bytes: int | None = None


@contextmanager
def measured() -> Iterator[Cost]:
    """What the inside costs, once it has ended."""
    cost, torch = Cost(), sys.modules.get("torch")
    started = time.perf_counter()
    if torch is not None and torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        yield cost
        cost.bytes = torch.cuda.max_memory_allocated()
    else:
        with peak() as found:
            yield cost
        cost.bytes = found[0]
    cost.seconds = time.perf_counter() - started
