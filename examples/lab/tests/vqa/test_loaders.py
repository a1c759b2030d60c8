"""Data sets in the layouts in which they were published: what is read, drawn, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hra.errors import HraError
from hra_lab.vqa.sets import load
from tests.helpers.vqa_sets import ANSWER, COUNT, LAYOUTS, docvqa_apart, lines, vqa2, vqa2_folders


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read(layout: str, tmp_path: Path) -> None:
    make, kind = LAYOUTS[layout]
    (found,) = load(make(tmp_path))
    assert (found.kind, len(found.samples)) == (kind, COUNT)
    assert all(sample.image.is_file() and sample.answers[0] == ANSWER for sample in found.samples)
    assert len({sample.identity for sample in found.samples}) == COUNT
    assert found.score(ANSWER, found.samples[0].answers) == 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_missing_image_is_an_error_that_names_it(layout: str, tmp_path: Path) -> None:
    made = LAYOUTS[layout][0](tmp_path)
    gone = sorted(file for file in tmp_path.rglob("*") if file.suffix in (".png", ".jpg"))[1]
    gone.unlink()
    with pytest.raises(HraError, match=gone.name) as caught:
        load(made)
    assert "missing" in caught.value.what and caught.value.fix


def test_a_missing_image_of_a_question_that_is_not_drawn_stops_nobody(tmp_path: Path) -> None:
    root = docvqa_apart(tmp_path)
    (drawn,) = load(root, limit=2, seed=1)
    for file in (root / "spdocvqa_images").iterdir():
        if file.resolve() not in {sample.image for sample in drawn.samples}:
            file.unlink()
    assert load(root, limit=2, seed=1)[0].samples == drawn.samples


def test_a_larger_limit_keeps_what_a_smaller_one_drew(tmp_path: Path) -> None:
    root = docvqa_apart(tmp_path)
    few, more = (load(root, limit=limit, seed=3)[0].samples for limit in (2, 4))
    assert set(few) < set(more) and len(few) == 2
    assert len({load(root, limit=2, seed=seed)[0].samples for seed in range(6)}) > 1


def test_lines_know_which_questions_lie_near_and_far(tmp_path: Path) -> None:
    (found,) = load(lines(tmp_path))
    first, *_, last = found.samples
    assert [region for region, *_ in first.others] == ["secondary", "periphery"]
    assert [question for _, question, _ in first.others] == ["how many of image 1 ?", "how many of image 2 ?"]
    assert [region for region, *_ in last.others] == ["periphery"]


def test_answers_that_are_kept_secret_are_refused(tmp_path: Path) -> None:
    root = docvqa_apart(tmp_path)
    rows = json.loads((root / "spdocvqa_qas/val_v1.0_withQT.json").read_text())["data"]
    secret = [{key: value for key, value in row.items() if key != "answers"} for row in rows]
    (root / "spdocvqa_qas/test_v1.0.json").write_text(json.dumps({"data": secret}))
    with pytest.raises(HraError, match="secret"):
        load(root, "test")


@pytest.mark.parametrize("content", ["[]", "{", '{"data": [{}]}', '{"data": [{"questionId": 1, "image": "../../x"}]}',
                                     '{"data": [{"questionId": 1, "question": "a", "image": "../../x"}]}'])  # fmt: skip
def test_files_of_another_kind_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/val_v1.0.json").write_text(content)
    with pytest.raises(HraError) as caught:
        load(tmp_path / "a")
    assert caught.value.fix


@pytest.mark.parametrize(
    "row",
    [
        "{", "[]", '{"image": "a.png", "question": "a"}', '{"image": "a.png", "question": "a", "answers": []}',
        '{"image": "a.png", "question": "a", "answers": "two"}',
        '{"image": "a.png", "question": "a", "answers": ["b"], "boxes": [[1, 1, 1, 2]]}',
        '{"image": "a.png", "question": "a", "answers": ["b"], "kind": "paintings"}', "",
    ],
)  # fmt: skip
def test_lines_of_another_kind_are_refused(tmp_path: Path, row: str) -> None:
    (tmp_path / "mine.jsonl").write_text(row)
    with pytest.raises(HraError) as caught:
        load(tmp_path / "mine.jsonl")
    assert caught.value.fix


def test_questions_without_their_answers_are_refused(tmp_path: Path) -> None:
    (annotations,) = vqa2(tmp_path).rglob("*annotations.json")
    annotations.unlink()
    with pytest.raises(HraError, match="0 files fit"):
        load(tmp_path)


def test_a_folder_of_no_known_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HraError, match="neither DocVQA nor TextVQA nor VQA v2"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answers": "yes"}, "answers is 'yes', and no list"),
        ({"answers": 3}, "answers is 3, and no list"),
        ({"answers": [None]}, r"answers is \[None\]"),
    ],
)
def test_letters_of_one_text_are_not_taken_for_answers(tmp_path: Path, change: dict, says: str) -> None:
    file = next(docvqa_apart(tmp_path).rglob("val_v1.0*.json"))
    told = json.loads(file.read_text())
    told["data"][0] |= change
    file.write_text(json.dumps(told))
    with pytest.raises(HraError, match=says) as caught:
        load(tmp_path)
    assert "question 0" in caught.value.where


@pytest.mark.parametrize("records", [None, {}, [], 5])
def test_a_file_without_records_is_refused(tmp_path: Path, records: object) -> None:
    file = next(docvqa_apart(tmp_path).rglob("val_v1.0*.json"))
    file.write_text(json.dumps({"data": records}))
    with pytest.raises(HraError, match="data is"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "key", "change"),
    [
        ("*questions.json", "questions", {"image_id": "seven"}),
        ("*annotations.json", "annotations", {"answers": 5}),
    ],
)
def test_vqa_files_with_other_fields_are_refused(tmp_path: Path, pattern: str, key: str, change: dict) -> None:
    file = next(vqa2_folders(tmp_path).rglob(pattern))
    told = json.loads(file.read_text())
    told[key][0] |= change
    file.write_text(json.dumps(told))
    with pytest.raises(HraError, match=next(iter(change))):
        load(tmp_path)
