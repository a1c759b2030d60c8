"""What reducers read of models: attention against the model's own, and every reducer in every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers import reduce
from hra.integrations.transformers.encoding import Encoded
from hra.integrations.transformers.language_attention import last_token_attention
from hra.integrations.transformers.prompts import Prompts
from hra.integrations.transformers.signals import Signals, recorded
from tests.helpers.model_families import family_inputs, family_model, pictures_of
from tests.helpers.tiny_models import FAMILIES, PROCESSOR, model_of, prompts

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
IMAGES = (1, 2)
# SigLIP and its kind, and Qwen.
WITHOUT_CLASS = ("gemma3", "smolvlm", "idefics3", "qwen2_5_vl", "qwen3_vl")


def signals_of(name: str, inputs: Any) -> tuple[Any, Signals]:
    model = model_of(name)
    with recorded(model, ("attention", "shallow")) as projected:
        encoded = Encoded.of(model, inputs)
    return model, Signals(model, inputs, encoded, Prompts.of(model, inputs, encoded.layout.owners), projected)


@pytest.mark.parametrize("name", ["llava", "internvl", "gemma3", "smolvlm"])
@pytest.mark.parametrize(("signal", "layer"), [("attention", 1), ("shallow", 0)])
def test_attention_of_the_encoder_is_its_own(name, signal, layer):
    inputs = prompts(name, IMAGES)
    model, signals = signals_of(name, inputs)
    maps = np.stack(signals.maps(signal))
    model.set_attn_implementation("eager")
    table = Encoded.of(model, inputs, output_attentions=True).output.attentions[layer].mean(1)
    special = table.shape[1] - maps[0].size
    expected = table[:, 0, 1:] if special else table.mean(1)
    np.testing.assert_allclose(maps.reshape(len(maps), -1), expected.numpy(), atol=1e-6)


@pytest.mark.parametrize("name", ["llava", "internvl", "gemma3"])
def test_joint_attention_is_one_softmax_of_the_last_layer(name):
    # By hand from the projections of the last layer: all heads are one vector, as PruMerge's public code has it.
    inputs = prompts(name, IMAGES)
    model, caught = model_of(name), {}
    for key in ("q_proj", "k_proj"):
        module = [one for at, one in model.named_modules() if at.endswith(key) and "language" not in at][-1]
        module.register_forward_hook(lambda module, given, made, key=key: caught.update({key: made}))
    with recorded(model, ("joint",)) as projected:
        encoded = Encoded.of(model, inputs)
    signals = Signals(model, inputs, encoded, Prompts.of(model, inputs, encoded.layout.owners), projected)
    queries, keys = caught["q_proj"], caught["k_proj"]
    table = (queries @ keys.transpose(1, 2) / keys.shape[2] ** 0.5).softmax(-1)
    maps = np.stack(signals.maps("joint"))
    special = table.shape[1] - maps[0].size
    expected = table[:, 0, special:] if special else table.mean(1)
    np.testing.assert_allclose(maps.reshape(len(maps), -1), expected.numpy(), atol=1e-6)
    found = np.stack(signals.keys("joint")).reshape(len(maps), maps[0].size, -1)
    np.testing.assert_allclose(found, keys[:, special:].numpy(), atol=1e-6)
    assert (maps.reshape(len(maps), -1).sum(1) < 1).all() == bool(special)


@pytest.mark.parametrize("name", ["llava", "internvl"])
def test_flow_is_what_its_layers_say(name):
    # Attention is the models' own table; values are caught where each layer makes them.
    inputs = prompts(name, IMAGES)
    model, signals = signals_of(name, inputs)
    maps = np.stack(signals.maps("flow"))
    model.set_attn_implementation("eager")
    caught: list[torch.Tensor] = []
    projections = [one for at, one in model.named_modules() if at.endswith("v_proj") and "language" not in at]
    hooks = [one.register_forward_hook(lambda module, given, made: caught.append(made)) for one in projections]
    tables = Encoded.of(model, inputs, output_attentions=True).output.attentions
    for hook in hooks:
        hook.remove()
    expected = np.zeros(())
    for layer in range(len(tables) - 1):
        values = caught[layer].unflatten(2, (tables[layer].shape[1], -1)).transpose(1, 2).numpy()
        raw = np.einsum("bhd,bhnd->bhn", values[:, :, 0], values)
        likeness = np.exp(raw) / np.exp(raw).sum(2, keepdims=True)
        two = [tables[layer][:, :, 0].numpy().mean(1)[:, 1:], likeness.mean(1)[:, 1:]]
        score = sum(each / each.sum(1, keepdims=True) for each in two) * np.abs(values.mean(1)).sum(2)[:, 1:]
        expected = score if layer == 0 else (expected + score) / 2
    np.testing.assert_allclose(maps.reshape(len(maps), -1), expected, rtol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_attention_of_the_last_token_is_the_models_own(name):
    inputs = prompts(name, IMAGES)
    model = model_of(name)
    paid = last_token_attention(model, inputs, Encoded.of(model, inputs).outputs)
    model.set_attn_implementation("eager")
    table = model(**inputs, output_attentions=True).attentions[1].mean(1)[:, -1]
    torch.testing.assert_close(paid, table, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("method", tokens.REDUCERS)
def test_every_reducer_meets_its_count_in_every_family(name, method):
    model, inputs = model_of(name), prompts(name, IMAGES)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    allocator = tokens.REDUCERS[method]()
    reads, options = getattr(allocator, "reads", ""), {"budget": 5, "processor": PROCESSOR}
    if name in WITHOUT_CLASS and reads == "flow":
        with pytest.raises(ArrayError, match="no class token"):
            reduce(model, inputs, allocator=allocator, **options)
        return
    small = reduce(model, inputs, allocator=allocator, **options)
    assert set(small.counts) == {5}
    assert int((small.prompt["input_ids"] == model.config.image_token_id).sum()) == 5 * len(small.counts)
    assert model(**small.inputs).logits.isfinite().all()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_words_make_relevance():
    inputs = prompts("llava", IMAGES)
    model, signals = signals_of("llava", inputs)
    maps = signals.maps("text")
    words = inputs["input_ids"][0][
        (inputs["input_ids"][0] != model.config.image_token_id) & (inputs["input_ids"][0] > 0)
    ]
    embedded = torch.nn.functional.normalize(model.get_input_embeddings()(words), dim=1)
    features = torch.nn.functional.normalize(signals.encoded.levels[0][:64], dim=1)
    cosine = -(features @ embedded.T).mean(1)
    expected = (cosine - cosine.min()) / (cosine.max() - cosine.min())
    np.testing.assert_allclose(maps[0].ravel(), expected.numpy(), atol=1e-6)
    assert [one.shape for one in maps] == [(8, 8)] * 3


def test_attention_of_pictures_that_are_no_squares_keeps_their_rows():
    # 4 x 9 patches, which were read as 6 x 6: the patch that is paid most stays where it is.
    sizes: Any = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
    vision: Any = transformers.SiglipVisionConfig(**sizes, image_size=84, patch_size=14, vision_use_head=False)
    model = model_of("llava")
    model.model.vision_tower = transformers.SiglipVisionModel(vision).eval()
    model.model.multi_modal_projector = model.model.multi_modal_projector.__class__(
        transformers.LlavaConfig(vision_config=vision, text_config=model.config.text_config)
    )
    model.config.vision_config, model.config.vision_feature_select_strategy = vision, "full"
    pixels, ids = torch.randn(1, 3, 56, 126), torch.tensor([[1, *[model.config.image_token_id] * 36, 2]])
    inputs = {"input_ids": ids, "pixel_values": pixels}
    with recorded(model, ("attention",)) as projected:
        encoded = Encoded.of(model, inputs, interpolate_pos_encoding=True)
    signals = Signals(model, inputs, encoded, Prompts.of(model, inputs, encoded.layout.owners), projected)
    assert [one.shape for one in (*signals.maps("attention"), encoded.levels[0])] == [(4, 9), (36, 64)]
    assert signals.keys()[0].shape[:2] == encoded.grids[0] == (4, 9)


@pytest.mark.parametrize(
    ("name", "method"), [("video_llama_3", "visionzip"), ("blip_2", "hired"), ("qianfan_ocr", "holov")]
)
def test_attention_that_is_not_there_is_refused_by_name(name, method):
    inputs = family_inputs(name, (1,), pictures_of(name, 1, 0))
    with pytest.raises(ArrayError, match=r"the attention of the encoder of \w+ is not read"):
        reduce(family_model(name), inputs, allocator=tokens.REDUCERS[method](), budget=3)
