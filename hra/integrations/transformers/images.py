"""Pictures that a model's encoder sees, and its inputs for other pictures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.image_processing_utils import BaseImageProcessor

from hra.domains.tokens.embedding.pictures import load_if_path
from hra.domains.tokens.pyramid.downsample import resize
from hra.errors import ArrayError
from hra.files.images.arrays import as_image
from hra.integrations.transformers.layouts import Layout, merge_sizes

# Correlation of pictures that show the same at least; deviation of pictures that show something, and that show much.
_ALIKE, _BLANK, _MUCH = 0.9, 1e-3, 0.1
_PROBE = 256, 384  # pixels, as many as the least that a processor takes


def shown(model: Any, inputs: Mapping[str, Any], processor: Any, layout: Layout | None = None) -> list[Any]:
    """What each image, or tile of one, looks like to the encoder: float32 [H, W, 3] in [0, 1]; of videos all frames.

    Parameters
    ----------
    inputs : of the model's processor.
    layout : of the features, for models whose tiles are one picture or whose pictures have different sizes.
    processor : has ``image_mean`` and ``image_std``, or an ``image_processor`` that has them; where it has a
        ``video_processor``, that one states them of videos.

    Raises
    ------
    ArrayError : a processor without the two, pixels of an unknown layout, or a processor whose patches come in an
        unknown order.

    Examples
    --------
    >>> import torch
    >>> from types import SimpleNamespace
    >>> from hra.integrations.transformers import shown
    >>> plain = SimpleNamespace(image_mean=[0.5] * 3, image_std=[0.5] * 3)
    >>> pictures = shown(None, {"pixel_values": torch.zeros(1, 3, 28, 28)}, plain)
    >>> pictures[0].shape, float(pictures[0].max())
    ((28, 28, 3), 0.5)
    """
    normal = statistics(processor)
    check_order(model, inputs, processor)
    images = _images(model, inputs, layout) if inputs.get("pixel_values") is not None else []
    videos = _videos(model, inputs) if inputs.get("pixel_values_videos") is not None else []
    shown_images = [_coloured(image, normal) for image in images]
    if videos:
        normal = statistics(processor, "video")
    return [*shown_images, *([_coloured(frame, normal) for frame in video] for video in videos)]


def _coloured(picture: Tensor, normal: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Colours [H, W, 3] in [0, 1] of what was normalised."""
    mean, deviation = normal
    return np.clip(picture.permute(1, 2, 0).numpy() * deviation + mean, 0, 1).astype(np.float32)


def _images(model: Any, inputs: Mapping[str, Any], layout: Layout | None) -> list[Tensor]:
    """Each image or tile as the encoder gets it, [3, H, W]."""
    pixels, stated = inputs["pixel_values"].detach().float().cpu(), inputs.get("image_grid_thw")
    if stated is not None:
        blocks = [_block(pixels, merge) for merge in merge_sizes(model, inputs)]
        frames = _unpacked(pixels, stated.tolist(), blocks, model.config.vision_config)
        return [each[0] for each in frames]
    if layout is not None and inputs.get("image_sizes") is not None:
        return _sized(model, pixels, inputs["image_sizes"].tolist(), layout)
    if pixels.ndim in (4, 5):
        # Tiles of shorter prompts are padded by pictures of zeros, which the models leave out.
        tiles = pixels.reshape(-1, *pixels.shape[-3:])
        return [tile for tile in tiles if pixels.ndim == 4 or bool(tile.any())]
    what = f"pixel values of shape {tuple(pixels.shape)} are not pictures"
    raise ArrayError(what, where="pixel_values", fix="pass images=[...], one for each image or tile")


