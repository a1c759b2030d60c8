"""Jobs over folders: shards, the way back after an interruption, and what is refused."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from hra.domains import tokens
from hra.domains.tokens.commands import app
from hra.domains.tokens.corpus import job
from hra.errors import FileError, HraError

ALLOCATION = tokens.TokenAllocation(budget=12, relevance="uniform")
_SCRIPT = """
import sys
from hra.domains import tokens
allocation = tokens.TokenAllocation(budget=12, relevance="uniform")
tokens.allocate_folder(sys.argv[1], sys.argv[2], allocation, jobs=2, shard_size=2, sample=int(sys.argv[3]) or None)
"""


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images are worked on here: for tests of what a job keeps and refuses, not of the processes that make it."""
    monkeypatch.setattr(job, "in_processes", lambda work, items, jobs: map(work, items))
    monkeypatch.setattr(job, "keep_freed_memory", lambda: None)  # for ever


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_rows_in_the_order_of_names_and_the_way_back(pictures: Path, tmp_path: Path):
    seen: list[tuple[int, int]] = []
    report = tokens.allocate_folder(
        pictures, tmp_path / "a", ALLOCATION, shard_size=5, progress=lambda *numbers: seen.append(numbers)
    )
    assert (report.images, report.shards, report.resumed, report.price) == (12, 3, 0, None)
    assert list(report.errors) == ["05-poison.jpg"] and seen[0] == (0, 12) and seen[-1] == (12, 12)
    table = pq.read_table([tmp_path / "a" / f"shard-{number:06}.parquet" for number in range(3)])
    assert table["id"].to_pylist() == sorted(table["id"].to_pylist()) and table.num_rows == 12
    names = [str(pictures / name) for name in table["id"].to_pylist()]
    expected = ALLOCATION({"path": names}).drop_columns("id")
    assert table.drop_columns("id").to_pylist() == expected.to_pylist()
    before = sums(tmp_path / "a")
    (tmp_path / "a" / "shard-000001.parquet").unlink()
    again = tokens.allocate_folder(pictures, tmp_path / "a", ALLOCATION, shard_size=5)
    assert again.resumed == 2 and again.errors == report.errors and sums(tmp_path / "a") == before


@pytest.mark.usefixtures("in_this_process")
def test_all_suffixes_of_formats_that_are_read_count_and_others_are_told(pictures: Path, tmp_path: Path):
    folder = tmp_path / "in"
    folder.mkdir()
    one = next(path for path in sorted(pictures.rglob("*.*")) if "poison" not in path.name)
    for name in ("a.JPE", "b.jfif", "c.jpeg", "d.heic", "e.txt", "f"):
        (folder / name).write_bytes(one.read_bytes())
    report = tokens.allocate_folder(folder, tmp_path / "a", ALLOCATION)
    assert (report.images, report.errors, report.skipped) == (3, {}, {"": 1, ".heic": 1, ".txt": 1})
    run = ["allocate", str(folder), "--budget", "12", "--relevance", "uniform", "--out", str(tmp_path / "b")]
    result = CliRunner().invoke(app, run)
    assert result.exit_code == 0 and "1 without suffix, 1 .heic, 1 .txt" in " ".join(result.output.split())
    assert "None" not in result.output  # no word of Python's for a price that was not asked for


