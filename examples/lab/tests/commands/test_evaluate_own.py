"""``hra eval SUITE --images FOLDER --gold FILE``: anybody's pages, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hra.domains.tokens.text.reader import can_read
from hra.errors import HraError
from hra_lab.commands.evaluate import SuiteName, evaluate
from hra_lab.inputs.documents.typeset import Sheet

ASKING = ("pixels", "questions", "reading", "seeing", "tokens")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with one page, and a file with two questions to it."""
    folder = tmp_path_factory.mktemp("own")
    sheet, boxes = Sheet((320, 320), "DejaVuSans.ttf", 24), []
    for y, (label, value) in zip((40, 140), (("Total amount", "319.10"), ("Invoice number", "48213")), strict=True):
        sheet.text(16, y, label)
        quad = sheet.right(300, y, value)
        boxes.append((label, value, [*quad.min(axis=0).astype(int).tolist(), *quad.max(axis=0).astype(int).tolist()]))
    Image.fromarray(np.round(255 * sheet.pixels()).astype(np.uint8)).save(folder / "page.png")
    rows = [
        {
            "image": "page.png",
            "question": f"what is the {label.lower()}?",
            "answer": value,
            "boxes": [box],
            "set": "pages",
        }
        for label, value, box in boxes
    ]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder, folder / "gold.jsonl"


def invoke(*arguments: str):
    return CliRunner().invoke(evaluate, list(arguments))


@pytest.mark.parametrize("suite", ["questions", "reading"])
@pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
def test_pages_are_read(suite, own, tmp_path):
    pytest.importorskip("matplotlib")
    folder, gold = own
    out = tmp_path / "out"
    record = tmp_path / "record.json"
    done = invoke(suite, "--images", str(folder), "--gold", str(gold), "--out", str(out), "--json", str(record))
    assert done.exit_code == 0, done.output
    text = (out / f"{suite}-gold.md").read_text()
    assert text.startswith("## gold: 2 questions") and "### pages: 2" in text and "Coarse pass" in text
    assert text.count("The images themselves score 1.00.") == 2
    assert b"<svg" in (out / "pictures/reliability-gold.svg").read_bytes()
    rows = json.loads(record.read_text())["rows"]
    found = {row["number"]: row for row in rows if row["method"] == "phrase" and row["budget"] == 64}
    assert all(row["used"] and row["by"] == "phrase" and 0 < row["confidence"] <= 1 for row in found.values())
    assert [row["score"] for row in rows if row["method"] == "oracle" and row["budget"] == 273] == [1.0, 1.0]


def test_tokens_show_the_share_of_the_boxes(own, tmp_path):
    folder, gold = own
    record = tmp_path / "record.json"
    done = invoke("tokens", "--images", str(folder), "--gold", str(gold), "--json", str(record))
    assert done.exit_code == 0, done.output
    rows = json.loads(record.read_text())["rows"]
    shares = [row["share"] for row in rows if (row["preset"], row["relevance"]) == ("pyramid", "oracle")]
    assert len(shares) == 8 and {row["kind"] for row in rows} == {"pages"} and max(filter(None, shares)) > 0.9


def test_pixels_measure_every_method_on_ones_own_images(own, tmp_path):
    folder, gold = own
    record = tmp_path / "record.json"
    done = invoke("pixels", "--images", str(folder), "--gold", str(gold), "--json", str(record))
    assert done.exit_code == 0, done.output
    made = json.loads(record.read_text())
    assert {row["source"] for row in made["images"]} == {
        "page.png: what is the total amount?",
        "page.png: what is the invoice number?",
    }
    assert {"pyramid", "downsample", "oracle"} <= {row["method"] for row in made["rows"]}


