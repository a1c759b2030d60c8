"""Valid files of points and splats, of built trees, and of shards of tokens, to be damaged at random."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.helpers.copc import two_levels
from tests.helpers.splat_files import packed_ply, splat_rows, spz


def clouds() -> tuple[tuple[bytes, str], ...]:
    """Points and splats as PLY, and points as LAS, LAZ and COPC where laspy is there to write it."""
    from hra.domains import points

    made = [_written(lambda path, cloud=cloud: points.save_points(path, cloud), ".ply") for cloud in _both()]
    return (*made, *_las())


def splats() -> tuple[tuple[bytes, str], ...]:
    """Splats in every other form: .splat, .spz of three versions, compressed PLY, and PLY with harmonics."""
    from hra.domains import points

    cloud = _both()[1]
    cloud = replace(cloud, harmonics=np.random.default_rng(1).normal(size=(20, 8, 3)).astype(np.float32))
    packed = [(spz(version, bands), ".spz") for version in (2, 3, 4) for bands in (0, 3)]
    texts = [(packed_ply(bands), ".ply") for bands in (0, 3)]
    return (*packed, *texts, (splat_rows(), ".splat"), _written(lambda path: points.save_points(path, cloud), ".ply"))


SOG = Path(__file__).parents[2] / "fixtures" / "splats.sog"
"""300 random splats, written by splat-transform 2.7.1."""


def sog() -> tuple[tuple[bytes, str], ...]:
    """The archive, and its description, which reads the pictures of `sog_pictures`."""
    with zipfile.ZipFile(SOG) as archive:
        return (SOG.read_bytes(), ".sog"), (archive.read("meta.json"), ".json")


def sog_pictures() -> dict[str, bytes]:
    """The pictures of the archive by name."""
    with zipfile.ZipFile(SOG) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(".webp")}


def trees() -> tuple[tuple[bytes, str], ...]:
    """The trees over both, as `hra points build` writes them."""
    from hra.domains import points

    return tuple(
        _written(lambda path, cloud=cloud: points.save_tree(path, points.build(cloud)), ".hpt") for cloud in _both()
    )


def shards() -> tuple[tuple[bytes, str], ...]:
    """A shard with one image that failed."""
    import pyarrow

    from hra.domains.tokens.corpus.job import write_shard

    table = pyarrow.table({"id": ["a", "b"], "error": [None, "it is cut off"], "gain": [0.5, None]})
    return (_written(lambda path: write_shard(path, table), ".parquet"),)


def _both() -> tuple:
    from hra.domains import points

    rng = np.random.default_rng(0)
    places, colors = rng.random((20, 3)), rng.random((20, 3))
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (20, 1))
    splats = points.SplatCloud.of(places, np.full((20, 3), 0.1), turns, colors, np.full(20, 0.5))
    return points.PointCloud(places, colors), splats


def _las() -> list[tuple[bytes, str]]:
    try:
        import laspy
    except ImportError:
        return []
    rng, result = np.random.default_rng(0), []
    for kind, suffix in ((2, ".las"), (0, ".laz"), (7, ".laz")):
        cloud = laspy.create(point_format=kind)
        cloud.x, cloud.y, cloud.z = rng.random((3, 20))
        cloud.intensity = np.arange(20)
        content = io.BytesIO()
        cloud.write(content, do_compress=suffix == ".laz")
        result.append((content.getvalue(), suffix))
    return [*result, (two_levels(), ".copc.laz")]


def _written(write: Callable[[Path], None], suffix: str) -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        write(path)
        return path.read_bytes(), suffix
