"""Imitations of published sets of questions: five each, in every layout in which they are published."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

COUNT = 5
ANSWER = "two"


def picture(file: Path, number: int) -> None:
    """A small image of noise, another one for each number."""
    file.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(number).integers(0, 256, (64, 96, 3), np.uint8)
    Image.fromarray(pixels).save(file)


def write(file: Path, content: Any) -> None:
    """JSON in a folder that is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), "utf-8")


def _documents() -> list[dict[str, Any]]:
    return [
        {
            "questionId": 300 + i, "question": f"how many of image {i} ?", "image": f"documents/page{i}_1.png",
            "docId": i, "ucsf_document_id": f"page{i}", "answers": [ANSWER, "2"], "data_split": "val",
        }
        for i in range(COUNT)
    ]  # fmt: skip


def docvqa_beside(root: Path) -> Path:
    """Pages beside the questions, as the challenge had them."""
    write(root / "val/val_v1.0.json", {"dataset_name": "SP-DocVQA", "data": _documents()})
    for i in range(COUNT):
        picture(root / f"val/documents/page{i}_1.png", i)
    return root


def docvqa_apart(root: Path) -> Path:
    """``spdocvqa_qas`` and ``spdocvqa_images``, as they are published now."""
    write(root / "spdocvqa_qas/val_v1.0_withQT.json", {"dataset_name": "SP-DocVQA", "data": _documents()})
    for i in range(COUNT):
        picture(root / f"spdocvqa_images/page{i}_1.png", i)
    return root


def textvqa(root: Path, images: str = "train_images") -> Path:
    """Photos of the validation split with those of training."""
    rows = [
        {
            "question_id": 34602 + i,
            "image_id": f"00{i}a",
            "question": f"what is on image {i} ?",
            "answers": [ANSWER] * 10,
        }
        for i in range(COUNT)
    ]
    write(root / "TextVQA_0.5.1_val.json", {"dataset_type": "val", "dataset_version": "0.5.1", "data": rows})
    for i in range(COUNT):
        picture(root / images / f"00{i}a.jpg", i)
    return root


def textvqa_deep(root: Path) -> Path:
    """The archive of photos unpacked into a folder of its own name."""
    return textvqa(root, "train_val_images/train_images")


def vqa2(root: Path, version: str = "v2_", parts: tuple[str, str, str] = ("", "", "val2014")) -> Path:
    """Questions and annotations as two files."""
    questions = [{"image_id": i, "question": f"how many of image {i} ?", "question_id": 1000 * i} for i in range(COUNT)]
    people = [{"answer": ANSWER if i < 9 else "three", "answer_confidence": "yes", "answer_id": i} for i in range(10)]
    given = [{"question_id": 1000 * i, "image_id": i, "answers": people} for i in range(COUNT)]
    write(root / parts[0] / f"{version}OpenEnded_mscoco_val2014_questions.json", {"questions": questions})
    write(root / parts[1] / f"{version}mscoco_val2014_annotations.json", {"annotations": given})
    for i in range(COUNT):
        picture(root / parts[2] / f"COCO_val2014_{i:012d}.jpg", i)
    return root


def vqa2_folders(root: Path) -> Path:
    """The folders that the official tools ask for."""
    return vqa2(root, parts=("Questions", "Annotations", "Images/mscoco/val2014"))


def vqa1(root: Path) -> Path:
    """The first version, without a prefix."""
    return vqa2(root, "")


def lines(root: Path) -> Path:
    """JSON lines: three questions to one image near and far of each other, two to another."""
    boxes = ([0, 0, 10, 10], [12, 0, 24, 10], [80, 40, 96, 60], [0, 0, 16, 16], [60, 40, 90, 60])
    rows = [
        {
            "id": f"q{i}", "image": f"images/{int(i > 2)}.png", "question": f"how many of image {i} ?",
            "answers": [ANSWER], "boxes": [box], "set": "mine", "kind": "documents",
        }
        for i, box in enumerate(boxes)
    ]  # fmt: skip
    for i in range(2):
        picture(root / f"images/{i}.png", i)
    (root / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return root / "mine.jsonl"


LAYOUTS: Mapping[str, tuple[Callable[[Path], Path], str]] = {
    "DocVQA, pages beside": (docvqa_beside, "documents"),
    "DocVQA, spdocvqa": (docvqa_apart, "documents"),
    "TextVQA": (textvqa, "text in the wild"),
    "TextVQA, deep": (textvqa_deep, "text in the wild"),
    "VQA v2": (vqa2, "photos"),
    "VQA v2, folders": (vqa2_folders, "photos"),
    "VQA v1": (vqa1, "photos"),
    "JSON lines": (lines, "documents"),
}
