"""CLIP and SigLIP models of random weights against the models' own steps, and one whose answer is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from hra.domains import tokens  # noqa: E402
from hra.errors import MetricError  # noqa: E402

SIDE, PATCH, WIDTH = 64, 16, 16
TEXT = {
    "vocab_size": 32,
    "hidden_size": WIDTH,
    "intermediate_size": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
}
VISION = {**TEXT, "image_size": SIDE, "patch_size": PATCH}


class Processor:
    """Token numbers by letters, and the means of an image processor."""

    image_processor = SimpleNamespace(image_mean=[0.5, 0.5, 0.5], image_std=[0.5, 0.5, 0.5])

    def __call__(self, text, return_tensors, padding, truncation):
        numbers = [1, *(2 + ord(letter) % 28 for letter in text[0][:6]), 31]
        return {"input_ids": torch.tensor([numbers])}


def clip():
    torch.manual_seed(0)
    text = {**TEXT, "eos_token_id": 31, "bos_token_id": 1, "max_position_embeddings": 16}
    config = transformers.CLIPConfig(text_config=text, vision_config=VISION, projection_dim=8)
    return transformers.CLIPModel(config).eval()


def siglip():
    torch.manual_seed(0)
    text = {**TEXT, "max_position_embeddings": 16, "projection_size": WIDTH}
    config = transformers.SiglipConfig(text_config=text, vision_config=VISION)
    return transformers.SiglipModel(config).eval()


@pytest.mark.parametrize("make", [clip, siglip])
@pytest.mark.parametrize("size", [(64, 64), (100, 230)])
def test_cosines_lie_on_the_models_grid_whatever_the_image(make, size):
    image = np.random.default_rng(0).random((*size, 3), np.float32)
    relevance = tokens.TextImageRelevance(make(), Processor())
    scores = relevance(tokens.TokenContext.of(image, "a cat"))
    assert scores.shape == (SIDE // PATCH, SIDE // PATCH) and (abs(scores) <= 1 + 1e-6).all() and scores.std() > 0
    assert not np.array_equal(scores, relevance(tokens.TokenContext.of(image, "dogs")))
    allocator = tokens.PyramidSampling(tokens.calibrated(relevance, "minmax"))
    assert allocator.allocate((image, "a cat"), 10).cost == 10


def test_half_a_character_of_a_question_does_not_reach_the_tokenizer():
    asked = []

    class Strict(Processor):
        def __call__(self, text, return_tensors, padding, truncation):
            asked.append(text[0].encode("utf-8"))
            return super().__call__(text, return_tensors, padding, truncation)

    tokens.TextImageRelevance(clip(), Strict()).text_feature("a cat \udcff")
    assert asked == ["a cat \ufffd".encode()]


def test_clips_patches_take_the_way_of_its_class_token():
    model, image = clip(), np.random.default_rng(1).random((64, 64, 3), np.float32)
    pixels = torch.from_numpy(image).permute(2, 0, 1)[None] * 2 - 1
    with torch.no_grad():
        hidden = model.vision_model(pixel_values=pixels).last_hidden_state[0]
        projected = model.visual_projection(model.vision_model.post_layernorm(hidden))
        pooled = model.get_image_features(pixel_values=pixels)
    found = tokens.TextImageRelevance(model, Processor()).patch_features(image)
    assert found.reshape(16, -1) == pytest.approx(projected[1:].numpy(), abs=1e-5)
    assert projected[0].numpy() == pytest.approx(getattr(pooled, "pooler_output", pooled)[0].numpy(), abs=1e-5)


class Bright:
    """A model whose answer is known: a patch's feature is its mean colour, and queries name colours."""

    dtype = torch.float32
    config = SimpleNamespace(vision_config=SimpleNamespace(image_size=SIDE, patch_size=PATCH), model_type="clip")

    def tower(self, pixel_values):
        cells = torch.nn.functional.avg_pool2d(pixel_values * 0.5 + 0.5, PATCH)[0].flatten(1).T
        return SimpleNamespace(last_hidden_state=torch.cat([torch.zeros(1, 3), cells])[None])

    def eval(self):
        return self

    def visual_projection(self, hidden):
        return hidden

    def get_text_features(self, input_ids):
        return torch.nn.functional.one_hot(torch.tensor([int(input_ids[0, 1]) % 3]), 3).float()


@pytest.mark.parametrize("colour", range(3))
def test_the_patch_of_the_asked_colour_is_the_most_relevant(colour):
    model: Any = Bright()
    tower: Any = type("Tower", (), {"__call__": lambda _, pixel_values: model.tower(pixel_values)})()
    model.vision_model = tower
    model.vision_model.post_layernorm = lambda hidden: hidden
    image = np.full((128, 128, 3), 0.3, np.float32)
    for channel, (y, x) in enumerate([(0, 0), (64, 32), (96, 96)]):
        image[y : y + 32, x : x + 32] = np.eye(3)[channel]
    query = next(letter for letter in "abcdef" if (2 + ord(letter) % 28) % 3 == colour)
    context = tokens.TokenContext.of(image, query)
    scores = tokens.TextImageRelevance(model, Processor())(context)
    assert np.unravel_index(int(scores.argmax()), (4, 4)) == [(0, 0), (2, 1), (3, 3)][colour]


def test_a_model_without_a_processor_and_one_of_another_kind_are_refused():
    with pytest.raises(MetricError, match="processor"):
        tokens.TextImageRelevance(clip())
    other = SimpleNamespace(config=Bright.config, dtype=torch.float32)
    other.eval = lambda: other
    with pytest.raises(MetricError, match="CLIP or SigLIP"):
        tokens.TextImageRelevance(other, Processor())(tokens.TokenContext.of(np.zeros((64, 64, 3), np.float32)))


@pytest.mark.parametrize("make", [clip, siglip])
def test_many_images_go_through_the_model_together(make):
    rng, model = np.random.default_rng(0), make()
    calls = []
    tower = model.vision_model.register_forward_pre_hook(
        lambda module, args, given: calls.append(len(given["pixel_values"])), with_kwargs=True
    )
    relevance = tokens.TextImageRelevance(model, Processor())
    images = [rng.random((48 + 16 * (seed % 2), 80, 3), np.float32) for seed in range(5)]
    contexts = [tokens.TokenContext.of(image, query) for image, query in zip(images, "abbaa", strict=True)]
    relevance.prepare(contexts)
    together = [relevance(context) for context in contexts]
    assert calls == [5]
    for image, context, found in zip(images, contexts, together, strict=True):
        assert found == pytest.approx(relevance(tokens.TokenContext.of(image, context.query)), abs=1e-5)
    tower.remove()
