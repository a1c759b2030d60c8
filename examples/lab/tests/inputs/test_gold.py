"""Questions of one's own: what a line may be, and that no bad one becomes a score."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hra.errors import HraError
from hra_lab.inputs.gold import read_gold
from hra_lab.vqa.sets import load

ROW = {"image": "page.png", "question": "what is the total?", "answer": "319.10", "boxes": [[16, 8, 40, 24]]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An image of 64 x 32 pixels, the same stored lying on its side, and one of the same name in a folder."""
    image = Image.fromarray(np.zeros((32, 64, 3), np.uint8))
    (tmp_path / "more").mkdir()
    for name in ("page.png", "more/page.png"):
        image.save(tmp_path / name)
    turned = Image.Exif()
    turned[0x0112] = 6
    image.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.jpg", exif=turned)
    (tmp_path / "note.txt").write_text("no image")
    return tmp_path


def read(folder: Path, *rows: dict | str | bytes, end: bytes = b"\n"):
    """The questions of a file of these lines, which `load` reads, too."""
    lines = [
        row
        if isinstance(row, bytes)
        else (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)).encode()
        for row in rows
    ]
    (folder / "gold.jsonl").write_bytes(end.join(lines) + end)
    return read_gold(folder, folder / "gold.jsonl")


def test_lines_end_as_any_editor_ends_them_and_separators_stay_in_texts(folder):
    odd = {**ROW, "question": "what\u2028is \u00e9?", "paraphrase": "and\x85so", "set": "own"}
    for rows, end in (((ROW, odd), b"\r\n"), ((b"\xef\xbb\xbf" + json.dumps(ROW).encode(), odd), b"\n\n")):
        found = read(folder, *rows, end=end)
        assert [one.question for one in found] == [ROW["question"], odd["question"]]
        assert (found[1].paraphrase, found[1].group, found[0].boxes) == ("and\x85so", "own", ((16, 8, 40, 24),))
        assert [len(one.samples) for one in load(folder / "gold.jsonl")] == [1, 1]


def test_fractions_stand_for_the_pixels_that_they_touch(folder):
    row = {**ROW, "boxes": [[1.9, 2.0, 50.1, 30.5]]}
    assert read(folder, row)[0].boxes == ((1, 2, 51, 31),)
    assert load(folder / "gold.jsonl")[0].samples[0].boxes == ((1, 2, 51, 31),)


def test_boxes_are_those_of_the_upright_image(folder):
    (found,) = read(folder, {**ROW, "image": "turned.jpg", "boxes": [[50, 0, 64, 32]]})
    assert found.image().shape == (32, 64, 3)
    with pytest.raises(HraError, match="64 x 32"):
        read(folder, {**ROW, "image": "turned.jpg", "boxes": [[0, 50, 32, 64]]})


def test_images_of_one_name_in_two_folders_are_told_apart(folder):
    found = read(folder, ROW, {**ROW, "image": "more/page.png"})
    assert [one.name for one in found] == ["page.png", "more/page.png"]


BOXES = (
    [[0, 0, 1e400, 5]], [[0, 0, "9", 5]], [[True, 0, 9, 5]], [[60, 0, 65, 5]], [[-1, 0, 9, 5]], [[90, 90, 99, 99]],
    [[9, 0, 9, 5]], [[0, 0, 10**400, 5]], [0, 0, 9, 5], "0 0 9 5", [[0, 0, 9]],
)  # fmt: skip
BAD = (
    *({**ROW, "boxes": boxes} for boxes in BOXES),
    {**ROW, "question": ""}, {**ROW, "question": 5}, {**ROW, "answer": 319.10}, {**ROW, "answer": None},
    {**ROW, "answer": ["319.10"]}, {**ROW, "image": "none.png"}, {**ROW, "image": "more"}, {**ROW, "image": "note.txt"},
    {**ROW, "image": "../page.png"}, {**ROW, "set": 3}, [ROW], '{"image": ', b"\xff{}", "[" * 100_000,
    '{"image": "page.png", "question": "a", "answer": "b", "boxes": [[0, 0, NaN, 5]]}',
    {key: value for key, value in ROW.items() if key != "answer"},
)  # fmt: skip


@pytest.mark.parametrize("row", BAD, ids=range(len(BAD)))
def test_a_bad_line_is_refused_by_its_number(folder, row):
    row = json.dumps(row) if isinstance(row, list) else row
    with pytest.raises(HraError) as caught:
        read(folder, ROW, row)
    assert (caught.value.where or "").endswith(("line 2", "note.txt")) and caught.value.fix
    with pytest.raises(HraError) as caught:
        load(folder / "gold.jsonl")
    assert (caught.value.where or "").endswith(("line 2", "note.txt")) and caught.value.fix


@pytest.mark.parametrize("row", [{**ROW, "boxes": []}, {**ROW, "answer": ""}, {**ROW, "paraphrase": 5}])
def test_an_answer_without_a_place_or_a_text_is_refused(folder, row):
    with pytest.raises(HraError, match=r"box|text"):
        read(folder, row)


def test_a_file_that_is_none_is_refused(folder):
    for file in (folder, folder / "none.jsonl"):
        with pytest.raises(HraError):
            read_gold(folder, file)
