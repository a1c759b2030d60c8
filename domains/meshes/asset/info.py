"""What an asset says about itself in JSON: the mesh in numbers, how it was built, and its materials."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.meshes.asset.layout import Kind
from hra.domains.meshes.asset.mapped import MappedFile
from hra.domains.meshes.asset.material_records import Images, material_of, record_of
from hra.domains.meshes.asset.tables import Tables
from hra.domains.meshes.building.report import BuildReport
from hra.domains.meshes.mesh.materials import Material
from hra.errors import MeshError
from hra.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.errors import FileError
from hra.files.json_text import parse_object


def info_sections(mesh: ClusterMesh) -> dict[str, tuple[Kind, np.ndarray]]:
    """The sections "info" and "images" of a mesh."""
    materials = mesh.attributes.materials if mesh.attributes else ()
    images = Images()
    records = [record_of(material, images) for material in materials]
    facts = mesh_facts(mesh.hierarchy, mesh.triangles_per_cluster)
    text = info_text(facts, mesh.report and asdict(mesh.report), records)
    parts = {"info": text}
    if images.content:
        parts["images"] = np.frombuffer(images.content, np.uint8)
    return {name: (Kind.BLOCK, part) for name, part in parts.items()}


def info_text(facts: dict[str, Any], report: dict[str, Any] | None, materials: list[dict[str, Any]]) -> np.ndarray:
    """The section "info", uint8."""
    info = {"mesh": facts, "report": report, "materials": materials}
    # Escaped: names may hold half a surrogate pair, which UTF-8 cannot.
    return np.frombuffer(json.dumps(info, indent=1, allow_nan=False).encode("ascii"), np.uint8)


def mesh_facts(hierarchy: Hierarchy, triangle_count: np.ndarray) -> dict[str, Any]:
    """The mesh in numbers, from its hierarchy and the triangles of each cluster, int [N]."""
    level, certified = hierarchy.attribute("level"), "hausdorff" in hierarchy.node
    return cluster_facts(level, hierarchy.added_by, triangle_count, len(hierarchy), certified=certified)


def cluster_facts(
    level: np.ndarray, added_by: np.ndarray, triangle_count: np.ndarray, groups: int, *, certified: bool
) -> dict[str, Any]:
    """The same from what is known of the clusters [N], of ``groups`` groups."""
    return {
        "triangles": int(triangle_count[level == 0].sum()),
        "clusters": triangle_count.size,
        "groups": groups,
        "levels": int(level.max()) + 1,
        "root_triangles": int(triangle_count[added_by < 0].sum()),
        "certified": certified,
    }


def read_info(file: MappedFile, tables: Tables) -> dict[str, Any]:
    """The section "info".

    Raises
    ------
    FileError : it is not such a JSON object, or it describes another mesh.
    """
    try:
        text = file.section("info", Kind.BLOCK, "|u1").tobytes()
        info = parse_object(text, "info of the mesh asset", file.where)
    except FileError as error:
        raise file.error(error.what) from error
    if not set(info) >= {"mesh", "report", "materials"}:
        raise file.error("the info of the mesh asset is incomplete")
    facts = mesh_facts(tables.hierarchy, tables.triangle_count)
    # What earlier versions called certified was bounded on one side only: the tables say what is known.
    if not isinstance(info["mesh"], dict) or {**info["mesh"], "certified": facts["certified"]} != facts:
        raise file.error("the info of the mesh asset describes another mesh")
    return {**info, "mesh": facts}


def read_report(file: MappedFile, info: dict[str, Any]) -> BuildReport | None:
    """How the mesh was built, None if that is not known. Fields of later versions are passed over.

    Raises
    ------
    FileError : not the fields of a report, or something else than numbers in them.
    """
    record = info["report"]
    if record is None:
        return None
    names = [field.name for field in fields(BuildReport)]
    known = {name: record[name] for name in names if name in record} if isinstance(record, dict) else {}
    if len(known) < len(names) or not _plausible(**known):
        raise file.error(f"the report of the mesh asset does not have the fields {', '.join(names)}")
    return BuildReport(**known)


def _plausible(settings: Any, source: Any, **measured: Any) -> bool:
    numbers = (value is None or type(value) in (int, float) for value in measured.values())
    return isinstance(settings, dict) and isinstance(source, str) and all(numbers)


def read_materials(file: MappedFile, info: dict[str, Any]) -> tuple[Material, ...]:
    """The materials with their images.

    Raises
    ------
    FileError : a record that is not a material, or an image out of range.
    """
    records = info["materials"]
    images = file.section("images", Kind.BLOCK, "|u1").tobytes() if "images" in file.entries else b""
    try:
        return tuple(material_of(record, images) for record in records)
    except (TypeError, ValueError, AttributeError, KeyError, MeshError) as error:
        raise file.error(f"a material of the mesh asset is invalid: {getattr(error, 'what', error)}") from error
