"""Published data sets of questions as they lie in a local folder, and questions of one's own as JSON lines.

Nothing is fetched. Layouts: DocVQA task 1 with images beside the questions or as ``spdocvqa_qas`` and
``spdocvqa_images``; TextVQA 0.5 and 0.5.1; VQA v2 (and v1) on COCO, flat or in ``Questions``, ``Annotations`` and
``Images``. An image that is missing is an error that names it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from hra.errors import HraError
from hra.model.arrays import POSITIVE, whole_in, whole_number
from hra_lab.inputs.json_lines import Box, boxes, field, objects, text
from hra_lab.vqa.scores import anls, exact_match, vqa_score

Kind = Literal["documents", "photos", "text in the wild", "own"]
_MOST_BYTES = 2**30
_DEEP = 4  # folders below the one that is given
_FAR = 0.39  # of the longer side, centre to centre: what lies farther from an answer is periphery
_OTHER_FILE = "is this the file of this data set?"
_LEAST_PEOPLE = 4  # with fewer answers no VQA score reaches 1


@dataclass(frozen=True)
class Sample:
    """A question, its image and what people answered.

    Attributes
    ----------
    identity : of the question in its data set.
    image : file.
    answers : of people; empty where the split's answers are kept secret.
    boxes : pixels (x0, y0, x1, y1), end excluded, of the answer; empty where nobody says.
    others : questions to the same image whose answers lie elsewhere: "secondary" near, "periphery" far.
    """

    identity: str
    image: Path
    question: str
    answers: tuple[str, ...]
    boxes: tuple[Box, ...] = ()
    others: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class QuestionSet:
    """Questions of one kind, and how answers to them are scored: ``measure`` says in words by what."""

    name: str
    kind: Kind
    measure: str
    score: Callable[[str, Sequence[str]], float]
    samples: tuple[Sample, ...]


Make = Callable[[], Sample]
"""A question that is looked up, with its image, only if it is drawn."""


def load(data: Path, split: str = "val", limit: int | None = None, seed: int = 0) -> list[QuestionSet]:
    """The data set in a folder, or those of a file of JSON lines: ``limit`` questions of each, drawn by ``seed``.

    A larger limit with the same seed keeps all questions of a smaller one.

    Parameters
    ----------
    split : "train" or "val"; what is tested by a server has no answers.

    Raises
    ------
    HraError : no known data set, a damaged file, a missing image, answers that are kept secret, or a limit below 1.
    """
    if limit is not None:
        whole_in("limit", limit, POSITIVE)
    if data.is_file():
        return [replace(one, samples=_drawn(list(one.samples), limit, seed)) for one in own_lines(data)]
    for name, kind, measure, score, find in _PUBLISHED:
        if find.file(data, split) is not None:
            samples = _drawn([make() for make in _drawn(list(find.makes(data, split)), limit, seed)], None, seed)
            if not all(sample.answers for sample in samples):
                what = f"the answers of {split!r} are kept secret"
                raise HraError(what, where=str(data), fix="ask the split val")
            return [QuestionSet(f"{name} {split}", kind, measure, score, samples)]
    what = f"neither DocVQA nor TextVQA nor VQA v2 has its {split!r} questions here"
    raise HraError(what, where=str(data), fix="give the folder that holds the published JSON files, or JSON lines")


def _drawn(found: list[Any], limit: int | None, seed: int) -> tuple[Any, ...]:
    """So many of them by a seed, in their order."""
    if limit is None or limit >= len(found):
        return tuple(found)
    return tuple(found[i] for i in sorted(np.random.default_rng(seed).permutation(len(found))[:limit]))


def _docvqa(root: Path, split: str) -> Iterator[Make]:
    """Questions of DocVQA (M. Mathew et al., 2021), task 1, in the order of ``{split}_v1.0*.json``."""
    file = _only(root, f"{split}_v1.0*.json")
    folders = (file.parent, *_folders(root, "spdocvqa_images", "documents"))
    for number, record in enumerate(_records(file, "data")):
        where = f"{file}, question {number}"
        yield partial(
            _sample, root, folders, (str(_field(record, "image", where)),), str(_field(record, "questionId", where)),
            str(_field(record, "question", where)), _answers(record, where), where,
        )  # fmt: skip


def _textvqa(root: Path, split: str) -> Iterator[Make]:
    """Questions of TextVQA (A. Singh et al., 2019), ten answers each, in the order of ``TextVQA_0.5*_{split}.json``."""
    file = _only(root, f"TextVQA_0.5*_{split}.json")
    # Photos of the validation split come with those of the training split.
    folders = _folders(root, "test_images") if split == "test" else _folders(root, "train_images", "train_val_images")
    for number, record in enumerate(_records(file, "data")):
        where = f"{file}, question {number}"
        yield partial(
            _sample, root, folders, (f"{_field(record, 'image_id', where)}.jpg",),
            str(_field(record, "question_id", where)), str(_field(record, "question", where)),
            _answers(record, where), where,
        )  # fmt: skip


def _vqa2(root: Path, split: str) -> Iterator[Make]:
    """Questions of VQA v2 on COCO (Y. Goyal et al., 2017), ten answers each."""
    split = {"val": "val2014", "train": "train2014"}.get(split, split)
    file = _only(root, f"v2_OpenEnded_mscoco_{split}_questions.json", f"OpenEnded_mscoco_{split}_questions.json")
    answers: dict[str, tuple[str, ...]] = {}
    if not split.startswith("test"):
        given = _only(root, file.name.replace("OpenEnded_", "").replace("questions", "annotations"))
        for number, record in enumerate(_records(given, "annotations")):
            where = f"{given}, annotation {number}"
            said = tuple(str(_field(answer, "answer", where)) for answer in _listed(record, "answers", where))
            answers[str(_field(record, "question_id", where))] = said
    folders = _folders(root, split.replace("-dev", ""))
    for number, record in enumerate(_records(file, "questions")):
        where = f"{file}, question {number}"
        identity, image = str(_field(record, "question_id", where)), _field(record, "image_id", where)
        if whole_number(image) is None:
            raise HraError(f"the image_id {image!r:.60} is no number", where=where, fix=_OTHER_FILE)
        names = (f"COCO_{split.replace('-dev', '')}_{image:012d}.jpg", f"{image:012d}.jpg")
        yield partial(
            _sample, root, folders, names, identity, str(_field(record, "question", where)),
            answers.get(identity, ()), where,
        )  # fmt: skip


@dataclass(frozen=True)
class _Finder:
    """What says that a data set lies in a folder, and what reads it."""

    patterns: tuple[str, ...]
    makes: Callable[[Path, str], Iterator[Make]]

    def file(self, root: Path, split: str) -> Path | None:
        """A file by which the data set is known."""
        named = [pattern.format(split=split) for pattern in self.patterns]
        return next((file for pattern in named for file in (root.rglob(pattern) if root.is_dir() else ())), None)


_PUBLISHED: tuple[tuple[str, Kind, str, Callable[..., float], _Finder], ...] = (
    ("DocVQA", "documents", "ANLS, as its evaluator", anls, _Finder(("{split}_v1.0*.json",), _docvqa)),
    (
        "TextVQA", "text in the wild", "VQA score, as TextVQA's evaluator", partial(vqa_score, convention="textvqa"),
        _Finder(("TextVQA_0.5*_{split}.json",), _textvqa),
    ),
    (
        "VQA v2", "photos", "VQA score", vqa_score,
        _Finder(("*OpenEnded_mscoco_{split}_questions.json", "*OpenEnded_mscoco_{split}2014_questions.json"), _vqa2),
    ),
)  # fmt: skip


def own_lines(file: Path) -> list[QuestionSet]:
    """Questions of one's own: a JSON object a line with ``image`` (a path from the file's folder) and ``question``.

    Also ``answers`` (or ``answer``) and, where known, ``boxes`` (a list of [x0, y0, x1, y1] in pixels), ``kind`` (one
    of `Kind`), ``set`` (a name) and ``id``. Where boxes are known, each question also has those of its image that lie
    near and far.

    Raises
    ------
    HraError : a line that is none of that, or a missing image.
    """
    grouped: dict[tuple[str, Kind], list[Sample]] = {}
    for row, where in objects(file):
        group, sample = _line(file, row, where)
        grouped.setdefault(group, []).append(sample)
    return [_own(name, kind, samples) for (name, kind), samples in grouped.items()]


def _own(name: str, kind: Kind, samples: list[Sample]) -> QuestionSet:
    measure: tuple[str, Callable[..., float]] = ("exact match", exact_match)
    if kind == "documents":
        measure = ("ANLS, as DocVQA's evaluator", anls)
    elif kind != "own" and all(len(sample.answers) >= _LEAST_PEOPLE for sample in samples):
        measure = ("VQA score", vqa_score)
    by_image: dict[Path, list[Sample]] = {}
    for sample in samples:
        by_image.setdefault(sample.image, []).append(sample)
    placed = (replace(one, others=tuple(_others(one, by_image[one.image]))) for one in samples)
    return QuestionSet(name, kind, *measure, tuple(placed))


def _line(file: Path, row: Mapping[str, Any], where: str) -> tuple[tuple[str, Kind], Sample]:
    image, question = (text(key, field(row, key, where), where) for key in ("image", "question"))
    given = row["answers"] if "answers" in row else [field(row, "answer", where)]
    if not isinstance(given, list) or not given or not all(isinstance(one, str) for one in given):
        raise HraError(f"answers is {given!r:.60}", where=where, fix='write a list of texts: ["..", ".."]')
    answers = tuple(given)
    kind, name = row.get("kind", "own"), text("set", row.get("set", file.stem), where)
    if kind not in get_args(Kind):
        raise HraError(f"an unknown kind {kind!r}", where=where, fix=f"use one of {', '.join(get_args(Kind))}")
    root, identity = file.parent, str(row.get("id", where.rpartition(" ")[2]))
    sample = _sample(root, (root,), (image,), identity, question, answers, where)
    return (name, kind), replace(sample, boxes=boxes(row.get("boxes") or [], sample.image, where))


def _others(sample: Sample, beside: list[Sample]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The nearest question that is near, and the farthest that is far."""
    if not sample.boxes:
        return
    from PIL import Image

    with Image.open(sample.image) as opened:
        limit = _FAR * max(opened.size)
    away = [
        (float(np.hypot(*(_centre(other) - _centre(sample)))), other)
        for other in beside
        if other.boxes and other.boxes[0] != sample.boxes[0]
    ]
    near = [one for one in away if one[0] < limit]
    far = [one for one in away if one[0] >= limit]
    if near:
        other = min(near, key=lambda one: one[0])[1]
        yield "secondary", other.question, other.answers
    if far:
        other = max(far, key=lambda one: one[0])[1]
        yield "periphery", other.question, other.answers


