"""A folder with a tiny LLaVA and its processor, as a published model has them, made without any download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.helpers.tiny_models import IMAGE, model_of

hf: Any = transformers
_WORDS = [
    "what",
    "is",
    "on",
    "the",
    "left",
    "right",
    "how",
    "many",
    "colour",
    "blue",
    "red",
    "two",
    "three",
    "of",
    "image",
    "?",
    "user",
    "assistant",
]
_TEMPLATE = (
    "{% for message in messages %}{{ message.role }} {% for part in message.content %}"
    "{% if part.type == 'image' %}<image> {% else %}{{ part.text }} {% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}assistant{% endif %}"
)


def processor() -> Any:
    """Of 8 x 8 visual tokens for each image."""
    known = {"<pad>": 0, "<s>": 1, "<unk>": 2, **{word: 3 + i for i, word in enumerate(_WORDS)}, "<image>": IMAGE}
    words = Tokenizer(models.WordLevel(known, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", bos_token="<s>", unk_token="<unk>",
        additional_special_tokens=["<image>"], extra_special_tokens={"image_token": "<image>"},
    )  # fmt: skip
    sizes = {"height": 112, "width": 112}
    images = hf.CLIPImageProcessor(size=sizes, crop_size=sizes, do_center_crop=False)
    return hf.LlavaProcessor(
        images, tokenizer, patch_size=14, vision_feature_select_strategy="default", chat_template=_TEMPLATE,
        num_additional_image_tokens=1,
    )  # fmt: skip


def save(folder: Path) -> Path:
    """The folder."""
    model_of("llava").save_pretrained(folder)
    processor().save_pretrained(folder)
    return folder
