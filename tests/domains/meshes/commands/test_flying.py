"""``hra mesh fly``: frames, plots and numbers of a streamed mesh."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hra.domains import meshes
from tests.helpers.command import run_hra

pytestmark = pytest.mark.gl


@pytest.fixture
def asset(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> Path:
    bumpy_clusters.save(tmp_path / "ball.hra", grid_bits=16)
    return tmp_path / "ball.hra"


def test_an_orbit_is_written_as_frames_plots_and_numbers(asset: Path, tmp_path: Path) -> None:
    out, mesh = tmp_path / "out", meshes.open_asset(asset)
    pool = mesh.slot_bytes * 4
    options = ("--frames", "4", "--pool", str(pool), "--upload", str(mesh.slot_bytes), "--viewport", "96x64")
    assert run_hra("mesh", "fly", str(asset), "-o", str(out), *options) == 0
    record = json.loads((out / "fly.json").read_text())
    assert [row["held_bytes"] <= pool for row in record["frames"]] == [True] * 4 and record[
        "largest_held_bytes"
    ] <= pool
    # One page in each frame from the second on: what is shown gets no worse.
    assert [row["loaded_bytes"] // mesh.slot_bytes for row in record["frames"][1:3]] == [1, 1]
    flips = [row["flip"] for row in record["frames"]]
    assert flips[-1] <= flips[0] < 0.3 and record["mean_flip"] == pytest.approx(np.mean(flips), abs=1e-4)
    frames = [np.asarray(Image.open(out / f"frame_{k:04d}.png")) for k in range(4)]
    assert frames[0].shape == (64, 96, 3) and all((frame != frame[0, 0]).any(axis=2).mean() > 0.1 for frame in frames)
    assert Image.open(out / "fly.gif").n_frames == 4  # pyright: ignore[reportAttributeAccessIssue]
    assert Image.open(out / "residency.png").width > 500


def test_poses_from_a_file_and_no_comparison(asset: Path, tmp_path: Path) -> None:
    poses = tmp_path / "poses.txt"  # two KITTI poses that look along +z
    poses.write_text("1 0 0 0 0 1 0 0 0 0 1 -4\n1 0 0 0 0 1 0 0 0 0 1 -3\n")
    options = ("--path", str(poses), "--no-compare", "--color", "level", "--viewport", "64x48")
    assert run_hra("mesh", "fly", str(asset), "-o", str(tmp_path / "out"), *options) == 0
    record = json.loads((tmp_path / "out" / "fly.json").read_text())
    assert record["frame_count"] == 2 and record["frames"][0]["flip"] is None and "mean_flip" not in record


def test_a_pool_below_the_coarsest_level_is_refused(asset: Path, tmp_path: Path, capsys) -> None:
    assert run_hra("mesh", "fly", str(asset), "-o", str(tmp_path / "out"), "--pool", "100") == 2
    assert "bytes" in capsys.readouterr().err and not list((tmp_path / "out").glob("*.png"))