def _centre(sample: Sample) -> np.ndarray:
    x0, y0, x1, y1 = sample.boxes[0]
    return np.array([x0 + x1, y0 + y1]) / 2


def _sample(
    root: Path, folders: Sequence[Path], names: Sequence[str], identity: str, question: str,
    answers: tuple[str, ...], where: str,
) -> Sample:  # fmt: skip
    """A question with its image, which lies in one of the folders by one of the names.

    Raises
    ------
    HraError : it lies in none, or outside of the data set.
    """
    tried = [folder / part for folder in folders for name in names for part in (name, Path(name).name)]
    for file in tried:
        if not file.resolve().is_relative_to(root.resolve()):
            fix = "mend the annotations"
            raise HraError(f"the image {names[0]!r} lies outside of the data set", where=where, fix=fix)
        if file.is_file():
            return Sample(identity, file.resolve(), question, answers)
    looked = f"; looked in {', '.join(map(str, folders))}" if folders else ""
    fix = "unpack the published images beside the questions, or leave the question out"
    raise HraError(f"the image {names[0]!r} of question {identity} is missing{looked}", where=where, fix=fix)


def _folders(root: Path, *names: str) -> tuple[Path, ...]:
    """Folders of these names at most `_DEEP` below one, in the order of the names."""
    found: list[Path] = []

    def search(folder: Path, left: int) -> None:
        for entry in sorted(os.scandir(folder), key=lambda one: one.name):
            if entry.is_dir():
                found.append(Path(entry.path))
                if left > 1:
                    search(Path(entry.path), left - 1)

    if root.is_dir():
        search(root, _DEEP)
    return tuple(folder for name in names for folder in (root, *found) if folder.name == name)


