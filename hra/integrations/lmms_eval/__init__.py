"""lmms-eval with fewer visual tokens: the model ``hra``, with any method and budget as its arguments.

``lmms-eval --model hra --model_args pretrained=llava-hf/llava-1.5-7b-hf,method=visionzip,budget=64 --tasks ...``

What lmms-eval asks of a model belongs here; it finds the model by the entry point group ``lmms_eval.models``. How a
conversation is answered is in `hra.integrations.transformers.answers`.
"""

from __future__ import annotations

from typing import Any

from hra.integrations.hosts import host


def manifest() -> Any:
    """What lmms-eval (0.7 and later) registers: the chat model ``hra``.

    Raises
    ------
    MissingExtra : lmms-eval is not installed.
    """
    with host("lmms-eval"):
        from lmms_eval.models.registry_v2 import ModelManifest  # pyright: ignore[reportMissingImports]

    return ModelManifest(model_id="hra", chat_class_path="hra.integrations.lmms_eval.model.ReducedModel")
