"""What lmms-eval asks of a model and gives to it, as read in version 0.7.3: names, fields and arguments, no more.

`SIGNATURES` is compared with the package itself where that is installed.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any

VERSION = "0.7.3"
SIGNATURES = {
    ("lmms_eval.models.registry_v2", "ModelManifest"): ("model_id", "simple_class_path", "chat_class_path", "aliases"),
    ("lmms_eval.api.instance", "GenerationResult"): ("text", "token_counts"),
    ("lmms_eval.api.instance", "TokenCounts"): ("input_tokens", "output_tokens", "reasoning_tokens"),
    ("lmms_eval.api.model", "lmms.generate_until"): ("self", "requests"),
    ("lmms_eval.api.model", "lmms.loglikelihood"): ("self", "requests"),
    ("lmms_eval.api.model", "lmms.generate_until_multi_round"): ("self", "requests"),
    ("lmms_eval.api.model", "CacheHook.add_partial"): ("self", "attr", "req", "res"),
    ("lmms_eval.protocol", "ChatMessages.extract_media"): ("self",),
    ("lmms_eval.protocol", "ChatMessages.to_hf_messages"): ("self", "video_kwargs", "image_kwargs"),
}


@dataclass(frozen=True)
class ModelManifest:
    model_id: str
    simple_class_path: str | None = None
    chat_class_path: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass
class TokenCounts:
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass
class GenerationResult:
    text: str
    token_counts: TokenCounts | None = None


class CacheHook:
    def __init__(self) -> None:
        self.added: list[Any] = []

    def add_partial(self, attr: str, req: Any, res: Any) -> None:
        self.added.append((attr, req, res))


class lmms(ABC):
    is_simple = True

    def __init__(self) -> None:
        self.cache_hook = CacheHook()
        self.task_dict: dict[str, Any] = {}

    @abstractmethod
    def loglikelihood(self, requests: Any) -> Any: ...

    @abstractmethod
    def generate_until(self, requests: Any) -> Any: ...

    @abstractmethod
    def generate_until_multi_round(self, requests: Any) -> Any: ...


class ChatMessages:
    """Messages whose parts say "type" and "text", or "url" of anything else."""

    def __init__(self, messages: Any) -> None:
        self.messages = messages

    def extract_media(self) -> tuple[list[Any], list[Any], list[Any]]:
        parts = [part for message in self.messages for part in message["content"]]
        images, videos, sounds = ([p["url"] for p in parts if p["type"] == k] for k in ("image", "video", "audio"))
        return images, videos, sounds

    def to_hf_messages(self, video_kwargs: Any = None, image_kwargs: Any = None) -> list[dict[str, Any]]:
        return [{"role": message["role"], "content": [_hf(part) for part in message["content"]]}
                for message in self.messages]  # fmt: skip


def _hf(part: dict[str, Any]) -> dict[str, Any]:
    kind = part["type"]
    return {"type": "text", "text": part["text"]} if kind == "text" else {"type": kind, kind: part["url"]}


def install(monkeypatch: Any) -> None:
    """Let the record stand for the package."""
    contents = {
        "lmms_eval": {}, "lmms_eval.api": {}, "lmms_eval.models": {},
        "lmms_eval.protocol": {"ChatMessages": ChatMessages},
        "lmms_eval.api.instance": {"GenerationResult": GenerationResult, "TokenCounts": TokenCounts},
        "lmms_eval.api.model": {"lmms": lmms, "CacheHook": CacheHook},
        "lmms_eval.models.registry_v2": {"ModelManifest": ModelManifest},
    }  # fmt: skip
    for name, values in contents.items():
        module = ModuleType(name)
        module.__dict__.update(values)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "hra.integrations.lmms_eval.model", raising=False)
