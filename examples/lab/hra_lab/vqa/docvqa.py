"""DocVQA (M. Mathew et al., 2021), task 1: ``{split}_v1.0.json`` or later, and a folder of page images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hra_lab.vqa.sample import Sample, field, inside, only, read_json


def docvqa(folder: str | Path, split: str = "val") -> Iterator[Sample]:
    """Questions of a split, in the order of the file.

    Parameters
    ----------
    folder : holds ``{split}_v1.0*.json``, at any depth; images as the file names them beside it.
    split : "train", "val" or "test", whose answers are kept secret.

    Raises
    ------
    HraError : the folder does not hold the published files.
    """
    file = only(Path(folder), f"{split}_v1.0*.json")
    for number, record in enumerate(read_json(file, "data")["data"]):
        where = f"{file}, question {number}"
        image = inside(file.parent, str(field(record, "image", where)))
        answers = tuple(map(str, record.get("answers", ())))
        yield Sample(str(field(record, "questionId", where)), image, str(field(record, "question", where)), answers)
