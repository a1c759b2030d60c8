"""Token rows by Ray's actors: those of the process pool, whatever the format of batches."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from hra.domains import tokens
from hra.errors import FileError, HraError

SETTINGS: dict[str, Any] = {"budget": 12, "relevance": "uniform"}


@pytest.fixture(scope="module")
def hra_ray() -> Any:
    """The integration; Ray takes seconds to import, which processes that run none of these tests need not."""
    pytest.importorskip("ray")
    return importlib.import_module("hra.integrations.ray")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for number in range(9):
        Image.fromarray(rng.integers(0, 256, (64, 96, 3), dtype=np.uint8)).save(folder / f"{number}.png")
    (folder / "poison.jpg").write_bytes(b"none")
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def by_id(table: Any) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: row["id"])


@pytest.mark.parametrize("kind", ["dict", "numpy", "pyarrow", "pandas"])
def test_batches_of_every_format(hra_ray: Any, pictures: Path, kind: str):
    names = sorted(map(str, pictures.iterdir()))
    batch: Any = {"path": names}
    expected = tokens.TokenAllocation(**SETTINGS)(batch)
    if kind == "numpy":
        batch = {"path": np.array(names)}
    elif kind != "dict":
        import pyarrow as pa

        batch = pa.table(batch) if kind == "pyarrow" else pa.table(batch).to_pandas()
    assert hra_ray.TokenAllocation(**SETTINGS)(batch).equals(expected)


def test_actors_that_write_leave_one_whole_file_for_each_batch(hra_ray: Any, pictures: Path, tmp_path: Path):
    names = sorted(map(str, pictures.iterdir()))
    allocate = hra_ray.TokenAllocation(**SETTINGS, out=str(tmp_path / "rows"))
    for batch in (names[:4], names[4:], names[:4]):  # Ray repeats batches
        expected = tokens.TokenAllocation(**SETTINGS)({"path": batch})
        assert allocate({"path": batch}).equals(expected.select(["id", "error"]))
        assert expected in [pq.read_table(file) for file in (tmp_path / "rows").glob("*.parquet")]
    assert len(list((tmp_path / "rows").glob("*.parquet"))) == 2
    assert hra_ray.remaining([*names, "new.png"], tmp_path / "rows") == ["new.png"]


def test_other_questions_about_the_same_images_are_other_rows(hra_ray: Any, pictures: Path, tmp_path: Path):
    names = sorted(map(str, pictures.iterdir()))[:2]
    allocate = hra_ray.TokenAllocation(**SETTINGS, out=str(tmp_path / "rows"))
    for question in ("what is at the left?", "what is at the right?"):
        allocate({"path": names, "question": [question] * 2})
    rows = [name for file in (tmp_path / "rows").glob("*.parquet") for name in pq.read_table(file)["id"].to_pylist()]
    assert sorted(rows) == sorted(names * 2)


def test_names_that_are_there_twice_are_refused(hra_ray: Any, tmp_path: Path):
    _write(tmp_path / "a.parquet", NAMES[:1])
    with pytest.raises(HraError, match=r"'0\.png' is named more than once"):
        hra_ray.remaining([NAMES[0], *NAMES], tmp_path)


def test_a_name_that_is_no_text_is_found_again(hra_ray: Any, pictures: Path, tmp_path: Path):
    name = os.fsdecode(b"\xff.png")
    hra_ray.TokenAllocation(**SETTINGS, out=str(tmp_path))({"path": [name]})
    assert hra_ray.remaining([name, "new.png"], tmp_path) == ["new.png"]


def test_rows_of_other_settings_are_not_mixed(hra_ray: Any, tmp_path: Path):
    for _ in range(2):
        hra_ray.TokenAllocation(**SETTINGS, out=str(tmp_path))
    with pytest.raises(HraError, match="another job: allocation differ"):
        hra_ray.TokenAllocation(budget=13, relevance="uniform", out=str(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(FileError):
        hra_ray.TokenAllocation(**SETTINGS, out=str(tmp_path / "file"))


@pytest.mark.slow
def test_actors_alone_do_not_import_ray_data():
    program = "import sys; from hra.integrations.ray import TokenAllocation; print('ray.data' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


@pytest.mark.slow
def test_actors_without_ray_data_write_the_same_files(hra_ray: Any, pictures: Path, cluster: Any, tmp_path: Path):
    from ray.util import ActorPool

    names = sorted(map(str, pictures.iterdir()))
    batches = [{"path": names[begin : begin + 4]} for begin in range(0, len(names), 4)]
    actor = cluster.remote(num_cpus=1)(hra_ray.TokenAllocation)
    actors = ActorPool([actor.remote(**SETTINGS, out=str(tmp_path / "actors")) for _ in range(2)])
    tables: list[Any] = list(actors.map_unordered(lambda one, batch: one.__call__.remote(batch), batches))
    assert sum(table.num_rows for table in tables) == 10 and hra_ray.remaining(names, tmp_path / "actors") == []
    allocate = hra_ray.TokenAllocation(**SETTINGS, out=str(tmp_path / "here"))
    for batch in batches:
        allocate(batch)
    files = [{file.name: file.read_bytes() for file in (tmp_path / way).iterdir()} for way in ("actors", "here")]
    assert files[0] == files[1] and len(files[0]) == 4  # three batches and job.json


@pytest.mark.slow
def test_a_pool_of_actors_hands_on_the_rows_of_the_process_pool(
    hra_ray: Any, pictures: Path, cluster: Any, tmp_path: Path
):
    data = pytest.importorskip("ray.data")

    images = data.read_binary_files(str(pictures), include_paths=True)
    rows = images.map_batches(
        hra_ray.TokenAllocation, fn_constructor_kwargs=SETTINGS, batch_format="pyarrow", batch_size=4, concurrency=2
    )
    rows.write_parquet(str(tmp_path / "ray"))
    by_ray = by_id(pq.read_table(tmp_path / "ray"))
    assert len(by_ray) == 10 and sum(row["error"] is not None for row in by_ray) == 1
    tokens.allocate_folder(pictures, tmp_path / "pool", tokens.TokenAllocation(**SETTINGS))
    by_pool = by_id(pq.read_table(tmp_path / "pool" / "shard-000000.parquet"))
    names = {row.pop("id") for row in by_ray}
    assert {Path(name).name for name in names} == {row.pop("id") for row in by_pool}
    assert by_ray == by_pool


NAMES = [f"{number}.png" for number in range(6)]


def _write(path: Path, names: list[str]) -> bytes:
    pq.write_table(pa.table({"id": names, "gain": [0.5] * len(names)}), path)
    return path.read_bytes()


def test_rows_of_whole_files_are_done(hra_ray: Any, tmp_path: Path):
    _write(tmp_path / "a.parquet", NAMES[1:3])
    _write(tmp_path / "b.parquet", NAMES[4:5])
    assert hra_ray.remaining(iter(NAMES), tmp_path) == ["0.png", "3.png", "5.png"]
    assert hra_ray.remaining([], tmp_path) == []
    assert hra_ray.remaining(NAMES, tmp_path / "none") == NAMES


def test_files_that_were_cut_off_anywhere_are_taken_away(hra_ray: Any, tmp_path: Path):
    file = tmp_path / "a.parquet"
    whole = _write(file, NAMES[:3])
    for length in (0, 1, 4, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert hra_ray.remaining(NAMES, tmp_path) == NAMES
        assert not file.exists()
    file.write_bytes(whole)
    assert hra_ray.remaining(NAMES, tmp_path) == NAMES[3:] and file.exists()


def test_other_files_are_refused_and_stay(hra_ray: Any, tmp_path: Path):
    pq.write_table(pa.table({"name": NAMES}), tmp_path / "other.parquet")
    with pytest.raises(FileError, match="no column id"):
        hra_ray.remaining(NAMES, tmp_path)
    assert (tmp_path / "other.parquet").exists()


@pytest.mark.parametrize("names", [None, 5, "a.png", ["a.png", None], [Path("a.png")]], ids=repr)
def test_names_that_are_none_are_refused(hra_ray: Any, tmp_path: Path, names: Any):
    with pytest.raises(HraError, match=r"names(\[\d\])? must be a (list|str), got"):
        hra_ray.remaining(names, tmp_path)
