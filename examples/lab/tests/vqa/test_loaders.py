"""Data sets in the formats in which they were published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hra.errors import HraError
from hra_lab.vqa.docvqa import docvqa
from hra_lab.vqa.textvqa import textvqa
from hra_lab.vqa.vqa2 import vqa2


def write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


def test_docvqa(tmp_path):
    record = {
        "questionId": 337, "question": "what is the date?", "image": "documents/xnbl0037_1.png", "docId": 279,
        "ucsf_document_id": "xnbl0037", "ucsf_document_page_no": "1", "answers": ["1/8/93"], "data_split": "val",
    }  # fmt: skip
    write(tmp_path / "val_v1.0.json", {"dataset_name": "SP-DocVQA", "data": [record]})
    (sample,) = docvqa(tmp_path)
    assert (sample.identity, sample.answers) == ("337", ("1/8/93",))
    assert sample.image == tmp_path.resolve() / "documents/xnbl0037_1.png"


def test_textvqa(tmp_path):
    record = {"question_id": 34602, "image_id": "003a8ae2ef43b901", "question": "what brand?", "answers": ["nous"] * 10}
    write(tmp_path / "TextVQA_0.5.1_val.json", {"dataset_type": "val", "data": [record]})
    (sample,) = textvqa(tmp_path)
    assert sample.image.name == "003a8ae2ef43b901.jpg"
    assert sample.image.parent.name == "train_images"
    assert len(sample.answers) == 10


def test_vqa2(tmp_path):
    question = {"image_id": 262148, "question": "Where is he looking?", "question_id": 262148000}
    people = [{"answer": "down", "answer_confidence": "yes", "answer_id": i} for i in range(1, 11)]
    write(tmp_path / "v2_OpenEnded_mscoco_val2014_questions.json", {"questions": [question]})
    write(
        tmp_path / "v2_mscoco_val2014_annotations.json",
        {"annotations": [{"question_id": 262148000, "image_id": 262148, "answers": people}]},
    )
    (sample,) = vqa2(tmp_path)
    assert sample.image.name == "COCO_val2014_000000262148.jpg"
    assert sample.answers == ("down",) * 10


@pytest.mark.parametrize("content", ["[]", "{", '{"data": [{}]}', '{"data": [{"questionId": 1, "image": "../../x"}]}'])
def test_files_of_another_kind_are_refused(tmp_path, content):
    (tmp_path / "val_v1.0.json").write_text(content)
    with pytest.raises(HraError) as caught:
        list(docvqa(tmp_path))
    assert caught.value.fix


@pytest.mark.parametrize("load", [docvqa, textvqa, vqa2])
def test_a_folder_without_the_files_is_refused(tmp_path, load):
    with pytest.raises(HraError, match="0 files fit"):
        list(load(tmp_path))
