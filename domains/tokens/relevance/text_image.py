"""Relevance by models trained on images and captions: patches that resemble the query, as CLIP and SigLIP see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.tokens.relevance.cosine import cosine_similarity
from hra.errors import MetricError, MissingExtra

if TYPE_CHECKING:
    from torch import Tensor

    from hra.domains.tokens.context import TokenContext


@dataclass(frozen=True, eq=False)
class TextImageRelevance:
    """Cosine of each projected patch feature and the query's text feature, of a Hugging Face CLIP or SigLIP model.

    Each patch passes what the pooled feature passes on its way to the common space: CLIP's last normalisation and
    projection, SigLIP's pooling head with that patch alone (C. Zhou, C. C. Loy and B. Dai, "Extract free dense labels
    from CLIP", 2022, without its change of the last layer). The whole image is resized to the model's square, nothing
    is cropped. Cosines of such models lie close together: say by `calibrated` what they are worth. Needs a model, and
    torch and transformers (extra ``vlm``).

    Parameters
    ----------
    model : a name or folder for ``AutoModel.from_pretrained``, or the model itself (``CLIPModel``, ``SiglipModel``).
    processor : ``AutoProcessor`` of the model; by default the one of its name. Its call makes token numbers of a text,
        its ``image_processor`` has ``image_mean`` and ``image_std``.

    Raises
    ------
    MissingExtra : transformers is not installed.
    MetricError : a model object without its processor, or a model of another kind.

    Examples
    --------
    >>> from hra.domains import tokens
    >>> relevance = tokens.calibrated(tokens.TextImageRelevance("openai/clip-vit-base-patch32"), "minmax")
    >>> relevance.method  # the model is loaded when the first image comes
    'minmax'
    """

    model: Any
    processor: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) and self.processor is None:
            fix = "pass processor=AutoProcessor.from_pretrained(...), too"
            raise MetricError("a model object comes without its processor", where="TextImageRelevance", fix=fix)

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Cosines [h, w] on the model's grid, float32 in [-1, 1]."""
        return cosine_similarity(context.encode(self.patch_features), self.text_feature(context.query))

    def patch_features(self, image: np.ndarray) -> np.ndarray:
        """Features of the model's patches in the common space, [h, w, D]."""
        import torch

        model, processor = self._loaded
        side = model.config.vision_config.image_size
        pixels = torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None].to(model.dtype)
        pixels = torch.nn.functional.interpolate(pixels, (side, side), mode="bicubic", antialias=True)
        mean, deviation = (
            torch.tensor(getattr(processor.image_processor, name), dtype=model.dtype)[:, None, None]
            for name in ("image_mean", "image_std")
        )
        with torch.no_grad():
            features = _projected_patches(model, (pixels - mean) / deviation)
        grid = side // model.config.vision_config.patch_size
        return features.reshape(grid, grid, -1).numpy(force=True)

    def text_feature(self, query: str) -> np.ndarray:
        """The query's feature in the common space, [D]."""
        import torch

        model, processor = self._loaded
        # SigLIP was trained with texts filled up to their full length.
        padding = "max_length" if "siglip" in model.config.model_type else True
        words = processor(text=[query], return_tensors="pt", padding=padding, truncation=True)
        with torch.no_grad():
            feature = model.get_text_features(**words)
        return getattr(feature, "pooler_output", feature)[0].numpy(force=True)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        if not isinstance(self.model, str):
            return self.model.eval(), self.processor
        try:
            from transformers import AutoModel, AutoProcessor
        except ImportError as error:
            raise MissingExtra.of("transformers", "vlm") from error
        return AutoModel.from_pretrained(self.model).eval(), self.processor or AutoProcessor.from_pretrained(self.model)


def _projected_patches(model: Any, pixels: Tensor) -> Tensor:
    """Each patch in the common space, [patches, D]."""
    tower: Any = getattr(model, "vision_model", None)
    hidden = None if tower is None else tower(pixel_values=pixels).last_hidden_state[0]
    if hidden is not None and hasattr(model, "visual_projection"):
        return model.visual_projection(model.vision_model.post_layernorm(hidden[1:]))  # the first is the class token
    if hidden is not None and hasattr(tower, "head"):
        return model.vision_model.head(hidden[:, None])
    what = f"{type(model).__name__} has no projection of patches that is known"
    fix = "use a CLIP or SigLIP model, or CosineRelevance with an encoder of your own"
    raise MetricError(what, where="TextImageRelevance", fix=fix)
