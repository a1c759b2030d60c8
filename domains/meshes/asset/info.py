"""What an asset says about itself in JSON: the mesh in numbers, how it was built, and its materials.

Materials are records, with images as places among the bytes of all images. What a material had in the first version is
always there; what came later only where it says something, so that files without it stay readable for earlier readers,
and these refuse the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.meshes.asset.layout import Kind, MappedFile
from hra.domains.meshes.asset.tables import Tables
from hra.domains.meshes.mesh.materials import TEXTURES, Material, Sampler, Texture
from hra.domains.meshes.mesh.report import BuildReport
from hra.errors import FileError, MeshError
from hra.files.json_text import parse_object
from hra.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

_FIRST = (
    *("name", "base_color", "image", "metallic", "roughness", "emissive"),
    *("alpha_mode", "alpha_cutoff", "double_sided"),
)


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


class Images:
    """Image files one after the other, each stored once."""

    def __init__(self) -> None:
        self._places: dict[bytes, list[int]] = {}
        self._size = 0

    def place(self, image: bytes) -> list[int]:
        """Offset and length of an image."""
        if image not in self._places:
            self._places[image] = [self._size, len(image)]
            self._size += len(image)
        return self._places[image]

    @property
    def content(self) -> bytes:
        """All of them."""
        return b"".join(self._places)


def record_of(material: Material, images: Images) -> dict[str, Any]:
    """The record of a material, whose images are added to ``images``."""
    plain = Material()
    names = [field.name for field in fields(Material)]
    said = [name for name in names if name in _FIRST or getattr(material, name) != getattr(plain, name)]
    return {name: _written(getattr(material, name), images) for name in said}


def _written(value: Any, images: Images) -> Any:
    if isinstance(value, bytes):
        return images.place(value)
    if isinstance(value, tuple) and any(isinstance(one, Texture) for one in value):
        return [_written(one, images) for one in value]
    if isinstance(value, Texture):
        return {"image": images.place(value.image), "coordinates": value.coordinates} | _sampler_record(value.sampler)
    return asdict(value) if isinstance(value, Sampler) else value


def _sampler_record(sampler: Sampler) -> dict[str, Any]:
    return {} if sampler == Sampler() else {"sampler": asdict(sampler)}


def material_of(record: dict[str, Any], images: bytes) -> Material:
    """The material of a record.

    Raises
    ------
    MeshError, TypeError, ValueError, KeyError, AttributeError : not a record of a material, or a missing image.
    """
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    values["image"] = None if values["image"] is None else _image(values["image"], images)
    if "sampler" in values:
        values["sampler"] = Sampler(**values["sampler"])
    textures: dict[str, Any] = {name: _texture(values[name], images) for name in TEXTURES if name in values}
    if "other_textures" in values:
        textures["other_textures"] = tuple(_texture(one, images) for one in values["other_textures"])
    return Material(**{**values, **textures})


def _texture(record: Mapping[str, Any], images: bytes) -> Texture:
    sampler = Sampler(**record.get("sampler", {}))
    return Texture(**{**record, "image": _image(record["image"], images), "sampler": sampler})


def _image(place: Any, images: bytes) -> bytes:
    offset, size = place
    if not 0 <= offset < offset + size <= len(images):
        raise ValueError("its image is not in the file")
    return images[offset : offset + size]