def test_pixels_tell_images_of_one_name_apart_and_take_those_of_a_few_patches(own, tmp_path):
    folder, gold = own
    page = Image.open(folder / "page.png")
    (tmp_path / "turned").mkdir()
    page.save(tmp_path / "page.png")
    page.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned/page.png")
    Image.new("RGB", (40, 24), (200, 10, 10)).save(tmp_path / "few.png")
    row = {**json.loads(gold.read_text().splitlines()[0]), "boxes": [[0, 0, 9, 9]]}
    rows = [{**row, "image": name, "set": "few" if name == "few.png" else "pages"}
            for name in ("page.png", "turned/page.png", "few.png")]  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = invoke("pixels", "--images", str(tmp_path), "--gold", str(tmp_path / "gold.jsonl"))
    assert done.exit_code == 0, done.output
    # Down-sampling is compared with itself, image by image.
    lines = [line.split(" | ") for line in done.output.splitlines() if line.startswith("| `downsample`")]
    assert [(cells[2], cells[-1]) for cells in lines] == [("+0.00", "0 of 2 |"), ("+0.00", "0 of 1 |")]
    assert "nan" not in done.output and "with a base" not in done.output


def test_seeing_asks_the_network_about_the_boxes(own, tmp_path, monkeypatch):
    from hra.domains import tokens
    from hra_lab.evaluation.answers import seeing

    def classify(image: np.ndarray) -> np.ndarray:
        """A network of two classes: dark and bright."""
        return np.array([1 - image.mean(), image.mean()])

    monkeypatch.setattr(seeing, "_classify", lambda: classify)
    monkeypatch.setattr(tokens, "ImageNetRelevance", tokens.UniformRelevance)
    folder, gold = own
    record = tmp_path / "record.json"
    done = invoke("seeing", "--images", str(folder), "--gold", str(gold), "--json", str(record))
    assert done.exit_code == 0, done.output
    scores = json.loads(record.read_text())["scores"]["top class right"]
    assert scores["the image itself"]["0"] == [1.0, 1.0] and scores["down-sampling"]["529"] == [1.0, 1.0]
    assert "## gold: 2 questions, 1 images" in done.output and "those of one have no width" in done.output


@pytest.mark.parametrize("suite", sorted(name.value for name in SuiteName if name.value not in ASKING))
def test_suites_that_ask_nothing_refuse_questions_and_seeds(suite, own):
    folder, gold = own
    for more in (["--images", str(folder), "--gold", str(gold)], ["--seed", "3"]):
        done = invoke(suite, *more)
        assert isinstance(done.exception, HraError), done.output


@pytest.mark.parametrize("suite", ASKING)
def test_half_of_the_options_or_a_seed_of_ones_own_pages_is_refused(suite, own):
    folder, gold = own
    for more in (["--images", str(folder)], ["--gold", str(gold)]):
        assert "--images and --gold go together" in str(invoke(suite, *more).exception)
    done = invoke(suite, "--images", str(folder), "--gold", str(gold), "--seed", "1")
    assert isinstance(done.exception, HraError) and done.exception.where == "--seed"


@pytest.mark.parametrize("suite", ASKING)
@pytest.mark.parametrize(
    ("option", "where"), [("--quick", "--scale"), ("--scale=small", "--scale"), ("--parts=x", "--parts")]
)
def test_ones_own_pages_have_no_scale_and_no_parts(suite, option, where, own):
    folder, gold = own
    done = invoke(suite, "--images", str(folder), "--gold", str(gold), option)
    assert isinstance(done.exception, HraError) and done.exception.where == where


@pytest.mark.parametrize("seed", ["-1", "99999999999999999999"])
@pytest.mark.parametrize("suite", ASKING)
def test_a_seed_below_0_or_beyond_64_bits_is_refused(suite, seed):
    done = invoke(suite, "--quick", "--seed", seed)
    assert done.exit_code == 2 and "--seed" in done.output


def test_a_record_names_the_seed_that_was_given(tmp_path):
    done = invoke("seeing", "--quick", "--seed", "5", "--json", str(tmp_path / "record.json"))
    assert done.exit_code == 0 and json.loads((tmp_path / "record.json").read_text())["seed"] == 5


def test_another_seed_makes_other_pages_scenes_and_crops():
    from itertools import islice

    from hra_lab.evaluation.answers import reading
    from hra_lab.evaluation.token_methods.images import pictures

    first, again, other = (next(iter(reading.tasks(1, seed))) for seed in (reading.SEED, reading.SEED, 5))
    assert (np.array_equal(first.image, again.image) and first.image.shape != other.image.shape) or not np.array_equal(
        first.image, other.image
    )
    crops = [[one.source for one in islice(pictures(1, 320, seed), 3)] for seed in (5, 5, 6)]
    assert crops[0] == crops[1] != crops[2]
