"""An anisotropic budget: tokens by direction and scale, where a question asks for text, or for towers.

Run ``python examples/plot_anisotropic_tokens.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from hra.domains import tokens

BUDGET, QUESTIONS = 150, ("anything", "what does the text say?", "which tower is highest?")


def stripes():
    """Upright stripes on the left, lying ones on the right, slanted ones below: float32 [512, 512, 3]."""
    y, x = np.mgrid[0:512, 0:512]
    waves = np.where(x < 256, np.sin(x / 1.5), np.sin(y / 1.5))
    waves = np.where(y > 340, np.sin((x + y) / 2), waves)
    return np.repeat((0.5 + 0.4 * waves)[..., None], 3, axis=2).astype(np.float32)


def spoken(direction):
    """The direction of a band's edges."""
    return "every direction" if direction is None else f"{direction:.0f} degrees"


def main(folder: Path) -> None:
    """What 150 tokens give back for each question, and how many tokens each direction gets."""
    folder.mkdir(parents=True, exist_ok=True)
    image, method = stripes(), tokens.FrequencyAware(tokens.UniformRelevance())
    figure = Figure(figsize=(13, 7), layout="constrained")
    for column, question in zip(figure.subplots(2, len(QUESTIONS)).T, QUESTIONS, strict=True):
        chosen = method.realize(method.allocate((image, question), BUDGET))
        directions = [band.direction for band in chosen.frame.bands(image.shape[:2], chosen.patch)]
        counted = Counter(spoken(directions[band]) for band in sorted(chosen.places[:, 0]))
        column[0].imshow(chosen.reconstruct())
        column[0].set_title(f"{question!r}, {len(chosen)} tokens")
        column[0].axis("off")
        column[1].barh(list(counted), list(counted.values()))
        print(f"{question!r}: {dict(counted)}")
    figure.savefig(folder / "anisotropic_tokens.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
