"""One look-up, two domains: houses hidden behind a depth buffer, and patches of a photo that a question does not need.

Run ``python examples/plot_hiz_two_domains.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import hra
from hra.camera.occlusion import window_matrix
from hra.domains import tokens
from hra.files.images import load_image
from hra.kernels import build_pyramid, project_boxes, rect_max


def city():
    """Houses [K, 2, 3], the eye eight units above the ground."""
    x, z = np.mgrid[-28:28, 3:40].reshape(2, -1) * 6.0 + np.random.default_rng(1).uniform(-1, 1, (2, 56 * 37))
    height = np.random.default_rng(0).gamma(2, 3.0, x.size)
    return np.stack([np.stack([x - 2, 0 * x - 8, -z - 2], 1), np.stack([x + 2, height - 8, -z + 2], 1)], axis=1)


def draw_distances(boxes, rects, camera):
    """Distance of the nearest box behind every pixel, inf behind all: rays cut by the three slabs of each box."""
    width, height = camera.viewport
    distances, focal = np.full((height, width), np.inf), np.diag(camera.projection)
    for corners, (x0, y0, x1, y1) in zip(boxes[:, :, None, None], rects, strict=True):
        row, column = np.mgrid[y0 : y1 + 1, x0 : x1 + 1] + 0.5
        ray = [(2 * column / width - 1) / focal[0], (1 - 2 * row / height) / focal[1], -np.ones_like(row)]
        enter, leave = np.sort(corners / np.stack(ray, axis=-1), axis=0)
        hit = np.where(enter.max(axis=-1) <= leave.min(axis=-1), enter.max(axis=-1), np.inf)
        distances[y0 : y1 + 1, x0 : x1 + 1] = np.minimum(distances[y0 : y1 + 1, x0 : x1 + 1], hit)
    return distances


if __name__ == "__main__":
    camera = hra.Camera.perspective((0, 0, 0), (0, 0, -1), near=1, vertical_fov_degrees=40, viewport=(960, 540))
    rects, nearest = project_boxes(boxes := city(), window_matrix(camera), (540, 960))
    distances = draw_distances(boxes, rects, camera)
    hiz = build_pyramid((1 - 1 / distances).astype(np.float32)[..., None], "max")  # depth for a near plane at 1
    culled = (nearest > rect_max(hiz, rects, against=nearest)) & (rects[:, 0] <= rects[:, 2])
    image = load_image(hra.samples.path("photo.jpg"))
    scores = tokens.CueRelevance()(tokens.TokenContext.of(image, "What is the flower on the left?"))
    kept = tokens.prune_patches(tokens.relevance_pyramid(scores), threshold=0.25)  # calls rect_max, too
    print(title := f"{culled.sum():,} houses hidden, {np.sum(~kept):,} of {kept.size:,} patches pruned")
    figure = Figure(figsize=(15, 4.6), layout="constrained")
    figure.suptitle(title)
    left, right = figure.subplots(1, 2, subplot_kw={"xticks": [], "yticks": []})
    left.imshow(np.log(distances), cmap="gray")
    outlines = [Rectangle((x0, y0), x1 - x0, y1 - y0) for x0, y0, x1, y1 in rects[culled]]
    left.add_collection(PatchCollection(outlines, facecolor="none", edgecolor="#D55E00", linewidth=0.5))
    right.imshow(image * (0.25 + 0.75 * np.kron(kept, np.ones((16, 16)))[..., None]))
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "hiz_two_domains.png", dpi=110)
