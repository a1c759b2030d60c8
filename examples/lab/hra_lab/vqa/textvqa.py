"""TextVQA 0.5.1 (A. Singh et al., 2019): ``TextVQA_0.5.1_{split}.json`` and a folder of Open Images photos."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hra_lab.vqa.sample import Sample, field, inside, only, read_json


def textvqa(folder: str | Path, split: str = "val") -> Iterator[Sample]:
    """Questions of a split, in the order of the file, with ten answers each.

    Parameters
    ----------
    folder : holds ``TextVQA_0.5.1_{split}.json`` and ``train_images`` (or ``test_images``).
    split : "train", "val" or "test", whose answers are kept secret.

    Raises
    ------
    HraError : the folder does not hold the published files.
    """
    file = only(Path(folder), f"TextVQA_0.5.1_{split}.json")
    # Photos of the validation split come with those of the training split.
    images = file.parent / ("test_images" if split == "test" else "train_images")
    for number, record in enumerate(read_json(file, "data")["data"]):
        where = f"{file}, question {number}"
        image = inside(images, f"{field(record, 'image_id', where)}.jpg")
        answers = tuple(map(str, record.get("answers", ())))
        yield Sample(str(field(record, "question_id", where)), image, str(field(record, "question", where)), answers)
