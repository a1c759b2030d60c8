"""The residency suite."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hra.domains import meshes
from hra.errors import BackendUnavailable, FileError
from hra_lab.bench.residency.mesh_row import MeshResidency
from hra_lab.bench.residency.scene_row import SceneResidency
from hra_lab.bench.suite import Row
from hra_lab.inputs.mesh_sources import DATA, bumpy, fetch, skull
from hra_lab.inputs.textured_models import TexturedModel, globe, textured_file

_MODELS = ("oculus-touch", "valve-index")


def residency_suite(data: Path = DATA) -> tuple[Row, ...]:
    """Three meshes and three textured scenes, in the order of the table; what was not fetched is skipped.

    Parameters
    ----------
    data : the folder that `make data` filled.
    """
    return (
        MeshResidency("skull_42k", skull, partial(bumpy, 4)),
        MeshResidency("bumpy_328k", partial(bumpy, 7), partial(bumpy, 3)),
        MeshResidency("dragon_871k", partial(_fetched, "dragon.ply", data), partial(bumpy, 3)),
        SceneResidency("globe_textured", globe, partial(globe, 3)),
        *(_fetched_scene(name, data) for name in _MODELS),
    )


def _fetched(name: str, data: Path) -> meshes.TriangleMesh:
    return meshes.load(_found(name, data))


def _fetched_scene(name: str, data: Path) -> SceneResidency:
    return SceneResidency(f"{name}_textured", partial(_fetched_model, name, data), partial(globe, 3))


def _fetched_model(name: str, data: Path) -> TexturedModel:
    return textured_file(_found(f"{name}.glb", data))


def _found(name: str, data: Path) -> Path:
    """The fetched file; a row whose file is missing is skipped."""
    try:
        return fetch(name, data)
    except FileError as error:
        raise BackendUnavailable(error.what, where=error.where, fix=error.fix) from error
