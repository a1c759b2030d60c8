"""A token bank: one budget for several images, and each gets what it needs.

Run ``python examples/plot_token_bank.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import tokens
from hra.files.images import load_image

EACH = 100


def images():
    """Four squares of 768 pixels: a flower, a page, the sea and a plain grey."""
    photo, page, earth = (load_image(samples.path(name)) for name in ("photo.jpg", "page.png", "earth.jpg"))
    return {
        "flower": photo[100:868, 100:868],
        "page": page[:768, :768],
        "sea": earth[900:1668, 300:1068],
        "grey": np.full((768, 768, 3), 0.5, np.float32),
    }


def main(folder: Path) -> None:
    """The same total, dealt out evenly and by one price."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures, allocator = images(), tokens.EvenPyramid()
    contexts = [allocator.context(image, "") for image in pictures.values()]
    pool = hra.pool(*[allocator] * len(contexts), traversal=hra.Hull(spend_all=True))
    banked = pool.allocate(contexts, EACH * len(contexts))
    evenly = [allocator.allocate(context, EACH) for context in contexts]
    figure = Figure(figsize=(15, 8), layout="constrained")
    rows = figure.subplots(2, len(contexts), subplot_kw={"xticks": [], "yticks": []})
    for row, allocations, rule in zip(rows, (evenly, banked.members), ("evenly", "bank"), strict=True):
        for axes, allocation, (name, image) in zip(row, allocations, pictures.items(), strict=True):
            axes.imshow(tokens.overlay(image, allocator.realize(allocation)))
            axes.set_title(f"{rule}, {name}: {allocation.cost:.0f} tokens")
        left = sum(allocation.residual for allocation in allocations)
        counts = [int(allocation.cost) for allocation in allocations]
        print(f"{rule}: {counts} tokens, {sum(counts)} in all, residual {left:.4f}")
    figure.savefig(folder / "token_bank.png", dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
