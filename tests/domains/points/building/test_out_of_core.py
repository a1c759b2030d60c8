"""Clouds built in parts: the file is that of the whole cloud, byte for byte, and nothing is left behind."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hra.testing
from hra.domains import points
from hra.domains.points.building import out_of_core
from hra.domains.points.commands import app
from hra.errors import FileError, HraError, LimitExceeded
from tests.helpers.copc import two_levels

laspy = pytest.importorskip("laspy")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory counts points, and nothing else takes any."""
    monkeypatch.setattr(out_of_core, "points_of_part", lambda memory, fields: memory)


def write_las(path: Path, places: np.ndarray, kind: int = 2, doubles: int = 0) -> Path:
    """A file with extra dimensions of random ``doubles``."""
    rng = np.random.default_rng(1)
    header = laspy.LasHeader(point_format=kind)
    extra = [f"extra_{number}" for number in range(doubles)]
    header.add_extra_dims([laspy.ExtraBytesParams(name=name, type="f8") for name in extra])
    header.scales, header.offsets = np.full(3, 0.01), np.array([500_000.0, 4_000_000.0, 100.0])
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = (places + header.offsets).T
    for name in ("red", "green", "blue") if kind in (2, 7) else ("intensity",):
        cloud[name] = rng.integers(0, 40_000, len(places))
    for name in extra:
        cloud[name] = rng.random(len(places))
    cloud.write(str(path))
    return path


def terrain(count: int) -> np.ndarray:
    """A surface of uneven density, with points far away from all others."""
    rng = np.random.default_rng(count)
    x, y = rng.exponential(20, (2, count))
    x[: count // 100] += rng.random(count // 100) * 5000
    return np.column_stack([x, y, 5 * np.sin(x / 9) + rng.normal(size=count) * 0.05])


def same_file(source: Path, most: int) -> points.CloudReport:
    """What building in parts came to, after both files were compared."""
    whole, parts = source.with_name("whole.hpt"), source.with_name("parts.hpt")
    points.save_tree(whole, points.build(points.load_points(source)))
    report = points.build_out_of_core(source, parts, memory=most)
    assert parts.read_bytes() == whole.read_bytes()
    assert not parts.with_name("parts.hpt.parts").exists()
    return report


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("most", [1, 8, 100, 5000])
def test_the_tree_is_that_of_the_whole_cloud(most: int, tmp_path: Path):
    places = np.unique(terrain(700).round(2), axis=0)
    np.random.default_rng(0).shuffle(places)
    report = same_file(write_las(tmp_path / "a.las", places), most)
    assert report.leaves == len(places) and (report.parts == 1) == (most == 5000)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("name", "kind"), [("a.las", 0), ("a.laz", 2), ("a.laz", 7), ("a.laz", 6), ("a.las", 3)])
def test_files_of_all_kinds(name: str, kind: int, tmp_path: Path):
    same_file(write_las(tmp_path / name, terrain(900), kind), 60)


@pytest.mark.usefixtures("small_parts")
def test_copc_and_points_that_are_there_twice(tmp_path: Path):
    (tmp_path / "a.copc.laz").write_bytes(two_levels())
    assert same_file(tmp_path / "a.copc.laz", 20).leaves == 100
    places = np.repeat(terrain(50), 6, axis=0)
    same_file(write_las(tmp_path / "b.las", places), 20)
    with pytest.raises(LimitExceeded, match="6 points lie at one place") as refused:
        points.build_out_of_core(tmp_path / "b.las", tmp_path / "b.hpt", memory=5)
    assert refused.value.where == str(tmp_path / "b.las")
    assert not list(tmp_path.glob("b.hpt*"))


@pytest.mark.usefixtures("small_parts")
def test_files_of_more_than_one_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hra.domains.points.building.out_of_core._BLOCK_BYTES", 2600)
    same_file(write_las(tmp_path / "a.laz", terrain(1010)), 300)


@pytest.mark.usefixtures("small_parts")
def test_fields_of_all_kinds_are_those_of_the_whole_cloud(tmp_path: Path):
    places = terrain(900)
    source = write_las(tmp_path / "a.las", places, 7, doubles=3)
    cloud = laspy.read(source)
    cloud.classification = np.random.default_rng(2).integers(0, 9, len(places))
    cloud.write(str(source))
    for most in (60, 1000):
        same_file(source, most)


