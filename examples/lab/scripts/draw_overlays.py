"""Draw where the tokens of questions go: python examples/lab/scripts/draw_overlays.py IMAGES GOLD OUT.png [WORD ...]

Of every image whose name has one of the words (all without any) the first question: patches by relevance, red, over the
page, the edges of the 64 tokens of a pyramid that are finest, and the answer's box, green. Sheets of 12.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from hra.domains import tokens
from hra_lab.inputs.gold import Gold, read_gold

_BUDGET, _WIDTH, _COLUMNS, _SHEET = 64, 420, 4, 12


def panel(gold: Gold) -> Image.Image:
    """One page, its question, what it was served by and how surely."""
    allocator = tokens.PyramidSampling(tokens.PhraseRelevance(read=True))
    context = allocator.context(gold.image(), gold.question)
    chosen = allocator.realize(allocator.allocate(context, _BUDGET))
    heat = np.sqrt(context.relevance / context.relevance.max())[..., None].repeat(16, 0).repeat(16, 1)
    height, width = context.image.shape[:2]
    mixed = context.image * (1 - 0.5 * heat[:height, :width]) + np.array([0.5, 0, 0]) * heat[:height, :width]
    page = Image.fromarray(np.round(255 * mixed.clip(0, 1)).astype(np.uint8))
    draw = ImageDraw.Draw(page)
    for box, detail in zip(chosen.boxes.tolist(), chosen.detail, strict=True):
        if detail <= 1:
            draw.rectangle(box, outline=(30, 60, 220), width=2)
    for box in gold.boxes[:1]:
        draw.rectangle([box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3], outline=(0, 160, 0), width=3)
    page = page.resize((_WIDTH, round(height * _WIDTH / width))).crop((0, 0, _WIDTH, int(1.4 * _WIDTH)))
    made = Image.new("RGB", (_WIDTH + 8, page.height + 30), "white")
    made.paste(page, (0, 28))
    served = context.served
    sure = "" if served.confidence is None else f", {served.confidence:.2f}"
    ImageDraw.Draw(made).text((2, 1), f"{gold.question[:66]}\n{gold.answer[:40]} ({served.by}{sure})", fill="black")
    return made


def main(images: Path, file: Path, out: Path, words: list[str]) -> None:
    """Draw one question of each image."""
    first: dict[Path, Gold] = {}
    for gold in read_gold(images, file):
        if not words or any(word in gold.file.name for word in words):
            first.setdefault(gold.file, gold)
    panels = [panel(gold) for gold in first.values()]
    for number in range(0, len(panels), _SHEET):
        shown = panels[number : number + _SHEET]
        high = max(one.height for one in shown)
        sheet = Image.new("RGB", (_COLUMNS * (_WIDTH + 8), -(-len(shown) // _COLUMNS) * high), "white")
        for place, one in enumerate(shown):
            sheet.paste(one, (place % _COLUMNS * (_WIDTH + 8), place // _COLUMNS * high))
        sheet.quantize(64).save(out.with_stem(f"{out.stem}-{number // _SHEET}" if len(panels) > _SHEET else out.stem))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("images", "gold", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("words", nargs="*")
    chosen = parser.parse_args()
    main(chosen.images, chosen.gold, chosen.out, chosen.words)
