"""What vLLM asks of a plug-in and of a prompt, as read in version 0.33.0: names, arguments and counts, no more.

`SIGNATURES`, `CLASSES` and `WORDS` are compared with the sources where the package is installed or `HRA_VLLM_SOURCES`
names a folder with its unpacked wheel; they are read, not run.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

VERSION = "0.33.0"
REQUIRES = {"transformers": ">=5.16.1,<5.21.0"}
_LLAVA = "model_executor/models/llava.py"
SIGNATURES = {
    (_LLAVA, "BaseLlavaProcessingInfo.get_num_image_tokens"): ("self", "image_width", "image_height"),
    (_LLAVA, "BaseLlavaProcessingInfo.get_hf_config"): ("self",),
    (_LLAVA, "LlavaForConditionalGeneration.embed_multimodal"): ("self", "kwargs"),
    ("model_executor/models/registry.py", "_ModelRegistry.register_model"): ("self", "model_arch", "model_cls"),
    ("multimodal/registry.py", "MultiModalRegistry.register_processor"): ("self", "processor", "info", "dummy_inputs"),
    ("multimodal/parse.py", "EmbeddingItems.get_feature_size"): ("self", "item_idx"),
    ("multimodal/parse.py", "MultiModalDataParser.is_embeddings"): ("cls", "data"),
}
# What `hra.integrations.vllm.llava` imports and derives from, and the words that plug-in and prompts are found by.
CLASSES = {
    _LLAVA: (
        "LlavaDummyInputsBuilder", "LlavaForConditionalGeneration", "LlavaMultiModalProcessor", "LlavaProcessingInfo",
    ),
    "multimodal/registry.py": ("MultiModalRegistry",),
}  # fmt: skip
WORDS = {
    "plugins/__init__.py": '"vllm.general_plugins"',
    "multimodal/__init__.py": "MULTIMODAL_REGISTRY",
    "inputs/llm.py": "multi_modal_uuids",
    "model_executor/models/interfaces.py": "supports_tower_connector_lora",
}


class Registry:
    """Models and processors by what they are registered for."""

    def __init__(self) -> None:
        self.models: dict[str, str] = {}
        self.processors: dict[type, Any] = {}

    def register_model(self, model_arch: str, model_cls: str) -> None:
        self.models[model_arch] = model_cls

    def register_processor(self, processor: Any, *, info: Any, dummy_inputs: Any) -> Any:
        def wrapper(model_cls: type) -> type:
            self.processors[model_cls] = (processor, info, dummy_inputs)
            return model_cls

        return wrapper


class LlavaProcessingInfo:
    def __init__(self, config: Any) -> None:
        self.config = config

    def get_hf_config(self) -> Any:
        return self.config

    def get_num_image_tokens(self, *, image_width: int, image_height: int) -> int:
        return self.config.cells


class LlavaForConditionalGeneration:
    """Makes `cells` embeddings of each image, or hands those back that it is given."""

    supports_tower_connector_lora = True

    def __init__(self, config: Any) -> None:
        self.config = config

    def embed_multimodal(self, **kwargs: Any) -> Any:
        return kwargs["image_embeds"] if kwargs.get("pixel_values") is None else kwargs["pixel_values"].flatten(2)


def feature_sizes(data: Any) -> list[int]:
    """Placeholders of each item: embeddings are a list of matrices, or one array of three axes."""
    assert all(each.ndim == 2 for each in data)
    return [len(each) for each in data]


def install(monkeypatch: Any) -> Registry:
    """Let the record stand for the package."""
    registry = Registry()
    llava = {
        "LlavaProcessingInfo": LlavaProcessingInfo, "LlavaForConditionalGeneration": LlavaForConditionalGeneration,
        "LlavaDummyInputsBuilder": SimpleNamespace(), "LlavaMultiModalProcessor": SimpleNamespace(),
    }  # fmt: skip
    contents: dict[str, dict[str, Any]] = {
        "vllm": {"ModelRegistry": registry}, "vllm.multimodal": {"MULTIMODAL_REGISTRY": registry},
        "vllm.model_executor": {}, "vllm.model_executor.models": {}, "vllm.model_executor.models.llava": llava,
    }  # fmt: skip
    for name, values in contents.items():
        module = ModuleType(name)
        module.__dict__.update(values)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "hra.integrations.vllm.llava", raising=False)
    return registry
