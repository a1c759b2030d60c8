"""Fewer visual tokens in a vision-language model: what each budget keeps, costs and answers.

Run ``python examples/vlm_tokens.py [FOLDER]``; a plot is written there (default: out).
Of random weights; a real model is ``AutoModelForImageTextToText.from_pretrained(NAME)``, with its processor's inputs.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image
from hra.integrations.transformers import CostModel, reduce

IMAGE_TOKEN, CELLS = 99, 256


def tiny_model() -> Any:
    """A model of the LLaVA kind: 16 x 16 visual tokens of a picture of 224 x 224 pixels."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
    }
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=224, patch_size=14, **sizes),
        text_config=LlamaConfig(vocab_size=100, eos_token_id=None, **sizes),
        image_token_id=IMAGE_TOKEN,  # pyright: ignore[reportCallIssue]: not in its types
    )
    return LlavaForConditionalGeneration(config).eval()


def draw(folder: Path, image: np.ndarray, counting: CostModel) -> None:
    """What budgets show of the photo, and what a prompt with so many tokens costs the language model."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(14, 3.4), layout="constrained")
    *shown, curve = figure.subplots(1, 4)
    for axes, budget in zip(shown, (16, 64, 256), strict=True):
        method = tokens.PyramidSampling(tokens.UniformRelevance())
        axes.imshow(method.realize(method.allocate((image, ""), budget)).reconstruct())
        axes.set(title=f"{budget} tokens of the photo", xticks=[], yticks=[])
    budgets = np.arange(16, CELLS + 1, 16)
    curve.plot(budgets, [counting.cost(text=5, tokens=int(budget)).prefill / 1e6 for budget in budgets])
    curve.set(xlabel="visual tokens", ylabel="million operations", title="prompt of the tiny model", ylim=0)
    figure.savefig(folder / "vlm_tokens.png", dpi=90)


if __name__ == "__main__":
    image = samples.path("photo.jpg")
    model = tiny_model()
    ids = torch.tensor([[1] + [IMAGE_TOKEN] * CELLS + [5, 8, 13, 21]])
    photo = torch.tensor(load_image(image)).permute(2, 0, 1)[None] * 2 - 1
    pixels = torch.nn.functional.interpolate(photo, (224, 224), mode="bilinear", antialias=True)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": pixels}
    counting = CostModel(model.config)
    whole = counting.cost(text=5)
    for budget in (16, 64, CELLS):
        for name, allocator in (("pyramid", tokens.PyramidSampling()), ("divprune", tokens.REDUCERS["divprune"]())):
            small = reduce(
                model, inputs, allocator=allocator, budget=budget, images=[image], query="what is on the left?"
            )
            answer = model.generate(**small.inputs, max_new_tokens=6, do_sample=False)[0, -6:].tolist()
            saved = whole.prefill / counting.cost(text=5, tokens=budget).prefill
            length = small.prompt["input_ids"].shape[1]
            print(f"{name:8} {small.counts[0]:4} visual tokens, prompt {length:4}, prefill / {saved:4.1f}, {answer}")
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "out"), load_image(image), counting)
