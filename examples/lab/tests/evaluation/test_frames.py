"""The evaluation of frames: pictures against known answers, fades, and the page's claims."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.errors import FileError
from hra_lab.commands.evaluate import evaluate
from hra_lab.evaluation.frames.frame_quality import (
    below_the_mark,
    compared,
    findings,
    render,
    tolerances_needed,
    verdicts,
)
from hra_lab.evaluation.frames.pixel_cuts import LIMIT, TOLERANCES, difference
from hra_lab.evaluation.frames.run import SMALL, pinned, run
from hra_lab.evaluation.frames.sequences import CHAIN, FADE, FADE_FRAMES, FULL, cross_faded
from hra_lab.evaluation.frames.stage import Shot, Surface


def square(level: float, size: int = 90) -> Shot:
    """A grey square of 20 x 20 pixels before black."""
    covered = np.zeros((size, size), np.bool_)
    covered[40:60, 30:50] = True
    return Shot(np.repeat(np.where(covered, level, 0)[..., None], 3, axis=2).astype(np.float32), covered)


def test_differences_are_means_over_what_is_covered():
    flip, share = difference(square(0.5), square(0.5))
    assert flip == 0 and share == 400 / 8100
    near, far = (difference(square(0.5), square(level))[0] for level in (0.55, 0.9))
    assert 0 < near < far < 1
    # What surrounds it is cut off before it is compared, and changes nothing.
    assert difference(square(0.5, 300), square(0.9, 300))[0] == pytest.approx(far, abs=1e-6)
    nothing = Shot(np.zeros((8, 8, 3), np.float32), np.zeros((8, 8), np.bool_))
    assert difference(nothing, nothing) == (0.0, 0.0)


def test_fades_are_steady_and_end_at_the_new_surface():
    first, second, third = (Surface(0, np.array([number])) for number in range(3))
    shown = cross_faded([first] * 3 + [second] * 2 + [third] * 20)
    assert len(shown) == 25 and shown[2] == ((1.0, first),)
    shares = [mixture[1][0] for mixture in shown[3 : 3 + FADE_FRAMES - 1]]
    np.testing.assert_allclose(shares, np.arange(1, FADE_FRAMES) / FADE_FRAMES)
    # What came in the midst of the fade waits for its end.
    assert all(mixture[1][1].same(second) for mixture in shown[3 : 3 + FADE_FRAMES - 1])
    assert shown[3 + FADE_FRAMES][1][1].same(third) and shown[-1][0][1].same(third)


def test_other_files_of_the_same_name_are_refused(tmp_path: Path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "armadillo.off").write_text("OFF\n")
    with pytest.raises(FileError, match="SHA-256"):
        pinned("armadillo.off", tmp_path)


@pytest.fixture(scope="module")
def record() -> dict:
    return run(SMALL, progress=lambda name: None)


@pytest.mark.gl
def test_rows_hold_what_they_say(record: dict):
    at_one = [row for row in record["pixels"] if row["tolerance"] == 1]
    assert len(at_one) == 2 * 2 * 3
    certified = [row for row in record["pixels"] if row["error"] == "certified"]
    for earlier, row in pairwise(certified):
        # Finer tolerances are tried only above the mark.
        assert (row["tolerance"] < 1) == (earlier["flip"] > LIMIT and earlier["tolerance"] > TOLERANCES[-1])
    for row in record["pixels"]:
        assert 0 <= row["flip"] <= row["worst"] < 1 and 0 < row["covered"] < 1
        assert 0 < row["triangles"] <= row["source_triangles"] == 5120
    rows = {row["method"]: row for row in record["popping"]}
    assert not any(rows[FULL]["pops"]) and not any(rows[FULL]["excess"]) and not any(rows[FULL]["errors"])
    assert all(len(row["pops"]) == SMALL.frames - 1 for row in rows.values())
    assert max(rows[CHAIN]["pops"]) > max(rows[CHAIN + FADE]["pops"]) > 0


@pytest.mark.gl
def test_the_page_quotes_the_numbers_of_the_run(record: dict):
    pages = render(record)
    text = pages["frame-quality.md"].decode()
    assert pages["pictures/frame_pops.png"].startswith(b"\x89PNG")
    for row in record["pixels"]:
        if row["tolerance"] == 1:
            assert f"{row['triangles']:,.0f}, {row['flip']:.4f}" in text
    assert all(claim(record["pixels"]) in text for claim in (tolerances_needed, below_the_mark, compared))
    for row in record["popping"]:
        assert f"| {row['method']} | {row['triangles']:,.0f} | {max(row['pops']):.3g} |" in text
    assert all(line in text for line in (*verdicts(record["pixels"]), *findings(record["popping"])))


def test_losses_are_counted_as_losses():
    row = {"shading": "flat", "view": "near", "error": "certified", "tolerance": 1.0}
    lines = list(verdicts([row | {"mesh": "a", "flip": 0.01}, row | {"mesh": "b", "flip": 0.03}]))
    assert lines == ["- flat, near, certified: at most 0.0300 (b), above the mark; 1 of 2 meshes above it."]
    found = [row | {"mesh": "a", "flip": 0.03}, row | {"mesh": "a", "flip": 0.01, "tolerance": 0.5}]
    found += [row | {"mesh": "b", "flip": 0.01}, row | {"mesh": "c", "flip": 0.03, "tolerance": 0.125}]
    assert tolerances_needed(found) == "Of 3 cases below the mark: 1 at 1 px, 2 at 0.5 px."
    looks = {"error": "appearance", "triangles": 30, "source_triangles": 100}
    other = {"triangles": 20, "source_triangles": 100}
    pair = [row | other | {"mesh": "a", "flip": 0.03}, row | looks | {"mesh": "a", "flip": 0.01}]
    pair.append(row | {"mesh": "a", "error": "quadric", "flip": 0.04, "triangles": 10, "source_triangles": 100})
    assert below_the_mark(pair).startswith('Of 1 cases below the mark: 0 with "certified" (drawing 20% of')
    assert ', 1 with "appearance" (drawing 30%' in below_the_mark(pair)
    assert "1.50 to 1.50 times" in compared(pair) and "fewer in 0 cases, more in 1." in compared(pair)
    rows = [{"mesh": "a", "method": name, "pops": [0.0, pop]} for name, pop in (("ours", 2.0), ("peer", 1.0))]
    worse, better = findings(rows)
    assert "larger than those of `peer` on 1 of 1" in worse and "nowhere larger" in better


@pytest.mark.gl
def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: dict):
    monkeypatch.setattr("hra_lab.evaluation.frames.run.run", lambda sizes, progress: record)
    done = CliRunner().invoke(evaluate, ["frames", "--scale", "small", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "largest pops of" in done.output
    assert (tmp_path / "frame-quality.md").read_text().startswith("# What frames of a mesh look like")
    assert (tmp_path / "pictures" / "frame_pops.png").is_file()
