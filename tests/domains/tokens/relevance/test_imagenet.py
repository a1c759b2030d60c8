"""The relevance of pretrained networks: refused without its packages, with them it finds things."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from hra.domains.tokens.context.context import TokenContext
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
    from hra.domains.tokens.embedding import pretrained

    def embed(sentences: list[str]):
        return torch.tensor([[float("ball" in sentence), float("dog" in sentence)] for sentence in sentences])

    sizes = []

    def classify(images):
        sizes.append(len(images))
        logits = torch.zeros(2, 2, 4)
        logits[0, :, 0] = logits[1, :, 3] = 9.0
        return logits.expand(len(images), 2, 2, 4)

    monkeypatch.setattr(pretrained, "sentence_embedder", lambda: embed)
    monkeypatch.setattr(pretrained, "dense_classifier", lambda: classify)
    scores = ImageNetRelevance(["ball", "dog"])(TokenContext.of(np.zeros((32, 64, 3), np.float32), query))
    assert scores.shape == (2, 4)
    assert scores.argmax(axis=1).tolist() == ([0, 0] if "ball" in query else [3, 3])
    relevance, image = ImageNetRelevance(["ball", "dog"]), np.zeros((32, 64, 3), np.float32)
    contexts = [TokenContext.of(image, query), TokenContext.of(image, "ball"), TokenContext.of(image[:, :32], query)]
    relevance.prepare(contexts)
    assert sizes == [1, 1, 2] or sizes == [1, 2, 1]
    assert np.array_equal(relevance(contexts[0]), scores)
    assert relevance(contexts[1]).argmax(axis=1).tolist() == [0, 0] and len(sizes) == 3


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


@pytest.mark.slow
@pytest.mark.skipif(any(find_spec(module) is None for module in imagenet._PACKAGES), reason="optional packages")
def test_the_real_networks_see_the_same_in_a_batch():
    data = pytest.importorskip("skimage.data")
    cat, cup = (np.asarray(image, np.float32)[:256, :256] / 255 for image in (data.chelsea(), data.coffee()))
    relevance, contexts = (
        ImageNetRelevance(),
        [TokenContext.of(cat, "the cat"), TokenContext.of(cup, "a cup of coffee")],
    )
    alone = [relevance(TokenContext.of(one.image, one.query)) for one in contexts]
    relevance.prepare(contexts)
    for found, expected in zip((relevance(one) for one in contexts), alone, strict=True):
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(any(find_spec(module) is None for module in imagenet._PACKAGES), reason="optional packages")
@pytest.mark.parametrize("size", [(1, 1), (5, 40), (500, 16)])
def test_the_real_networks_see_images_that_are_smaller_than_a_cell(size):
    image = np.random.default_rng(0).random((*size, 3), np.float32)
    scores = ImageNetRelevance()(TokenContext.of(image, "where is the cat?"))
    assert scores.shape == tuple(max(1, extent // 32) for extent in size) and np.isfinite(scores).all()
