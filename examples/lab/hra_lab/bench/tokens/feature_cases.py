"""Features and regions of one image, beside what others compute them with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.methods.regions.agglomeration import Linkage, agglomerate
from hra.errors import needs
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels.checks import require
from hra_lab.bench.kernels.peers import gather, require_host
from hra_lab.bench.tokens.inputs import Scored, scored_images

REGIONS = 91
# Both merge the closest pair first; rounding may break ties the other way.
_VARIANCE_SLACK = 1.01


def features(side: int, device: Device) -> Case:
    """The channels of `texture_array` of every finest patch."""
    require_host(device)
    inputs = scored_images(1, side)
    others, absent = gather(device, {"scikit-image": _basic_features})
    image = inputs(0)[0].context.pyramid.image

    def own(batch: list[Scored]) -> np.ndarray:
        return tokens.texture_array(batch[0].context.pyramid.image).values

    def judge(batch: list[Scored], outputs: Mapping[str, np.ndarray]) -> dict[str, Gaps]:
        for name, values in outputs.items():
            require(name, values.ndim == 3 and bool(np.isfinite(values).all()), "not finite channels of every patch")
        return {}

    moved = image.nbytes + own(inputs(0)).nbytes
    return Case((Contender("hra", own), *others), inputs, judge, side * side, moved, absent)


def _basic_features(device: Device) -> Iterator[Contender]:
    """Intensity, edges and texture per pixel at several scales, which random-forest segmentation feeds on."""
    with needs("scikit-image", "tokens"):
        from skimage.feature import multiscale_basic_features

    def run(image: np.ndarray) -> np.ndarray:
        # Everything, with its default scales, in one thread: the name of that argument differs between versions.
        return multiscale_basic_features(image, True, True, True, 0.5, 16, None, 1, channel_axis=-1)

    yield Contender("scikit-image multiscale_basic_features", run, lambda batch: batch[0].context.pyramid.image)


def ward(side: int, device: Device) -> Case:
    """Ward's merges of neighbouring patches by their 768 pixel values, cut at 91 regions."""
    require_host(device)
    inputs = scored_images(1, side)
    patches = inputs(0)[0].patches
    rows = side // 16
    own = Contender("hra", partial(_merges, edges=_grid_edges(rows)), _given, read=partial(_labels, regions=REGIONS))
    others, absent = gather(device, {"scikit-learn": partial(_sklearn_ward, rows=rows), "scikit-image": _slic})
    return Case((own, *others), inputs, _judge_ward, len(patches), patches.nbytes, absent)


def _given(batch: list[Scored]) -> np.ndarray:
    return batch[0].patches


def _merges(patches: np.ndarray, edges: np.ndarray) -> np.ndarray:
    rows = np.pad(patches, ((0, 0), (0, 2)))
    return agglomerate(rows, np.ones(len(patches)), edges, Linkage.WARD)


def _grid_edges(rows: int) -> np.ndarray:
    place = np.arange(rows * rows).reshape(rows, rows)
    across = np.stack([place[:, :-1], place[:, 1:]], axis=-1).reshape(-1, 2)
    return np.concatenate([across, np.stack([place[:-1], place[1:]], axis=-1).reshape(-1, 2)])


def _labels(merges: np.ndarray, regions: int) -> np.ndarray:
    """The region of every leaf after all but the last ``regions - 1`` merges, [N]."""
    leaves = len(merges) + 1
    root = np.arange(2 * leaves - 1)
    for number in range(leaves - regions - 1, -1, -1):
        root[merges[number]] = root[leaves + number]
    return np.unique(root[:leaves], return_inverse=True)[1]


def _sklearn_ward(device: Device, *, rows: int) -> Iterator[Contender]:
    with needs("scikit-learn", "test"):
        from sklearn.cluster import AgglomerativeClustering
        from sklearn.feature_extraction.image import grid_to_graph
    clustering = AgglomerativeClustering(REGIONS, connectivity=grid_to_graph(rows, rows))
    yield Contender("scikit-learn Ward", lambda patches: clustering.fit(patches).labels_, _given)


def _slic(device: Device) -> Iterator[Contender]:
    with needs("scikit-image", "tokens"):
        from skimage.segmentation import slic
    run = partial(slic, n_segments=REGIONS, start_label=0)
    yield Contender("scikit-image SLIC", run, lambda batch: batch[0].context.pyramid.image)


def _judge_ward(batch: list[Scored], outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """91 regions, of no more variance than scikit-learn's; SLIC solves another problem and only has to have regions."""
    patches = batch[0].patches
    within = {name: _variance(patches, labels) for name, labels in outputs.items() if labels.ndim == 1}
    for name, labels in outputs.items():
        many = len(np.unique(labels))
        require(name, many == REGIONS if labels.ndim == 1 else many > 1, f"{many} regions")
    require("hra", within["hra"] <= _VARIANCE_SLACK * min(within.values()), f"variance {within['hra']:.4g}")
    return {}


def _variance(patches: np.ndarray, labels: np.ndarray) -> float:
    """Sum of squared distances of ``patches`` [N, D] from the means of their regions."""
    count = np.bincount(labels)
    means = np.zeros((count.size, patches.shape[1]))
    np.add.at(means, labels, patches)
    return float(((patches - (means / count[:, None])[labels]) ** 2).sum())
