"""The meshes suite: builds beside whole-mesh simplification, cuts beside plain Python, files beside trimesh."""

from __future__ import annotations

from pathlib import Path

from hra.errors import FileError
from hra_lab.bench.meshes.build_row import BuildBenchmark
from hra_lab.bench.meshes.cut_rows import BudgetBenchmark, PixelsBenchmark
from hra_lab.bench.meshes.growth_row import GrowthBenchmark
from hra_lab.bench.meshes.inputs import Input
from hra_lab.bench.meshes.instances_row import InstancesBenchmark
from hra_lab.bench.meshes.load_row import LoadBenchmark
from hra_lab.bench.suite import Row
from hra_lab.inputs.mesh_sources import DATA, fetch

_BUMPY = 8  # subdivisions: 1,310,720 triangles
_BUDGET = 100_000


def mesh_suite(data: Path = DATA) -> tuple[Row, ...]:
    """All benchmarks, in the order of the table; cuts are of the dragon if it was fetched, else of the sphere.

    Parameters
    ----------
    data : the folder that `make data` filled.
    """
    dragon = Input(data / "meshes" / "dragon.ply")
    try:
        fetch("dragon.ply", data)
        cut = dragon
    except FileError:
        cut = Input(_BUMPY)
    return (
        BuildBenchmark("build_bumpy_1310k", Input(_BUMPY)),
        BuildBenchmark("build_bumpy_1310k_normals", Input(_BUMPY, normals=True), peers=False),
        BuildBenchmark("build_bumpy_1310k_certified", Input(_BUMPY, certified=True), peers=False),
        BuildBenchmark("build_dragon_871k", dragon),
        BudgetBenchmark("cut_budget", cut, _BUDGET),
        PixelsBenchmark("cut_pixels", cut),
        PixelsBenchmark("cut_pixels_bumpy_1310k", Input(_BUMPY)),
        InstancesBenchmark("instances_10000_tenth", 0.1),
        InstancesBenchmark("instances_10000_small", 0.1, triangles=2_300),
        InstancesBenchmark("instances_10000_all", 1.0),
        LoadBenchmark("load_asset", cut),
        GrowthBenchmark("growth"),
    )
