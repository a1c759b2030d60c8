"""LLaVA inside vLLM with K tokens of each image; read against vLLM 0.33.0."""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import Any

import torch

from hra.domains.tokens import Reducer, TokenContext
from hra.domains.tokens.methods.reducers.named import reads_features
from hra.errors import HraError
from hra.integrations.hosts import host
from hra.integrations.reduction import Reduction
from hra.integrations.transformers.choosing import slots_of

with host("vllm"):
    from vllm.model_executor.models.llava import (  # pyright: ignore[reportMissingImports]
        LlavaDummyInputsBuilder,
        LlavaForConditionalGeneration,
        LlavaMultiModalProcessor,
        LlavaProcessingInfo,
    )
    from vllm.multimodal import MULTIMODAL_REGISTRY  # pyright: ignore[reportMissingImports]


class ReducedInfo(LlavaProcessingInfo):
    """Says before anything is encoded how many placeholders an image has; `ReducedLlava` makes as many embeddings."""

    def get_num_image_tokens(self, *, image_width: int, image_height: int) -> int:
        """What the reduction leaves of the tokens that the encoder makes."""
        cells = super().get_num_image_tokens(image_width=image_width, image_height=image_height)
        return reduction_of(self.get_hf_config()).count(cells)


@MULTIMODAL_REGISTRY.register_processor(
    LlavaMultiModalProcessor, info=ReducedInfo, dummy_inputs=LlavaDummyInputsBuilder
)
class ReducedLlava(LlavaForConditionalGeneration):
    """LLaVA whose connector's output is reduced; the configuration's table ``hra`` holds method and budget.

    What vLLM keeps of an image depends on the image alone here, and an engine has one method and budget.
    """

    # Adapters of the encoder would be told a number of tokens that it does not have.
    supports_tower_connector_lora = False

    def embed_multimodal(self, **kwargs: object) -> Any:
        """Embeddings [K, D] of each image; those that a prompt brought along are as many as it says."""
        embeddings = super().embed_multimodal(**kwargs)
        if kwargs.get("pixel_values") is None:
            return embeddings
        return reduced(embeddings, reduction_of(self.config))


def reduction_of(config: Any) -> Reduction:
    """The reduction of a configuration.

    Raises
    ------
    HraError : a table that is none, a method that reads more than features, or what is not done inside the engine.
    """
    table = getattr(config, "hra", None) or {"method": "divprune"}
    made = Reduction.of(table)
    for name, only in (("realize", "pool"), ("positions", "compact")):
        if table.get(name, only) != only:
            what = f"inside the engine {name} is {only!r}, not {table[name]!r}"
            raise HraError(what, where=f"hra.{name}", fix="leave it out, or run the model with transformers")
    if not reads_features(made.allocator) or (isinstance(made.allocator, Reducer) and made.allocator.reads):
        what = f"the engine does not give the data that {made.method!r} reads"
        raise HraError(what, where="hra.method", fix="use divprune or tome here, or embedding_prompt for any method")
    return made


def reduced(embeddings: Iterable[Any], reduction: Reduction) -> tuple[Any, ...]:
    """Embeddings [N, D] of each image, N a square, as [K, D] in the order of their places."""
    return tuple(_reduced(each, reduction) for each in embeddings)


def _reduced(embeddings: Any, reduction: Reduction) -> Any:
    side = isqrt(len(embeddings))
    if side * side != len(embeddings):
        raise HraError(
            f"{len(embeddings)} tokens do not form a square", where="pixel_values", fix="use images of one size"
        )
    features = embeddings.detach().float().cpu().numpy().reshape(side, side, -1)
    allocator = reduction.allocator
    allocation = allocator.allocate(TokenContext.of_features(features), reduction.count(len(embeddings)))
    tokens = allocator.realize(allocation)
    order = slots_of(tokens, (side, side)).argsort(kind="stable")
    kept = tokens.pool(embeddings, grid=(side, side))
    return kept[torch.as_tensor(order, device=kept.device)]
