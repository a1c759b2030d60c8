"""A vision-language model of random weights, and a prompt for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hra.caching import cached_property

_IMAGE = 3
_TEXT = 48


@dataclass(frozen=True)
class Sizes:
    """Of a model of the LLaVA kind: an encoder like CLIP's, a connector, and a language model like Llama's."""

    side: int
    encoder: tuple[int, int]
    language: tuple[int, int]
    words: int


MIDDLE = Sizes(side=336, encoder=(384, 8), language=(1024, 8), words=8_000)
FULL = Sizes(side=448, encoder=(512, 8), language=(1024, 12), words=32_000)
SMALL = Sizes(side=140, encoder=(32, 2), language=(64, 2), words=100)


@dataclass(frozen=True)
class Subject:
    """A model and a prompt with pictures, one behind the other."""

    sizes: Sizes
    pictures: int = 1

    @cached_property
    def config(self) -> Any:
        """The configuration."""
        from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig

        (wide, deep), (width, layers) = self.sizes.encoder, self.sizes.language
        vision = CLIPVisionConfig(
            hidden_size=wide,
            intermediate_size=4 * wide,
            num_hidden_layers=deep,
            num_attention_heads=max(2, wide // 64),
            image_size=self.sizes.side,
            patch_size=14,
        )
        text = LlamaConfig(
            hidden_size=width,
            intermediate_size=11 * width // 4,
            num_hidden_layers=layers,
            num_attention_heads=max(2, width // 64),
            vocab_size=self.sizes.words,
            eos_token_id=None,
        )
        named: dict[str, Any] = {"image_token_id": _IMAGE}  # an alias, which the class does not declare
        return LlavaConfig(vision_config=vision, text_config=text, **named)

    @cached_property
    def model(self) -> Any:
        """The model, in float32."""
        import torch
        from transformers import LlavaForConditionalGeneration

        torch.manual_seed(0)
        return LlavaForConditionalGeneration(self.config).eval()

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """What a processor would return."""
        import torch

        generator = torch.Generator().manual_seed(0)
        words = torch.randint(4, self.sizes.words, (_TEXT,), generator=generator).tolist()
        ids = torch.tensor([words[:4] + [_IMAGE] * self.visual + words[4:]])
        pixels = torch.randn(self.pictures, 3, self.sizes.side, self.sizes.side, generator=generator)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": pixels}

    @property
    def visual(self) -> int:
        """Visual tokens of all pictures."""
        return self.pictures * (self.sizes.side // 14) ** 2

    @property
    def text(self) -> int:
        """All other tokens of the prompt."""
        return _TEXT

    @cached_property
    def parameters(self) -> int:
        """Numbers in the model."""
        return sum(each.numel() for each in self.model.parameters())
