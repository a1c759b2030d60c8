"""Configurations of vision-language models: from a file, or by the name of one that is known here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from transformers import AutoConfig

from hra.errors import FileError, HraError, check_kind
from hra.files.json_text import parse_object
from hra.files.local_files import read_regular

_LLAMA_7B = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "vocab_size": 32064,
}  # fmt: skip
_CLIP_L = {
    "model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
    "num_attention_heads": 16, "image_size": 336, "patch_size": 14, "projection_dim": 768,
}  # fmt: skip
_QWEN_VISION = {
    "depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "patch_size": 14,
    "spatial_merge_size": 2, "window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31],
}  # fmt: skip
_SIGLIP = {
    "model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
    "num_attention_heads": 16, "image_size": 896, "patch_size": 14, "vision_use_head": False,
}  # fmt: skip
CONFIGURATIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "llava-1.5-7b": {
            "model_type": "llava", "text_config": _LLAMA_7B, "vision_config": _CLIP_L, "vision_feature_layer": -2,
        },
        "qwen2.5-vl-3b": {
            "model_type": "qwen2_5_vl", "vision_config": {**_QWEN_VISION, "out_hidden_size": 2048},
            "text_config": {
                "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36, "num_attention_heads": 16,
                "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": True,
            },
        },
        "qwen2.5-vl-7b": {
            "model_type": "qwen2_5_vl", "vision_config": {**_QWEN_VISION, "out_hidden_size": 3584},
            "text_config": {
                "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
                "num_key_value_heads": 4, "vocab_size": 152064,
            },
        },
        "gemma-3-4b": {
            "model_type": "gemma3", "vision_config": _SIGLIP, "mm_tokens_per_image": 256,
            "text_config": {
                "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "num_attention_heads": 8,
                "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208,
            },
        },
    }
)  # fmt: skip
"""Sizes of published models; what does not count for the cost is left to the defaults."""


def configuration(source: str | os.PathLike[str]) -> Any:
    """A configuration from a ``config.json``, or by a name of `CONFIGURATIONS`; nothing is fetched, no code is run.

    Raises
    ------
    HraError : neither a path nor a name, no file and no known name.
    FileError : a file that is not a configuration of a known kind.

    Examples
    --------
    >>> from hra.integrations.transformers import configuration
    >>> configuration("llava-1.5-7b").text_config.num_hidden_layers
    32
    """
    check_kind("model", source, (str, os.PathLike), f"pass a config.json, or one of {', '.join(CONFIGURATIONS)}")
    source = os.fspath(source)
    if source in CONFIGURATIONS:
        return _made(dict(CONFIGURATIONS[source]), source)
    if not Path(source).suffix:
        fix = f"pass a config.json, or one of {', '.join(CONFIGURATIONS)}"
        raise HraError(f"the configuration {source[:200]!r} is unknown", where="model", fix=fix)
    return _made(parse_object(read_regular(source), "configuration", source), source)


def _made(values: dict[str, Any], where: str) -> Any:
    kind = values.pop("model_type", None)
    try:
        return AutoConfig.for_model(kind, **values)
    except Exception as error:  # the package checks fields in many ways
        what = f"transformers does not know this configuration: {str(error)[:200]}"
        raise FileError(what, where=where, fix="pass the config.json of a model of this release") from error