def _only(folder: Path, *patterns: str) -> Path:
    """The one file of a folder, at any depth, that fits a pattern; of several patterns the first that any fits.

    Raises
    ------
    HraError : none or several fit.
    """
    for pattern in patterns:
        found = sorted(folder.rglob(pattern)) if folder.is_dir() else []
        if len(found) == 1:
            return found[0]
        if found or pattern == patterns[-1]:
            what = f"{len(found)} files fit {pattern!r}"
            raise HraError(what, where=str(folder), fix="keep one copy of the published file there")
    raise HraError("no name to look for", where=str(folder))


def _records(file: Path, key: str) -> list[Any]:
    """The records of a file of JSON, which stand in a list under a key.

    Raises
    ------
    HraError : the file is too large, not JSON, or has no such list, or an empty one.
    """
    if file.stat().st_size > _MOST_BYTES:
        raise HraError(f"larger than {_MOST_BYTES} bytes", where=str(file), fix="split the annotations")
    try:
        content = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HraError(f"not JSON: {error}", where=str(file), fix="fetch the file again") from error
    if not isinstance(content, dict) or key not in content:
        raise HraError(f"no key {key!r}", where=str(file), fix=_OTHER_FILE)
    found = _listed(content, key, str(file))
    if not found:
        raise HraError(f"{key} is empty", where=str(file), fix=_OTHER_FILE)
    return found


def _answers(record: Any, where: str) -> tuple[str, ...]:
    """What people answered; empty where the record does not say.

    Raises
    ------
    HraError : not a list of texts: the letters of one text would be answers.
    """
    if not record.get("answers"):
        return ()
    found = _listed(record, "answers", where)
    if not all(isinstance(one, str) for one in found):
        raise HraError(f"answers is {found!r:.60}", where=where, fix=_OTHER_FILE)
    return tuple(found)


def _listed(record: Any, key: str, where: str) -> list[Any]:
    """A field that is a list.

    Raises
    ------
    HraError : the record has none of that name, or another thing there.
    """
    found = _field(record, key, where)
    if not isinstance(found, list):
        raise HraError(f"{key} is {found!r:.60}, and no list", where=where, fix=_OTHER_FILE)
    return found


def _field(record: Any, key: str, where: str) -> Any:
    """A field of one record.

    Raises
    ------
    HraError : the record has none of that name.
    """
    if not isinstance(record, dict) or key not in record:
        raise HraError(f"a record without {key!r}", where=where, fix=_OTHER_FILE)
    return record[key]
