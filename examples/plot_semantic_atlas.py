"""A semantic atlas: regions in place of patches, each with tokens by its importance.

Run ``python examples/plot_semantic_atlas.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image, psnr, save_png

QUESTION = "What is the flower on the left?"
METHODS = {
    "atlas, in proportion": tokens.SemanticAtlas(),
    "atlas, 91 x 3": tokens.SemanticAtlas(allocation="fixed"),
    "atlas, tiers of 15, 5 and 1": tokens.SemanticAtlas(allocation="tiers"),
    "tree, certified": tokens.SemanticTree(),
}


def main(folder: Path) -> None:
    """Outlines of the cells, and the image that their tokens alone give back."""
    folder.mkdir(parents=True, exist_ok=True)
    image, panels = load_image(samples.path("photo.jpg")), []
    for name, method in METHODS.items():
        allocation = method.allocate((image, QUESTION), 273)
        chosen = method.realize(allocation)
        rebuilt = chosen.reconstruct()
        decibels = f"{len(chosen)} tokens, {psnr(rebuilt, image):.1f} dB, {allocation.status}"
        print(f"{name}: {decibels}")
        panels.append(tokens.Panel((tokens.overlay(image, chosen), rebuilt), (name, decibels)))
    save_png(folder / "semantic_atlas.png", tokens.contact_sheet(panels))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