@pytest.mark.usefixtures("in_this_process")
def test_names_that_are_no_text_and_links_that_lead_nowhere_are_rows(pictures: Path, tmp_path: Path):
    folder = tmp_path / "in"
    folder.mkdir()
    one = next(path for path in sorted(pictures.rglob("*.*")) if "poison" not in path.name)
    (folder / os.fsdecode(b"\xff.png")).write_bytes(one.read_bytes())
    (folder / "gone.png").symlink_to(folder / "nowhere.png")
    report = tokens.allocate_folder(folder, tmp_path / "a", ALLOCATION)
    assert report.images == 2 and report.errors == {"gone.png": "invalid-file: the file does not exist"}
    rows = pq.read_table(tmp_path / "a" / "shard-000000.parquet").to_pylist()
    assert [row["id"] for row in rows] == ["gone.png", "\\udcff.png"] and rows[1]["indices"]
    (tmp_path / "a" / "job.json").unlink()
    with pytest.raises(HraError, match=r"no job\.json"):
        tokens.allocate_folder(folder, tmp_path / "a", replace(ALLOCATION, budget=3))


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_of_another_job_is_refused(pictures: Path, tmp_path: Path):
    small = tmp_path / "small"
    small.mkdir()
    (small / "bad.png").write_bytes(b"none")
    tokens.allocate_folder(small, tmp_path / "a", ALLOCATION)
    for other, size in ((tokens.TokenAllocation(budget=13, relevance="uniform"), 256), (ALLOCATION, 128)):
        with pytest.raises(HraError, match="another job"):
            tokens.allocate_folder(small, tmp_path / "a", other, shard_size=size)
    with pytest.raises(HraError, match="files, names, sizes and times of files differ"):
        tokens.allocate_folder(pictures, tmp_path / "a", ALLOCATION)
    (tmp_path / "a" / "shard-000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match="cannot be read"):
        tokens.allocate_folder(small, tmp_path / "a", ALLOCATION)
    with pytest.raises(HraError, match="none of the 3 images"):
        tokens.allocate_folder(small, tmp_path / "b", ALLOCATION, sample=3)


@pytest.mark.usefixtures("in_this_process")
def test_a_job_does_not_go_on_with_rows_of_other_pixels_or_of_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "in"
    folder.mkdir()
    pixels = bytes(range(192)), bytes(range(192))[::-1]
    for name, content in zip("ab", pixels, strict=True):
        (folder / f"{name}.ppm").write_bytes(b"P6 8 8 255\n" + content)
    tokens.allocate_folder(folder, tmp_path / "a", ALLOCATION, shard_size=1)
    (tmp_path / "a" / "shard-000001.parquet").unlink()
    monkeypatch.setattr("hra.domains.tokens.corpus.job.__version__", "0.0.0")
    with pytest.raises(HraError, match="another job: hra differ"):
        tokens.allocate_folder(folder, tmp_path / "a", ALLOCATION, shard_size=1)
    monkeypatch.undo()
    assert tokens.allocate_folder(folder, tmp_path / "a", ALLOCATION, shard_size=1).resumed == 1
    (folder / "a.ppm").write_bytes(b"P6 8 8 255\n" + pixels[1])
    with pytest.raises(HraError, match="times of files differ"):
        tokens.allocate_folder(folder, tmp_path / "a", ALLOCATION, shard_size=1)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"shard_size": 0}, "shards of 0"),
        ({"shard_size": 2.0}, "shards of 2.0"),
        ({"shard_size": None}, "shards of None"),
        ({"sample": 2.5}, "sample of 2.5"),
        ({"sample": "3"}, "sample of '3'"),
        ({"jobs": 0}, "0 processes"),
        ({"sample": 0}, "sample of 0"),
        ({"allocation": tokens.TokenAllocation(relevance="uniform", bank=3)}, "shards of 256"),
        ({"allocation": tokens.TokenAllocation(relevance="uniform", bank=2), "sample": 4}, "beside a bank"),
        ({"images": "nowhere"}, "the folder does not exist"),
    ],
)
def test_settings_that_do_not_fit_are_refused(pictures: Path, tmp_path: Path, settings: dict, what: str):
    with pytest.raises(HraError, match=what):
        tokens.allocate_folder(**{"images": pictures, "out": tmp_path / "a", "allocation": ALLOCATION, **settings})


def test_the_command(pictures: Path, tmp_path: Path):
    def run(*more: object):
        arguments = ("allocate", pictures, "--relevance", "uniform", "--budget", 12, *more)
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    done = run("-o", tmp_path / "a", "--sample", 6, "--jobs", 2)
    assert done.exit_code == 1 and "05-poison.jpg: invalid-image" in done.output
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "job.json",
        "price.json",
        "shard-000000.parquet",
    ]
    assert "--out" in str(run().exception) and "--out" in str(run("-o", tmp_path / "a.png").exception)
    alone = CliRunner().invoke(app, ["allocate", str(pictures / "09.png"), "--jobs", "2"])
    assert "for folders" in str(alone.exception)


@pytest.mark.usefixtures("in_this_process")
def test_a_damaged_price_is_refused_and_sizes_of_numpy_are_those_of_python(pictures: Path, tmp_path: Path):
    options: dict[str, Any] = {"shard_size": np.int64(6), "sample": np.int64(3)}
    tokens.allocate_folder(pictures, tmp_path / "a", ALLOCATION, **options)
    for text in ("{}", '{"price": null}', '{"price": "a"}', '{"price": true}', '{"price": 1e999}', '{"price": -1}'):
        (tmp_path / "a" / "price.json").write_text(text)
        with pytest.raises(FileError, match="the price is"):
            tokens.allocate_folder(pictures, tmp_path / "a", ALLOCATION, shard_size=6, sample=3)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [0, 6])
def test_killed_at_ten_random_moments_the_rows_are_the_same(pictures: Path, tmp_path: Path, sample: int):
    command = [sys.executable, "-c", _SCRIPT, str(pictures)]
    began = time.monotonic()
    subprocess.run([*command, str(tmp_path / "whole"), str(sample)], check=True, timeout=300)
    seconds, chance = time.monotonic() - began, random.Random(sample)
    for number in range(10):
        out = tmp_path / str(number)
        running = subprocess.Popen([*command, str(out), str(sample)], start_new_session=True)
        time.sleep(chance.uniform(0.2, 1) * seconds)
        os.kill(running.pid, signal.SIGKILL)  # the parent alone: its processes have to notice
        running.wait()
        subprocess.run([*command, str(out), str(sample)], check=True, timeout=300)
        found = {name: value for name, value in sums(out).items() if name.endswith((".parquet", ".json"))}
        assert found == sums(tmp_path / "whole")
