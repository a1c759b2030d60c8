"""What regions are compared by: colour and texture, or features of an encoder, pooled over regions.

And how important regions are to a query.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.channels.color import color_channels
from hra.domains.tokens.channels.gradient import gradient_channels
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.region_tree import run_end
from hra.files.images.arrays import luma

_STEPS = 100.0  # black to white, as in CIELAB: the scale on which areas / 10,000 are small against colours


def colours(context: TokenContext) -> np.ndarray:
    """Mean luma and colour opponents of every finest patch, from 0 to 100: float32 [rows, columns, 3]."""
    channels = color_channels(context.pyramid.image, context.pyramid.patch)
    return np.float32(_STEPS) * np.stack(list(channels.values()), axis=-1).astype(np.float32)


def gradients(context: TokenContext) -> dict[str, np.ndarray]:
    """`gradient_channels` of every finest patch, computed once for an image: by name, float32 [rows, columns]."""
    image, patch = context.pyramid.image, context.pyramid.patch
    return context.pyramid.once((gradients, "of patches"), lambda: gradient_channels(luma(image)[..., 0], patch))


def textures(context: TokenContext) -> np.ndarray:
    """Mean gradient and standard deviation of the luma of every finest patch, 0 to 100: float32 [rows, columns, 2]."""
    channels = gradients(context)
    return np.float32(_STEPS) * np.stack([channels["edges"], channels["contrast"]], axis=-1).astype(np.float32)


def visual_features(context: TokenContext) -> np.ndarray:
    """The encoder's features, float32 [rows, columns, D]; without an encoder colour and texture, less their means."""
    if context.encoder is not None:
        return context.features
    described = np.concatenate([colours(context), textures(context)], axis=-1)
    return described - described.mean(axis=(0, 1))


def pool_patches(features: np.ndarray, labels: np.ndarray, count: int, patch: int) -> np.ndarray:
    """Mean feature of every region, each patch weighted by the pixels that it shares with the region.

    Parameters
    ----------
    features : float [rows, columns, D], of the finest patches.
    labels : int32 [H, W], the region 0 .. count - 1 of each pixel, -1 for none.

    Returns
    -------
    float64 [count, D]; 0 for a region without pixels.
    """
    total, area = _pool(np.ascontiguousarray(features, np.float64), labels, count, patch)
    return total / np.maximum(area, 1)[:, None]


@njit(cache=True, nogil=True)
def _pool(features, labels, count, patch):
    height, width = labels.shape
    total, area = np.zeros((count, features.shape[2])), np.zeros(count)
    found, shared = np.empty(patch * patch, np.int32), np.zeros(count)
    for row in range(features.shape[0]):
        for column in range(features.shape[1]):
            number = 0
            for y in range(row * patch, min((row + 1) * patch, height)):
                x, limit = column * patch, min((column + 1) * patch, width)
                while x < limit:
                    end, region = run_end(labels[y], x, limit), labels[y, x]
                    if region >= 0:
                        if shared[region] == 0:
                            found[number] = region
                            number += 1
                        shared[region] += end - x
                    x = end
            for region in found[:number]:
                area[region] += shared[region]
                for k in range(features.shape[2]):
                    total[region, k] += shared[region] * features[row, column, k]
                shared[region] = 0
    return total, area


_QUERY, _GRADIENT = 0.6, 0.4


def importance(context: TokenContext) -> np.ndarray:
    """0.6 relevance + 0.4 gradient saliency of every finest patch, each divided by its largest value.

    With a relevance that is the cosine of query and patch, this is 0.6 cosine + 0.4 saliency; the saliency is the mean
    length of the luma gradient.

    Returns
    -------
    float64 [rows, columns] in [0, 1].
    """
    edges = gradients(context)["edges"].astype(np.float64)
    relevance = context.relevance
    return _QUERY * relevance / relevance.max() + _GRADIENT * edges / max(float(edges.max()), 1 / 255)
