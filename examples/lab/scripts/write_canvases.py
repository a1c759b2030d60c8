#!/usr/bin/env python
"""Write canvases of the learned experiment's test split as images and JSON lines for ``hra eval vqa``.

Run ``python examples/lab/scripts/write_canvases.py FOLDER [--count 40]``: target, secondary and periphery of each
canvas are three questions with the boxes of their answers.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from PIL import Image

from hra.files.atomic_write import write_atomically
from hra_lab.evidence.canvas import canvases
from hra_lab.evidence.questions import ANSWERS


def main() -> int:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=40)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, canvas in enumerate(canvases("test", chosen.count)):
        Image.fromarray(canvas.image).save(chosen.folder / f"{number}.png")
        for asked in canvas.questions[:3]:
            told = {"image": f"{number}.png", "question": asked.text, "answers": [ANSWERS[asked.answer]]}
            lines.append(json.dumps({**told, "boxes": [asked.box], "set": "canvases"}) + "\n")
    write_atomically(chosen.folder / "canvases.jsonl", "".join(lines).encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
