"""glTF scenes that nobody here made, as the scripts beside this one take them from a folder."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_scene import GltfScene

# For gltfpack: floats, names, materials and extras stay, vertices move (-sv), and no error ends it (-se 1).
FLAGS = ["-noq", "-kn", "-km", "-ke", "-sv", "-se", "1"]
_FEWEST, _MOST = 1500, 250_000


def arguments(text: str) -> argparse.ArgumentParser:
    """A parser that takes a folder of scenes, one to write to, and a word in the paths of the scenes that count."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    return parser


def scenes(own: argparse.Namespace) -> dict[str, Path]:
    """The .glb and .gltf files that the `arguments` name, sorted, by their names below the folder."""
    paths = sorted(p for p in own.folder.rglob("*") if p.suffix in (".glb", ".gltf") and own.only in str(p))
    return {str(path.relative_to(own.folder)): path for path in paths}


def place_of(name: str) -> str:
    """The folder of what is written for a scene."""
    return name.replace("/", "__")


def header_of(path: Path) -> dict[str, Any]:
    """The JSON of a .glb or .gltf file."""
    data = path.read_bytes()
    return json.loads(split_glb(data, path.name)[0] if data.startswith(b"glTF") else data)


def triangles(header: dict[str, Any]) -> tuple[int, int]:
    """How many triangles the meshes have, and how many the nodes of the first scene draw."""

    def count(primitive: dict[str, Any]) -> int:
        number = primitive["indices"] if "indices" in primitive else primitive["attributes"]["POSITION"]
        return header["accessors"][number]["count"] // 3 if primitive.get("mode", 4) == 4 else 0

    stored = [sum(count(one) for one in mesh["primitives"]) for mesh in header.get("meshes", [])]
    nodes, total = header.get("nodes", []), 0
    waiting = list(header.get("scenes", [{}])[header.get("scene", 0)].get("nodes", []))
    while waiting:
        node = nodes[waiting.pop()]
        waiting += node.get("children", [])
        instanced = node.get("extensions", {}).get("EXT_mesh_gpu_instancing", {}).get("attributes", {})
        copies = min((header["accessors"][number]["count"] for number in instanced.values()), default=1)
        total += copies * stored[node["mesh"]] if "mesh" in node else 0
    return sum(stored), total


def suits(header: dict[str, Any], most: int = _MOST) -> bool:
    """Whether a scene has so many triangles that its levels say something, and at most ``most``."""
    return _FEWEST <= triangles(header)[0] <= most


def as_source(path: Path, out: Path) -> Path:
    """A scene written to ``out`` as one file, which all others are made of."""
    out.mkdir(parents=True, exist_ok=True)
    source = out / "source.glb"
    source.write_bytes(GltfScene.open(path).glb([]))
    return source


def gltfpack(npm: Path, source: Path, target: Path, flags: Sequence[str]) -> None:
    """Run the npm build of gltfpack."""
    command = ["node", str(npm / "node_modules/gltfpack/cli.js"), "-i", str(source), "-o", str(target), *flags]
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def job(name: str, files: Sequence[str], pictures: Path | None) -> dict[str, Any]:
    """What judge_scenes.drawn asks for: a scene's source and ``files`` of its folder, served as /out."""
    place = quote(place_of(name))
    levels = [f"/out/{place}/{quote(file)}" for file in files]
    picture = quote(place_of(name), safe="") if pictures is not None else None
    return {"name": name, "source": f"/out/{place}/source.glb", "levels": levels, "picture": picture}
