"""Whether faint print is found and read: python examples/lab/scripts/measure_faint.py IMAGES GOLD [STEP].

The images of a gold file (see `hra_lab.inputs.gold`), every STEP-th of them, as they are and as pages whose ink is some
per cent darker than grey paper, in uneven light and with grain. Of the answers: whether a line lies over the box, and
whether it says the answer; and processor seconds of a page.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.page_lines import page_lines
from hra_lab.inputs.gold import Gold, read_gold

_CASES = {"as it is": None, "0.3": (0.3, 0.0), "0.15": (0.15, 0.01), "0.08": (0.08, 0.01)}
_PAPER, _SHADE = 0.8, 0.08


def faded(image: np.ndarray, contrast: float, grain: float, seed: int) -> np.ndarray:
    """The image on grey paper, eight bits deep."""
    height, width = image.shape[:2]
    shade = _SHADE * np.linspace(-1, 1, width)[None, :, None] * np.linspace(-0.5, 1, height)[:, None, None]
    noise = grain * np.random.default_rng(seed).standard_normal((height, width, 1))
    grey = _PAPER + contrast * (image - np.median(image)) + shade + noise
    return (np.round(255 * np.clip(grey, 0, 1)) / 255).astype(np.float32)


def over(line: TextLine, gold: Gold) -> bool:
    """Whether a line covers most of one of the answer's boxes."""
    x0, y0, x1, y1 = line.box
    return any(
        min(x1, box[2]) - max(x0, box[0]) > 0.5 * (box[2] - box[0])
        and min(y1, box[3]) - max(y0, box[1]) > 0.5 * min(box[3] - box[1], y1 - y0)
        for box in gold.boxes
    )


def _plain(text: str | None) -> str:
    return (text or "").lower().replace(" ", "")


def main(images: Path, file: Path, step: int = 1) -> None:
    """Print one row for each kind of print."""
    pages: dict[Path, list[Gold]] = {}
    for gold in read_gold(images, file):
        pages.setdefault(gold.file, []).append(gold)
    chosen = list(pages.values())[::step]
    print("| contrast of ink | found | read | seconds of a page |\n| --- | ---: | ---: | ---: |")
    for name, case in _CASES.items():
        found, read, took = [], [], 0.0
        for number, asked in enumerate(chosen):
            image = asked[0].image()
            image = image if case is None else faded(image, *case, number)
            started = time.process_time()
            lines = page_lines(image).lines
            took += time.process_time() - started
            for gold in asked:
                mine = [line for line in lines if over(line, gold)]
                found.append(bool(mine))
                read.append(any(_plain(gold.answer) in _plain(line.text) for line in mine))
        print(f"| {name} | {np.mean(found):.2f} | {np.mean(read):.2f} | {took / len(chosen):.2f} |")
    print(f"\n{len(chosen)} pages, {len(found)} answers.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("step", type=int, nargs="?", default=1)
    chosen = parser.parse_args()
    main(chosen.images, chosen.gold, chosen.step)