def cell_side(model: Any, inputs: Mapping[str, Any], layout: Layout) -> int:
    """Pixels along a side of a token, in the picture among what the encoder sees whose tokens have most."""
    sizes = (image.shape[-2] for image in _images(model, inputs, layout))
    return max(height // rows for height, (rows, _) in zip(sizes, layout.grids, strict=True))


def unlike(model: Any, inputs: Mapping[str, Any], pictures: Sequence[Any], layout: Layout) -> list[int]:
    """The numbers of the pictures that are not a stretched form of what the encoder sees: cropped, turned or others.

    They are compared by their brightness in 16 x 16 cells, whatever the normalisation; of videos the first and the last
    frames.
    """
    images = _images(model, inputs, layout) if inputs.get("pixel_values") is not None else []
    videos = _videos(model, inputs) if inputs.get("pixel_values_videos") is not None else []
    seen = [*([image] for image in images), *([video[0], video[-1]] for video in videos)]
    given = [[*one[:1], *one[-1:]] if isinstance(one, (list, tuple)) else [one] for one in pictures]
    return [
        number
        for number, pairs in enumerate(map(zip, given, seen))
        if any(
            _differ(_cells(as_image(load_if_path(one))), _cells(tensor.permute(1, 2, 0).numpy()))
            for one, tensor in pairs
        )
    ]


def _differ(given: np.ndarray, seen: np.ndarray) -> bool:
    low, high = sorted((given.std(), seen.std()))
    return bool(high > _MUCH if low < _BLANK else np.corrcoef(given, seen)[0, 1] < _ALIKE)


def _cells(pixels: np.ndarray) -> np.ndarray:
    """Means [256] of 16 x 16 samples in each of 16 x 16 cells: a page's brightness to a hundredth."""
    rows, columns = (((np.arange(256) + 0.5) * side / 256).astype(np.int64) for side in pixels.shape[:2])
    return pixels[rows[:, None], columns].reshape(16, 16, 16, 48).mean(axis=(1, 3)).ravel()


def _videos(model: Any, inputs: Mapping[str, Any]) -> list[Tensor]:
    """The frames of each video as the encoder gets them, [T, 3, H, W]."""
    pixels, stated = inputs["pixel_values_videos"].detach().float().cpu(), inputs.get("video_grid_thw")
    if stated is None:
        return list(pixels)
    return _unpacked(pixels, stated.tolist(), merge_sizes(model, inputs, "video"), model.config.vision_config)


def statistics(processor: Any, kind: str = "image") -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation by which a processor normalises colours of images, or of each "video", [3] each."""
    images = getattr(processor, "image_processor", processor)
    source = getattr(processor, "video_processor", images) if kind == "video" else images
    mean, deviation = getattr(source, "image_mean", None), getattr(source, "image_std", None)
    if mean is None or deviation is None:
        what = "the processor does not state how it normalised the colours"
        fix = "pass images=[...], one for each image or tile, or processor= with image_mean and image_std"
        raise ArrayError(what, where="processor", fix=fix)
    return np.asarray(mean, np.float64), np.asarray(deviation, np.float64)


def as_inputs(model: Any, inputs: Mapping[str, Any], picture: np.ndarray, processor: Any) -> dict[str, Tensor]:
    """The encoder's inputs for one picture float32 [h, w, 3].

    Encoders of any size see it at its own, up to a multiple of their patches; others at the one size that they know.
    Processors of an unknown order are not refused here: see `check_order`.
    """
    mean, deviation = statistics(processor)
    pixels = inputs["pixel_values"]
    packed = inputs.get("image_grid_thw") is not None
    config, merge = model.config.vision_config, merge_sizes(model, inputs)[0] if packed else 1
    size = _packed_size(picture, config.patch_size * merge) if packed else tuple(pixels.shape[-2:])
    normal = (resize(picture, size) - mean) / deviation
    tensor = torch.as_tensor(normal.astype(np.float32)).permute(2, 0, 1).to(pixels)
    if packed:
        made = _packed(tensor, _block(pixels, merge), config)
        made["pixel_values"] = made["pixel_values"].reshape(-1, *pixels.shape[1:])
        stated = inputs.get("image_merge_sizes")
        return made if stated is None else {**made, "image_merge_sizes": stated[:1]}
    return {"pixel_values": tensor.reshape(*(1,) * (pixels.ndim - 3), *tensor.shape)}


def _packed_size(picture: np.ndarray, unit: int) -> tuple[int, int]:
    height, width = (max(1, round(side / unit)) * unit for side in picture.shape[:2])
    return height, width


def _block(pixels: Tensor, merge: int) -> int:
    """Patches along a side of the blocks that follow each other: those that are merged.

    Where patches keep their axes, [N, 3, h, w], it is 1: the model merges them out of whole rows (PaddleOCR-VL).
    """
    return 1 if pixels.ndim == 4 else merge


def check_order(model: Any, inputs: Mapping[str, Any], stated: Any) -> None:
    """Refuse processors that pack patches in an order that is not known: they are given a ramp of colours.

    That takes 20 to 40 ms, so that it is done once for all pictures.
    """
    processor: Any = getattr(stated, "image_processor", stated)
    packed = inputs.get("image_grid_thw") is not None
    if not packed or not isinstance(processor, BaseImageProcessor):  # or one that only states how it normalises
        return
    mean, deviation = statistics(processor)
    rows, columns = np.indices(_PROBE) / np.reshape(_PROBE, (2, 1, 1))
    made: Any = processor([(255 * np.stack([rows, columns, rows], axis=2)).astype(np.uint8)], return_tensors="pt")
    ramp = _images(model, made, None)[0].permute(1, 2, 0).numpy() * deviation + mean
    height, width = ramp.shape[:2]
    expected = np.moveaxis(np.indices((height, width)) / np.reshape((height, width), (2, 1, 1)), 0, 2)
    # Half a patch: less than any two that changed places differ by, more than what resampling changes.
    if np.abs(ramp[..., :2] - expected).max() > model.config.vision_config.patch_size / 2 / max(height, width):
        what = f"{type(processor).__name__} packs patches in an order that is not known here"
        raise ArrayError(what, where="processor", fix='pass images=[...], and no realize="encode"')


def _packed(picture: Tensor, block: int, config: Any) -> dict[str, Tensor]:
    """A picture [3, H, W] as rows of patches, blocks of ``block`` x ``block`` patches one by one, twice in time."""
    patch, time = config.patch_size, getattr(config, "temporal_patch_size", 1)
    rows, columns = picture.shape[1] // patch, picture.shape[2] // patch
    blocks = picture.reshape(3, rows // block, block, patch, columns // block, block, patch)
    ordered = blocks.permute(1, 4, 2, 5, 0, 3, 6).reshape(rows * columns, 3, 1, patch, patch)
    packed = ordered.expand(-1, -1, time, -1, -1).reshape(rows * columns, -1)
    return {"pixel_values": packed, "image_grid_thw": torch.tensor([[1, rows, columns]], device=picture.device)}


def _unpacked(pixels: Tensor, grids: list[list[int]], blocks: list[int], config: Any) -> list[Tensor]:
    """The frames [T, 3, H, W] of rows of patches; see `_packed`."""
    patch, time = config.patch_size, getattr(config, "temporal_patch_size", 1)
    pictures, start = [], 0
    for (steps, rows, columns), block in zip(grids, blocks, strict=True):
        part = pixels[start : start + steps * rows * columns]
        patches = part.reshape(steps, rows // block, columns // block, block, block, 3, time, patch, patch)
        ordered = patches.permute(0, 6, 5, 1, 3, 7, 2, 4, 8)
        pictures.append(ordered.reshape(steps * time, 3, rows * patch, columns * patch))
        start += steps * rows * columns
    return pictures


def _sized(model: Any, pixels: Tensor, sizes: list[list[int]], layout: Layout) -> list[Tensor]:
    """What each grid shows [3, h, w]: a picture without its padding, or an image small and its tiles as one picture."""
    if not hasattr(model.base_model, "pack_image_features"):
        return [picture[:, :height, :width] for picture, (height, width) in zip(pixels, sizes, strict=True)]
    module, config = sys.modules[type(model.base_model).__module__], model.base_model.config
    pictures, side = [], config.vision_config.image_size
    for tiles, size, grids in zip(pixels, sizes, layout.images[: len(sizes)], strict=True):  # then come videos
        pictures.append(tiles[0])
        if len(grids) > 1:
            rows, columns = module.get_anyres_image_grid_shape(size, config.image_grid_pinpoints, side)
            fine = tiles[1 : 1 + rows * columns].reshape(rows, columns, 3, side, side)
            whole = fine.permute(2, 0, 3, 1, 4).reshape(3, rows * side, columns * side)
            pictures.append(module.unpad_image(whole, size))
    return pictures
