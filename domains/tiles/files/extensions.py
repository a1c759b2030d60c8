"""Extensions of 3D Tiles: drafts of 1.1 that tilesets of 1.0 use, and which others may stand in a tileset."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hra.errors import FileError, HraError
from hra.files.json_text import parse_object

_IMPLICIT, _MULTIPLE = "3DTILES_implicit_tiling", "3DTILES_multiple_contents"
# By these, metadata give tiles other volumes and errors than they have in the tree.
_OVERRIDING = {
    *("TILE_BOUNDING_BOX", "TILE_BOUNDING_REGION", "TILE_BOUNDING_SPHERE"),
    *("TILE_MINIMUM_HEIGHT", "TILE_MAXIMUM_HEIGHT", "TILE_GEOMETRIC_ERROR"),
}
# They change what is in contents, which are not opened, or describe them; they change no tree, volume or file name.
_OF_CONTENTS = (
    "3DTILES_batch_table_hierarchy",
    "3DTILES_content_gltf",
    "3DTILES_draco_point_compression",
    "3DTILES_metadata",
    "MAXAR_content_geojson",
)
# Of glTF: some exporters list what their contents require here, too.
_OF_GLTF = ("KHR_", "EXT_")


def check_required(record: dict[str, Any], where: str) -> None:
    """Refuse a tileset or subtree that requires an extension that would be missed.

    Raises
    ------
    FileError : names the extension.
    TypeError : extensions are not a list.
    """
    required = record.get("extensionsRequired", [])
    if not isinstance(required, list):
        raise TypeError("extensionsRequired is not a list")
    for name in required:
        if name not in (_IMPLICIT, _MULTIPLE, *_OF_CONTENTS) and not name.startswith(_OF_GLTF):
            fix = "export the tileset without this extension"
            raise FileError(f"the extension {name[:100]!r} is required, and hra does not know it", where=where, fix=fix)


def contents_of(tile: dict[str, Any], where: str) -> list[str]:
    """The uris of a tile's contents.

    Raises
    ------
    FileError : one content and several: viewers take only one of both.
    """
    several = tile.get("contents")
    if several is None and (extension := _extension(tile, _MULTIPLE)) is not None:
        several = extension["contents"] if "contents" in extension else extension["content"]
    if several is not None and "content" in tile:
        fix = "keep one of the two"
        raise FileError("a tile has both `content` and a list of contents", where=where, fix=fix)
    entries = several if several is not None else [tile["content"]] if "content" in tile else []
    return [entry["uri"] if "uri" in entry else entry["url"] for entry in entries]


def availability_of(subtree: dict[str, Any]) -> list[Any]:
    """What a subtree states of each content of its tiles; one statement may stand without a list."""
    found = subtree.get("contentAvailability", [])
    if (extension := _extension(subtree, _MULTIPLE)) is not None:
        found = extension["contentAvailability"]
    return [found] if isinstance(found, dict) else found


def tiling_of(tile: dict[str, Any]) -> dict[str, Any] | None:
    """How an implicit tree is divided, as in 1.1; none for a tile of an explicit one.

    Drafts of the extension have the number of the last level instead of that of all levels.
    """
    tiling = tile["implicitTiling"] if "implicitTiling" in tile else _extension(tile, _IMPLICIT)
    if tiling is None or "availableLevels" in tiling or "maximumLevel" not in tiling:
        return tiling
    return tiling | {"availableLevels": int(tiling["maximumLevel"]) + 1}


def overriding(record: dict[str, Any], read: Callable[[Any], bytes]) -> set[str]:
    """The semantics in the schema of a tileset by which metadata may override volumes and errors of tiles.

    Metadata are no part of the tree: a schema that is damaged or missing says nothing.

    Parameters
    ----------
    read : the bytes of a schema in a file of its own, by its uri.
    """
    found, waiting = set(), [record.get("schema"), record.get("extensions")]
    with suppress(HraError, ValueError):
        waiting += [parse_object(read(record["schemaUri"]), "schema", "")] if "schemaUri" in record else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found.add(str(value.get("semantic")))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found & _OVERRIDING


def _extension(record: dict[str, Any], name: str) -> Any:
    return record.get("extensions", {}).get(name)
