"""Tokens of videos: boxes of frames, rows and columns beside what keeps single patches, at the same counts.

Run ``python examples/plot_video_tokens.py [FOLDER]``; the picture is written there (default: out). Where a rule keeps
no patch at a place, the last one that it kept there is shown, or the next one, or grey.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image

FRAMES, HEIGHT, WIDTH, PATCH, COUNTS = 8, 192, 256, 16, (96, 192, 384)  # a frame has 192 patches
RULES = {
    "tree": tokens.PyramidSampling(tokens.UniformRelevance(), patch=PATCH),
    "evs": tokens.REDUCERS["evs"](patch=PATCH),
    "uniform": tokens.UniformGrid(tokens.UniformRelevance(), patch=PATCH),
    "random": tokens.Random(patch=PATCH),
}


def clips():
    """A camera that stands before a page while a piece of a flower goes by, and one that pans over the page."""
    photo, page = (load_image(samples.path(name)) for name in ("photo.jpg", "page.png"))
    stands = np.repeat(page[None, 200 : 200 + HEIGHT, 100 : 100 + WIDTH], FRAMES, axis=0)
    for t, frame in enumerate(stands):
        frame[70:130, 20 + 22 * t : 80 + 22 * t] = photo[300:360, 300:360]
    pans = [page[200 : 200 + HEIGHT, 100 + 4 * t : 100 + 4 * t + WIDTH] for t in range(FRAMES)]
    return {"camera stands": list(stands), "camera pans": pans}


def shown(chosen):
    """The video [T, H, W, 3] that tokens show."""
    if hasattr(chosen, "cells"):
        return chosen.reconstruct().reshape(FRAMES, HEIGHT, WIDTH, 3)
    rows, columns = HEIGHT // PATCH, WIDTH // PATCH
    result = np.full((FRAMES, rows, columns, PATCH, PATCH, 3), 0.5, np.float32)
    _, x, stacked = chosen.places.T
    kept = np.full(result.shape[:3], -1)
    kept[stacked // rows, stacked % rows, x] = np.arange(len(chosen))
    for frames in (range(FRAMES - 2, -1, -1), range(1, FRAMES)):  # the next one first, so that the last one wins
        step = 1 if frames.step < 0 else -1
        filled = kept.copy()
        for t in frames:
            filled[t] = np.where(filled[t] < 0, filled[t + step], filled[t])
        result[filled >= 0] = chosen.values.reshape(-1, PATCH, PATCH, 3)[filled[filled >= 0]]
    return result.transpose(0, 1, 3, 2, 4, 5).reshape(FRAMES, HEIGHT, WIDTH, 3)


def main(folder: Path) -> None:
    """Mean squared errors of all rules, clips and counts, and a frame of each at 192 tokens."""
    figure = Figure(figsize=(16, 6), layout="constrained")
    axes = figure.subplots(2, 1 + len(RULES), subplot_kw={"xticks": [], "yticks": []})
    for row, (name, frames) in zip(axes, clips().items(), strict=True):
        row[0].imshow(frames[5])
        for place, (rule, allocator) in zip(row[1:], RULES.items(), strict=True):
            context, errors = allocator.context(frames, ""), {}
            for count in COUNTS:
                video = shown(allocator.realize(allocator.allocate(context, count)))
                errors[count] = 1000 * float(((video - np.stack(frames)) ** 2).mean())
                if count == COUNTS[1]:
                    place.imshow(video[5].clip(0, 1))
                    place.set_title(f"{rule}: {errors[count]:.3g}")
            print(f"{name}, {rule}:", ", ".join(f"{count} tokens {error:.3g}" for count, error in errors.items()))
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "video_tokens.png", dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
