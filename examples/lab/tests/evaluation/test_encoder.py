"""A frozen encoder with fewer tokens: its parts with random weights, and the real one where its package is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra.errors import FileError, HraError, MissingExtra

torch = pytest.importorskip("torch")

from hra_lab.commands.encoder import encoder  # noqa: E402
from hra_lab.evaluation.encoder import ways  # noqa: E402
from hra_lab.evaluation.encoder.adapter import trained  # noqa: E402
from hra_lab.evaluation.encoder.reading import CELLS, reading_of  # noqa: E402
from hra_lab.evaluation.encoder.run import page, run, verdict  # noqa: E402
from hra_lab.evaluation.encoder.vit import (  # noqa: E402
    agreement,
    grid_centres,
    random_vit,
    read_vit,
    weights_file,
    whole,
)


def _image(seed: int = 0) -> np.ndarray:
    small = np.random.default_rng(seed).random((28, 28, 3), dtype=np.float32)
    return np.ascontiguousarray(small.repeat(8, axis=0).repeat(8, axis=1))


def test_positions_of_a_grid_are_its_interpolated_table() -> None:
    vit = random_vit()
    for count in (4, 8, 16):
        table = vit.table.permute(2, 0, 1)[None]
        expected = torch.nn.functional.interpolate(table, (count, count), mode="bicubic", align_corners=False)
        made = vit.positions(grid_centres(count)).T.reshape(1, -1, count, count)
        torch.testing.assert_close(made, expected, atol=1e-5, rtol=1e-5)


def test_reading_a_small_grid_is_bilinear_interpolation() -> None:
    corners = grid_centres(8) * CELLS - 1
    reading = reading_of(np.concatenate([corners, corners + 2], axis=1))
    features = np.random.default_rng(0).random((64, 5), dtype=np.float32)
    small = torch.from_numpy(features.T.reshape(1, 5, 8, 8).copy())
    expected = torch.nn.functional.interpolate(small, (CELLS, CELLS), mode="bilinear", align_corners=False)
    made = (reading.blended @ features).T.reshape(1, 5, CELLS, CELLS)
    np.testing.assert_allclose(made, expected.numpy(), atol=1e-5)


def test_all_patches_are_the_full_run() -> None:
    vit, image = random_vit(), _image()
    with torch.no_grad():
        made = ways.together(ways.finest, vit, image)
        torch.testing.assert_close(vit.output(made.hidden), whole(vit, image), atol=1e-5, rtol=1e-5)
    np.testing.assert_array_equal(made.reading.blended, np.eye(CELLS**2, dtype=np.float32))


def test_every_way_costs_what_it_says() -> None:
    vit, image = random_vit(layers=5), _image()
    with torch.no_grad():
        for row in ways.rows(5):
            made = row.way(vit, image)
            assert torch.isfinite(made.hidden).all()
            np.testing.assert_allclose(made.reading.blended.sum(axis=1), 1, atol=1e-5)
            assert made.reading.owner.shape == (CELLS**2, len(made.hidden))
            if row.group in ("", "a", "c", "one scale") or "themselves" in row.name:
                # A cut may lack one of the levels, and with it its class token.
                assert 64 * 5 <= sum(made.lengths) <= 65 * 5, row.name


def test_an_unmoved_base_is_what_the_encoder_makes_of_it_alone() -> None:
    vit, image = random_vit(), _image()
    with torch.no_grad():
        made = ways.base_unmoved(6, vit, image)
        shown = ways.saccades(6, image, vit.patch).part(np.arange(36))
        alone = ways.together(lambda image, patch: shown, vit, image)
    torch.testing.assert_close(made.hidden[:36], alone.hidden, atol=1e-4, rtol=1e-4)


def test_an_adapter_learns_what_it_is_trained_on() -> None:
    vit, image = random_vit(), _image()
    placed = trained(vit, ways.pyramid, [image], 20)
    with torch.no_grad():
        expected = whole(vit, image)
        before, after = (ways.together(ways.pyramid, vit, image, placed=how) for how in (ways.by_centre, placed))
        errors = [
            float((torch.from_numpy(made.reading.blended) @ vit.output(made.hidden) - expected).square().mean())
            for made in (before, after)
        ]
    assert errors[1] < errors[0]


def test_the_page_tells_every_row_and_decides_by_the_interval() -> None:
    photos = [(str(i), ("development", "test")[i % 2], _image(i)) for i in range(4)]
    record = run(random_vit(), photos, 1, lambda name: None)
    text = page(record)
    assert all(f"| {row['way']} |" in text for row in record["rows"])
    for row in record["rows"]:
        row["test"]["correlation"] = [0.5, 0.5]
    assert verdict(record).startswith("**None")
    best = next(row for row in record["rows"] if row["group"] == "c")
    best["development"]["correlation"], best["test"]["correlation"] = [0.9, 0.9], [0.6, 0.7]
    assert verdict(record).startswith("**(c) keeps")


def test_what_is_best_is_chosen_by_photos_that_do_not_judge_it() -> None:
    def row(group: str, way: str, development: float, test: float) -> dict[str, Any]:
        halves = {half: {"correlation": [value] * 3} for half, value in (("development", development), ("test", test))}
        return {"group": group, "way": way, "token_layers": 100, **halves}

    record = {"rows": [row("-", "down-sampling", 0.5, 0.5), row("trained", "adapter", 0.5, 0.5)]}
    record["rows"] += [row(group, "best", 0.6, 0.4) for group in "abcd"]
    record["rows"].append(row("a", "lucky", 0.3, 0.9))
    assert verdict(record).startswith("**None") and "(a) best -0.100" in verdict(record)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"\x3a\x00")
    with pytest.raises(HraError, match="no encoder"):
        read_vit(tmp_path / "a.onnx")
    with pytest.raises(FileError, match="does not exist"):
        read_vit(tmp_path / "b.onnx")


@pytest.mark.parametrize("name", ["nowhere", "a.txt"])
def test_photos_that_are_no_folder_are_refused_before_the_work(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(FileError, match="folder"):
        encoder(tmp_path / name, weights=tmp_path / "a.txt")


def test_the_rebuilt_encoder_is_that_of_the_file() -> None:
    pytest.importorskip("onnxruntime")
    try:
        file = weights_file()
    except MissingExtra as error:
        pytest.skip(str(error))
    with torch.no_grad():
        differs = agreement(file, read_vit(file), _image())
    assert differs is not None and differs < 2e-5