@pytest.mark.parametrize("doubles", [0, 20])
def test_a_part_takes_no_more_than_is_planned_for_its_points(doubles: int, tmp_path: Path):
    count = 120_000
    source = write_las(tmp_path / "a.las", terrain(count), doubles=doubles)
    points.build_out_of_core(write_las(tmp_path / "b.las", terrain(300)), tmp_path / "b.hpt", memory=2**30)
    fields = np.dtype([(str(number), "<f8") for number in range(doubles)])
    # The least memory in which all points are one part.
    memory = next(m for m in range(2**28, 2**30, 2**18) if m > least(fields) and part(m, fields) >= count)
    tracemalloc.start()
    report = points.build_out_of_core(source, tmp_path / "a.hpt", memory=memory)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.parts == 1
    assert peak < memory - out_of_core._PROCESS_BYTES


def least(fields: np.dtype) -> int:
    """Bytes that the message asks for where they are too few."""
    with pytest.raises(HraError) as refused:
        part(0, fields)
    return int(refused.value.fix.split()[1]) * 2**20


def part(memory: int, fields: np.dtype) -> int:
    return out_of_core.points_of_part(memory, fields)


_BUILD = """
import sys
from pathlib import Path
from hra.domains import points
print(points.build_out_of_core(sys.argv[1], sys.argv[2], memory=int(sys.argv[3])).parts)
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak of a process")
@pytest.mark.parametrize("doubles", [0, 5, 20])
def test_the_whole_process_stays_within_the_memory(doubles: int, tmp_path: Path):
    count = 1_500_000 if doubles < 20 else 600_000
    rng = np.random.default_rng(3)
    x, y = rng.random((2, count)) * 1000
    source = write_las(tmp_path / "a.las", np.column_stack([x, y, 20 * np.sin(x / 90)]), doubles=doubles)
    fields = np.dtype([(str(number), "<f8") for number in range(doubles)])
    whole = next(m for m in range(2**29, 2**31, 2**22) if part(m, fields) >= count)
    for memory, some in ((least(fields), True), (whole, False)):
        words = [sys.executable, "-c", _BUILD, source, tmp_path / "a.hpt", memory]
        answer = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True).stdout.split()
        assert (int(answer[0]) > 1) == some
        assert int(answer[1]) * 1024 <= memory


def test_the_command_says_what_came_of_it(tmp_path: Path):
    source, out, answer = write_las(tmp_path / "a.las", terrain(300)), tmp_path / "a.hpt", tmp_path / "a.json"
    words = ["build", source, "-o", out, "--memory", "1GiB", "--json", answer]
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    tree = points.load_tree(out)
    assert f'"nodes": {len(tree.parent)}' in answer.read_text("utf-8")
    hra.testing.check_hierarchy(tree.hierarchy)
    words = ["build", source, "-o", out, "--memory", "1GiB", "--level", "1"]
    assert isinstance(CliRunner().invoke(app, [*map(str, words)]).exception, HraError)


def refused(source: Path, error: type[HraError], match: str, **options: Any) -> None:
    with pytest.raises(error, match=match):
        points.build_out_of_core(source, source.with_name("out.hpt"), **{"memory": 2**30, **options})
    assert not list(source.parent.glob("out.hpt*"))


def test_what_cannot_be_built_is_refused(tmp_path: Path):
    whole = write_las(tmp_path / "a.las", terrain(300))
    refused(whole, HraError, "too little", memory=2**20)
    fields = write_las(tmp_path / "fields.las", terrain(300), doubles=9)
    refused(fields, HraError, "too little .* whose points have fields of 72 bytes", memory=295 * 2**20)
    (tmp_path / "cut.las").write_bytes(whole.read_bytes()[:-100])
    refused(tmp_path / "cut.las", FileError, "do not fit into its bytes")
    refused(write_las(tmp_path / "none.las", np.empty((0, 3))), FileError, "no points")
    (tmp_path / "a.ply").write_bytes(b"ply\n")
    refused(tmp_path / "a.ply", FileError, "only LAS and LAZ")
    refused(tmp_path / "missing.las", FileError, "the file does not exist")


def test_a_folder_of_another_job_is_left_alone(tmp_path: Path):
    (tmp_path / "out.hpt.parts").mkdir()
    (tmp_path / "out.hpt.parts" / "job.json").write_text('{"points": "other.las"}')
    with pytest.raises(HraError, match="results of another job"):
        points.build_out_of_core(write_las(tmp_path / "a.las", terrain(9)), tmp_path / "out.hpt", memory=2**30)
    assert (tmp_path / "out.hpt.parts" / "job.json").exists()
