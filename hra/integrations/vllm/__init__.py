"""vLLM with fewer visual tokens: as embeddings that a prompt carries, or inside the engine for models of LLaVA's kind.

How vLLM takes images belongs here. Outside of the engine, `embedding_prompt` makes a prompt with K embeddings of any
method, for engines with ``enable_mm_embeds``. Inside, the general plugin `register` adds an architecture whose images
have K tokens from the start; methods are those that read features alone, since the engine gives no others.
"""

from __future__ import annotations

from hra.integrations.hosts import host
from hra.integrations.vllm.prompts import embedding_prompt

ARCHITECTURE = "HraLlavaForConditionalGeneration"

__all__ = ["ARCHITECTURE", "embedding_prompt", "register"]


def register() -> None:
    """Make `ARCHITECTURE` known to vLLM; it calls this once or more in each of its processes.

    ``LLM(model, hf_overrides={"architectures": [ARCHITECTURE], "hra": {"method": "divprune", "budget": 64}})``

    Raises
    ------
    MissingExtra : vLLM is not installed.
    """
    with host("vllm"):
        from vllm import ModelRegistry  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]

    ModelRegistry.register_model(ARCHITECTURE, "hra.integrations.vllm.llava:ReducedLlava")
