"""Merged tokens: 2 x 2 patches are one token, up to one for the whole image; one tree serves a batch of images.

Run ``python examples/build_a_hierarchy_of_tokens.py [FOLDER] [IMAGES]`` (default: out 8); 64 images take 2 GiB. One of
them, as the tokens of three budgets show it, is written to FOLDER.
"""

import sys
import time
from pathlib import Path

import numpy as np

import hra
from hra import samples
from hra.files.images import load_image, save_png
from hra.kernels.trees import grid_tree, reduce_up

SIDE, PATCH = 64, 16  # 4096 tokens of width 16 * 16 * 3 = 768


def shown(tokens: np.ndarray) -> np.ndarray:
    """Tokens [4096, 768] as the picture that they were cut from, [1024, 1024, 3]."""
    return tokens.reshape(SIDE, SIDE, PATCH, PATCH, 3).swapaxes(1, 2).reshape(SIDE * PATCH, SIDE * PATCH, 3)


if __name__ == "__main__":
    folder, images = Path(sys.argv[1] if len(sys.argv) > 1 else "out"), int(sys.argv[2] if len(sys.argv) > 2 else 8)
    folder.mkdir(parents=True, exist_ok=True)
    photo, rng = load_image(samples.path("photo.jpg")), np.random.default_rng(0)
    tokens = np.empty((images, SIDE * SIDE, PATCH * PATCH * 3), np.float32)
    for image in tokens:
        y, x = rng.integers(0, np.array(photo.shape[:2]) - SIDE * PATCH)
        part = photo[y : y + SIDE * PATCH, x : x + SIDE * PATCH].reshape(SIDE, PATCH, SIDE, PATCH, 3)
        image[:] = part.swapaxes(1, 2).reshape(image.shape)

    tree, start = grid_tree(SIDE, SIDE), time.perf_counter()
    merged = reduce_up(tree, tokens, "mean")
    print(f"{tokens.shape} merged to {merged.shape} in {time.perf_counter() - start:.2f} s")

    # The squared distance of the tokens below a node to their mean: the sum of their squares less that of the mean's.
    squares = np.einsum("bnc,bnc->bn", merged, merged).astype(np.float64)
    count = reduce_up(tree, np.ones((SIDE * SIDE, 1)), "sum")[:, 0]
    error = (reduce_up(tree, squares[:, tree.leaf, None], "sum")[..., 0] - count * squares).clip(0)
    hierarchy = hra.Hierarchy.tree(tree.parent, np.ones(len(tree)), cost_unit="tokens")
    (first, added), split = hierarchy.added_nodes, hierarchy.removed_nodes[1]
    gain = (error[:, split] - np.add.reduceat(error[:, added], first[:-1], axis=1)).clip(0)
    for budget in (64, 273, 1024):
        allocation = hra.allocate_batch(hierarchy, gain, budget)
        left = 1 - (allocation.gain / error[:, 0]).mean()
        print(f"{budget} tokens: {allocation.cost.max():.0f} used, {100 * left:.1f} % of the variance is lost")
        active, owner = hierarchy.active_nodes(allocation.selected[0]), np.arange(len(tree))
        for begin, end in tree.levels[1:]:
            owner[begin:end] = np.where(active[begin:end], owner[begin:end], owner[tree.parent[begin:end]])
        save_png(folder / f"tokens_{budget}.png", shown(merged[0, owner[tree.leaf]]))
