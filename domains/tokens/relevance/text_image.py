"""Relevance by models trained on images and captions: patches that resemble the query, as CLIP and SigLIP see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.caching import cached_property
from hra.domains.tokens.relevance.cosine import cosine_similarity
from hra.domains.tokens.relevance.together import encode_all
from hra.domains.tokens.text.words import unicode_text
from hra.errors import MetricError, needs

if TYPE_CHECKING:
    from torch import Tensor

    from hra.domains.tokens.context.context import TokenContext

_TOGETHER = 16  # images of one call: more are no faster on the host


@dataclass(frozen=True, eq=False)
class TextImageRelevance:
    """Cosine of each projected patch feature and the query's text feature, of a Hugging Face CLIP or SigLIP model.

    Each patch passes what the pooled feature passes on its way to the common space: CLIP's last normalisation and
    projection, SigLIP's pooling head with that patch alone (C. Zhou, C. C. Loy and B. Dai, "Extract free dense labels
    from CLIP", 2022, without its change of the last layer). The whole image is resized to the model's square, nothing
    is cropped. Cosines of such models lie close together: give them a scale by `calibrated`. Needs a model, and torch
    and transformers (extra ``vlm``).

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
        patches = context.encode(self.patch_features)
        return cosine_similarity(patches, context.once((self, "text"), lambda: self.text_feature(context.query)))

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Run the model on many images at once, some at a time, and on each question once, see `together`."""
        encode_all(contexts, self.patch_features, self._features_of)
        texts = {query: self.text_feature(query) for query in {one.query for one in contexts}}
        for one in contexts:
            one.once((self, "text"), partial(texts.__getitem__, one.query))

    def patch_features(self, image: np.ndarray) -> np.ndarray:
        """Features of the model's patches in the common space, [h, w, D]."""
        return self._features_of([image])[0]

    def _features_of(self, images: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Features [h, w, D] of each of many images of any sizes."""
        import torch

        model, _ = self._loaded
        grid = model.config.vision_config.image_size // model.config.vision_config.patch_size
        made = []
        for first in range(0, len(images), _TOGETHER):
            pixels = torch.cat([self._resized(image) for image in images[first : first + _TOGETHER]])
            with torch.no_grad():
                features = _projected_patches(model, pixels)
            made += list(features.reshape(len(pixels), grid, grid, -1).numpy(force=True))
        return made

    def _resized(self, image: np.ndarray) -> Tensor:
        """An image [H, W, 3] as the model takes it, [1, 3, side, side]."""
        import torch

        model, processor = self._loaded
        side = model.config.vision_config.image_size
        pixels = torch.from_numpy(np.ascontiguousarray(image)).permute(2, 0, 1)[None].to(model.dtype)
        pixels = torch.nn.functional.interpolate(pixels, (side, side), mode="bicubic", antialias=True)
        mean, deviation = (
            torch.tensor(getattr(processor.image_processor, name), dtype=model.dtype)[:, None, None]
            for name in ("image_mean", "image_std")
        )
        return (pixels - mean) / deviation

    def text_feature(self, query: str) -> np.ndarray:
        """The query's feature in the common space, [D]."""
        import torch

        model, processor = self._loaded
        # SigLIP was trained with texts filled up to their full length.
        padding = "max_length" if "siglip" in model.config.model_type else True
        words = processor(text=[unicode_text(query)], return_tensors="pt", padding=padding, truncation=True)
        with torch.no_grad():
            feature = model.get_text_features(**words)
        return getattr(feature, "pooler_output", feature)[0].numpy(force=True)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        if not isinstance(self.model, str):
            return self.model.eval(), self.processor
        with needs("transformers", "vlm"):
            from transformers import AutoModel, AutoProcessor
        return AutoModel.from_pretrained(self.model).eval(), self.processor or AutoProcessor.from_pretrained(self.model)


def _projected_patches(model: Any, pixels: Tensor) -> Tensor:
    """Each patch of each image in the common space, [images, patches, D]."""
    tower: Any = getattr(model, "vision_model", None)
    hidden = None if tower is None else tower(pixel_values=pixels).last_hidden_state
    if hidden is not None and hasattr(model, "visual_projection"):
        return model.visual_projection(model.vision_model.post_layernorm(hidden[:, 1:]))  # the first is the class token
    if hidden is not None and hasattr(tower, "head"):
        return model.vision_model.head(hidden.flatten(0, 1)[:, None]).unflatten(0, hidden.shape[:2])
    what = f"{type(model).__name__} has no known projection of patches"
    fix = "use a CLIP or SigLIP model, or CosineRelevance with an encoder of your own"
    raise MetricError(what, where="TextImageRelevance", fix=fix)
