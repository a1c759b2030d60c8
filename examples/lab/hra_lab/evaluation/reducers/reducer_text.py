"""What the page about reducers says."""

from __future__ import annotations

from hra_lab.templates import template

NEEDS = {
    "": "features",
    "attention": "features and attention of the encoder's next-to-last layer (of Qwen's the last that sees all)",
    "joint": "features and attention of the encoder's last layer, all heads in one",
    "flow": "attention and values of all layers of the encoder, with a class token (CLIP and InternViT)",
    "pixels": "pixels alone",
    "text": "features and embeddings of the question",
    "language": "features, and two layers of the language model once more",
}

PAGE = template(__package__, "reducer_text.page.txt")
