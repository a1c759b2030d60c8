"""VQA v2 on COCO (Y. Goyal et al., 2017): questions and annotations as two files, and a folder of COCO images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hra_lab.vqa.sample import Sample, field, inside, only, read_json


def vqa2(folder: str | Path, split: str = "val2014") -> Iterator[Sample]:
    """Questions of a split, in the order of the file, with ten answers each.

    Parameters
    ----------
    folder : holds ``v2_OpenEnded_mscoco_{split}_questions.json``, ``v2_mscoco_{split}_annotations.json`` and the
        folder ``{split}`` of images.
    split : "train2014", "val2014" or "test2015", which has no annotations.

    Raises
    ------
    HraError : the folder does not hold the published files.
    """
    file = only(Path(folder), f"v2_OpenEnded_mscoco_{split}_questions.json")
    answers = {} if split.startswith("test") else _answers(only(Path(folder), f"v2_mscoco_{split}_annotations.json"))
    for number, record in enumerate(read_json(file, "questions")["questions"]):
        where = f"{file}, question {number}"
        identity = str(field(record, "question_id", where))
        name = f"COCO_{split}_{int(field(record, 'image_id', where)):012d}.jpg"
        image = inside(file.parent / split, name)
        yield Sample(identity, image, str(field(record, "question", where)), answers.get(identity, ()))


def _answers(file: Path) -> dict[str, tuple[str, ...]]:
    """Ten answers by question."""
    found = {}
    for number, record in enumerate(read_json(file, "annotations")["annotations"]):
        where = f"{file}, annotation {number}"
        given = (str(field(answer, "answer", where)) for answer in field(record, "answers", where))
        found[str(field(record, "question_id", where))] = tuple(given)
    return found
