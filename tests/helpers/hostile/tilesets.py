"""Valid tilesets, explicit, nested and implicit ones, to be damaged at random."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

_BOX = {"box": [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8]}
_REGION = {"region": [0, 0, 0.1, 0.1, 0, 10]}
_BITS = bytes([0b11011]).ljust(8, b"\0") * 2
_NESTED = {"asset": {"version": "1.1"}, "root": {"boundingVolume": {"sphere": [0, 0, 0, 1]}, "geometricError": 1}}


def seeds() -> tuple[tuple[bytes, str], ...]:
    """Tilesets, and subtrees of an implicit one."""
    explicit = _tile(8, [_tile(4, uri="a.glb"), _tile(2, uri="s.json", refine="ADD")], transform=_moved())
    several = _tile(8, [_tile(0, contents=[{"uri": "a.glb"}, {"url": "a.glb"}])], boundingVolume=_REGION)
    files = [json.dumps({"asset": {"version": "1.1"}, "root": root}).encode() for root in (explicit, several, _tiled())]
    return (*((file, ".json") for file in files), (_subtree(True), ".subtree"), (_subtree(False), ".subtree"))


def beside() -> dict[str, bytes]:
    """What the tilesets refer to."""
    nested = json.dumps(_NESTED).encode()
    return {"a.glb": bytes(7), "s.json": nested, "bits.bin": _BITS, "a.subtree": _subtree(True)}


def read(path: Path) -> Any:
    """The tileset at ``path``, or an implicit one whose subtree lies there."""
    from hra.domains import tiles

    if path.suffix == ".json":
        return tiles.read_tileset(path)
    around = path.with_name("around.json")
    around.write_text(json.dumps({"asset": {"version": "1.1"}, "root": _tiled(path.name)}))
    return tiles.read_tileset(around)


def _tile(error: float, children: list[dict] | None = None, uri: str = "", **more: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"boundingVolume": _BOX, "geometricError": error}
    return entry | ({"content": {"uri": uri}} if uri else {}) | ({"children": children} if children else {}) | more


def _tiled(subtrees: str = "a.subtree") -> dict[str, Any]:
    tiling = {"subdivisionScheme": "QUADTREE", "subtreeLevels": 2, "availableLevels": 2, "subtrees": {"uri": subtrees}}
    return _tile(8, uri="a.glb", implicitTiling=tiling)


def _moved() -> list[float]:
    return [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 5, 0, 0, 1]


def _subtree(binary: bool) -> bytes:
    record = {
        "buffers": [{"byteLength": 16} | ({} if binary else {"uri": "bits.bin"})],
        "bufferViews": [{"buffer": 0, "byteOffset": 8 * k, "byteLength": 1} for k in (0, 1)],
        "tileAvailability": {"bitstream": 0},
        "contentAvailability": [{"bitstream": 1}],
        "childSubtreeAvailability": {"constant": 0},
    }
    text = json.dumps(record).encode()
    if not binary:
        return text
    text += b" " * (-len(text) % 8)
    return struct.pack("<4sIQQ", b"subt", 1, len(text), len(_BITS)) + text + _BITS
