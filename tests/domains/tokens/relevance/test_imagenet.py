"""The relevance of pretrained networks: refused without its packages, with them it finds things."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.relevance import imagenet
from hra.domains.tokens.relevance.imagenet import ImageNetRelevance
from hra.errors import MissingExtra


def test_missing_packages_are_named_with_their_install_command(monkeypatch):
    monkeypatch.setattr(imagenet, "find_spec", lambda name: None if name == "transformers" else sys)
    with pytest.raises(MissingExtra, match=r"transformers$"):
        ImageNetRelevance(["cat"])


@pytest.mark.parametrize("query", ["where is the ball?", "the dog"])
def test_classes_near_the_query_are_where_the_network_sees_them(monkeypatch, query):
    """With stand-ins for both networks: of two classes, one left and one right."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(imagenet, "find_spec", lambda name: sys)
    from hra.domains.tokens.learned import pretrained

    def embed(sentences: list[str]):
        return torch.tensor([[float("ball" in sentence), float("dog" in sentence)] for sentence in sentences])

    def classify(image):
        logits = torch.zeros(2, 2, 4)
        logits[0, :, 0] = logits[1, :, 3] = 9.0
        return logits

    monkeypatch.setattr(pretrained, "sentence_embedder", lambda: embed)
    monkeypatch.setattr(pretrained, "dense_classifier", lambda: classify)
    scores = ImageNetRelevance(["ball", "dog"])(TokenContext.of(np.zeros((32, 64, 3), np.float32), query))
    assert scores.shape == (2, 4)
    assert scores.argmax(axis=1).tolist() == ([0, 0] if "ball" in query else [3, 3])


@pytest.mark.slow
@pytest.mark.skipif(any(find_spec(module) is None for module in imagenet._PACKAGES), reason="optional packages")
def test_the_real_networks_run():
    data = pytest.importorskip("skimage.data")
    cat = np.asarray(data.chelsea(), np.float32)[:256, 100:356] / 255
    image = np.full((256, 512, 3), 0.5, np.float32)
    image[:, 256:] = cat
    scores = ImageNetRelevance()(TokenContext.of(image, "where is the cat?"))
    assert scores.shape == (8, 16) and (scores >= 0).all()
    assert scores[:, 8:].sum() > 3 * scores[:, :8].sum()
