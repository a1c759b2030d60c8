"""Valid files of every kind that is read, to be damaged at random, each with what reads it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.allocation_file import pack
from hra.domains import meshes
from tests.helpers.draco import compressed
from tests.helpers.hostile import (
    checkpoints,
    clouds,
    gltf,
    gltf_extensions,
    obj,
    pictures,
    plain,
    ply,
    regions,
    tilesets,
    traces,
)
from tests.helpers.hostile.cases import Case
from tests.helpers.hostile.judging import read, texels

# Larger files would spend the time on what no header speaks of.
_LARGEST = 20_000
_MTL = b"newmtl red\nKd 1 0 0\nd 0.5\nNs 6\nmap_Kd -s 1 1 1 a.png\n"
_KITTI = b"1 0 0 0 0 1 0 0 0 0 1 0\n0 0 1 2 0 1 0 0 -1 0 0 4\n"
_TUM = b"# time x y z q\n0.1 0 0 0 0 0 0 1\n0.2 1 0 0 0 0.7071 0 0.7071\n"


@dataclass(frozen=True, eq=False)
class Seeds:
    """Valid files of one kind.

    Attributes
    ----------
    files : contents with the suffixes of their names.
    beside : files that lie beside them.
    run : reads the file at a path.
    """

    files: tuple[tuple[bytes, str], ...]
    beside: Mapping[str, bytes]
    run: Callable[[Path], Any] = read


def _images() -> tuple[tuple[bytes, str], ...]:
    return _small(pictures.cases())


# How the seeds of each kind are made: tests are named by kinds, and need not make what others damage.
_MADE: dict[str, Callable[[], Seeds]] = {
    "ply": lambda: Seeds(_small(ply.cases()), {"a.png": gltf.picture()}),
    "obj": lambda: Seeds((*_small(obj.cases()), (_library(), ".obj")), {"a.mtl": _MTL, "a.png": gltf.picture()}),
    "off": lambda: Seeds(tuple(f for f in _small(plain.cases()) if f[1] == ".off"), {}),
    "stl": lambda: Seeds(tuple(f for f in _small(plain.cases()) if f[1] == ".stl"), {}),
    "gltf": lambda: Seeds(tuple(f for f in _small(gltf.cases()) if f[1] == ".gltf"), {"a.png": gltf.picture()}),
    "glb": lambda: Seeds(tuple(f for f in _small(gltf.cases()) if f[1] == ".glb"), {}),
    "hra": lambda: Seeds(_assets(), {}),
    "images": lambda: Seeds(_images(), {}),
    "streamed images": lambda: Seeds((*_images(), *_textures()), {}, texels),
    "traces": lambda: Seeds(_small(traces.cases()), {}),
    "poses": lambda: Seeds(((_KITTI, ".txt"), (_TUM, ".txt")), {}, _poses),
    "allocations": lambda: Seeds(_allocations(), {}, Allocation.load),
    "cameras": lambda: Seeds(tuple((text, ".json") for text in _cameras()), {}, _camera),
    "points": lambda: Seeds(clouds.clouds(), {}, _points),
    "splats": lambda: Seeds(clouds.splats(), {}, _points),
    "sog": lambda: Seeds(clouds.sog(), clouds.sog_pictures(), _points),
    "point trees": lambda: Seeds(clouds.trees(), {}, _point_tree),
    "shards": lambda: Seeds(clouds.shards(), {}, _shard),
    "gltf extensions": lambda: Seeds(gltf_extensions.seeds(), {}),
    "draco": lambda: Seeds(_draco(), {}),
    "scenes": lambda: Seeds(_scenes(), {"a.png": gltf.picture()}, _levels),
    "tilesets": lambda: Seeds(tilesets.seeds(), tilesets.beside(), tilesets.read),
    "checkpoints": lambda: Seeds(checkpoints.seeds(), {}, checkpoints.read),
    "regions": lambda: Seeds(regions.seeds(), {}, regions.read),
    "meshes in blocks": lambda: Seeds(_in_blocks(), {}, _blocks),
}
FILE_KINDS = tuple(_MADE)


@cache
def seeds_of(kind: str) -> Seeds:
    """Those of a kind, made once."""
    return _MADE[kind]()


def _allocations() -> tuple[tuple[bytes, str], ...]:
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [0, 2, 3, 1, 4])
    graph = hra.Hierarchy.dag([1, 2, 3], [(0, 1), (0, 2)])
    return tuple(
        (pack(hra.solve(hierarchy, 5, gains=np.ones(hierarchy.node_cost.size))), ".npz") for hierarchy in (tree, graph)
    )


def _draco() -> tuple[tuple[bytes, str], ...]:
    """A small compressed sheet; where the decoder is missing there is nothing to damage."""
    if find_spec("DracoPy") is None:
        return ()
    with tempfile.TemporaryDirectory() as folder:
        compressed(path := Path(folder, "a.glb"), side=9)
        return ((path.read_bytes(), ".glb"),)


def _scenes() -> tuple[tuple[bytes, str], ...]:
    """What is kept of a scene while its meshes become smaller."""
    return tuple(f for f in (*_small(gltf.cases()), *gltf_extensions.seeds()) if f[1] in (".gltf", ".glb"))


def _levels(path: Path) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return meshes.scene_lod(path, [1.0]).export(Path(folder, "levels"))


def _in_blocks() -> tuple[tuple[bytes, str], ...]:
    """What is built out of core: OBJ, and binary PLY and STL."""
    texts = ((f"{obj.V}vt 0 0\nf 1 2 3\nf -1 -2 -3\n".encode(), ".obj"),)
    ours = [file for file in (*_small(ply.cases()), *_small(plain.cases())) if file[1] in (".ply", ".stl")]
    return (*texts, *(file for file in ours if b"format ascii" not in file[0] and not file[0].startswith(b"solid")))


def _blocks(path: Path) -> Any:
    from hra.domains.meshes.outofcore.corners import corner_blocks, source_files

    return sum(len(block) for block in corner_blocks(source_files(path), path.with_name("scratch")))


def _small(cases: Iterator[Case]) -> tuple[tuple[bytes, str], ...]:
    return tuple(
        (case.content, case.suffix)
        for case in cases
        if case.accepted
        and not case.beside
        and len(case.content) <= _LARGEST
        # Blank pages are small as files only.
        and (case.size is None or case.size[0] * case.size[1] <= _LARGEST)
    )


def _library() -> bytes:
    faces = "usemtl red\nf 1/1 2/2 3/3\nusemtl plain\nf -4/1/1 -3/2/1 -1/3/1\n"
    return f"mtllib a.mtl\n{obj.V}{obj.VT}vn 0 0 1\n{faces}".encode()


def _assets() -> tuple[tuple[bytes, str], ...]:
    from hra.domains import meshes
    from hra.domains.meshes.asset.writing import asset_bytes

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.gltf")
        path.write_bytes(gltf.text(gltf.document()))
        textured = meshes.build(path)
    grid = np.mgrid[:20, :20].reshape(2, -1).T.astype(np.float32)
    points = np.column_stack([grid, np.sin(grid).sum(axis=1)])
    corner = np.arange(380).reshape(19, 20)[:, :19].ravel()
    quads = np.stack([corner, corner + 1, corner + 21, corner + 20], axis=1)
    sheet = meshes.from_arrays(points, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]))
    return tuple((bytes(asset_bytes(mesh)), ".hra") for mesh in (textured, meshes.build(sheet)))


def _textures() -> Iterator[tuple[bytes, str]]:
    """EXR, HDR and tiled TIFF files, where OpenImageIO is there to write them."""
    try:
        import OpenImageIO as oiio
    except ImportError:
        return
    values = np.random.default_rng(5).random((19, 23, 3)).astype(np.float32)
    for suffix, options in ((".exr", {"compression": "zip"}), (".hdr", {}), (".tif", {"tile": 1})):
        spec = oiio.ImageSpec(23, 19, 3, "half" if suffix == ".exr" else "float" if suffix == ".hdr" else "uint8")
        if options.pop("tile", 0):
            spec.tile_width = spec.tile_height = 16
        for name, value in options.items():
            spec.attribute(name, value)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"a{suffix}")
            out: Any = oiio.ImageOutput.create(str(path))
            out.open(str(path), spec)
            out.write_image(values)
            out.close()
            yield path.read_bytes(), suffix


def _cameras() -> Iterator[bytes]:
    placed = {"eye": [0, 0, 5], "target": [0, 0, 0], "up": [0, 1, 0], "vertical_fov_degrees": 50, "near": 0.1}
    yield json.dumps(placed | {"viewport": [640, 480]}).encode()
    projection = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, -0.2], [0, 0, -1, 0]]
    yield json.dumps({"view": np.eye(4).tolist(), "projection": projection}).encode()


def _camera(path: Path) -> Any:
    from hra.console.camera_options import CameraOptions

    return CameraOptions(camera_file=path).camera(np.array([[-1.0, -1, -1], [1, 1, 1]]), "640x480")


def _poses(path: Path) -> Any:
    from hra.residency import load_poses

    return load_poses(path)


def _points(path: Path) -> Any:
    from hra.domains import points

    return points.load_points(path)


def _point_tree(path: Path) -> Any:
    from hra.domains import points

    return points.load_tree(path)


def _shard(path: Path) -> Any:
    from hra.domains.tokens.corpus.job import read_errors

    return read_errors([path])
