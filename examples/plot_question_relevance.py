"""One page, two questions: the tokens go to where the answer stands (needs the extra ``ocr``).

Run ``python examples/plot_question_relevance.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from hra.domains import tokens

ROWS = [("Order no.", "7713-204"), ("Date", "14 Aug 2023"), ("Customer", "M. Okafor"), ("Apples", "11.25")]
ROWS += [("Walnuts", "32.18"), ("Honey", "27.40"), ("TOTAL", "70.83"), ("Paid by", "card")]
QUESTIONS = {"what is the total?": 6, "when was this?": 1, "who is the customer?": 2}


def receipt():
    """A page float32 [768, 768, 3], and the height at which each row begins."""
    sheet = Image.new("RGB", (768, 768), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(32)
    heights = [50 + 86 * row for row in range(len(ROWS))]
    for y, (label, value) in zip(heights, ROWS, strict=True):
        pen.text((60, y), label, "black", font)
        pen.text((500, y), value, "black", font)
    return np.asarray(sheet, np.float32) / 255, heights


def main(folder: Path) -> None:
    """64 tokens for each question: outlines above, what they alone give back below."""
    folder.mkdir(parents=True, exist_ok=True)
    page, heights = receipt()
    reader = tokens.PyramidSampling(tokens.PhraseRelevance())
    figure = Figure(figsize=(13, 8.8), layout="constrained")
    columns = figure.subplots(2, len(QUESTIONS), subplot_kw={"xticks": [], "yticks": []}).T
    for (above, below), (question, row) in zip(columns, QUESTIONS.items(), strict=True):
        chosen = reader.realize(reader.allocate((page, question), 64))
        level = chosen.shown_detail()[heights[row] : heights[row] + 32, 500:580].mean()
        above.imshow(tokens.overlay(page, chosen))
        above.set_title(question)
        below.imshow(chosen.reconstruct().clip(0, 1))
        below.set_title(f"{ROWS[row][1]}: level {level:.1f}")
        print(f"{question} level {level:.1f} at {ROWS[row][1]}")
    figure.savefig(folder / "question_relevance.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
