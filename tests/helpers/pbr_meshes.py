"""A sheet with everything that glTF's materials say: five textures, samplers, two sets of coordinates, tangents."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image

from hra.domains import meshes
from hra.domains.meshes.mesh.materials import TEXTURES
from tests.helpers.seamed_meshes import grid


def picture(color: tuple[int, int, int], kind: str = "PNG") -> bytes:
    """A small image file of one colour."""
    out = io.BytesIO()
    Image.new("RGB", (4, 2), color).save(out, kind)
    return out.getvalue()


def materials() -> tuple[meshes.Material, meshes.Material]:
    """One with all textures, one of which is laid out by the second set, and one that shares some of them."""
    clamped = meshes.Sampler("CLAMP_TO_EDGE", "MIRRORED_REPEAT", "NEAREST", "LINEAR_MIPMAP_LINEAR")
    shared = meshes.Texture(picture((0, 128, 255)), 0, meshes.Sampler(min_filter="NEAREST"))
    full = meshes.Material(
        "full",
        image=picture((200, 40, 40)),
        sampler=clamped,
        metallic_roughness_texture=shared,
        normal_texture=meshes.Texture(picture((128, 128, 255))),
        normal_scale=-0.75,
        occlusion_texture=meshes.Texture(picture((90, 90, 90), "JPEG"), 1, clamped),
        occlusion_strength=0.5,
        emissive=(1.0, 0.5, 0.25),
        emissive_texture=meshes.Texture(picture((200, 40, 40))),
    )
    return full, meshes.Material("some", (0.5, 0.5, 0.5, 1.0), roughness=0.25, metallic_roughness_texture=shared)


def sheet(cells: int = 24) -> meshes.TriangleMesh:
    """A wavy square of four patches: materials change along y, the first set of coordinates is mirrored along x."""
    parts = [_patch(cells, side, row) for side in (0, 1) for row in (0, 1)]
    count = len(parts[0][0])
    faces = np.concatenate([grid(cells, cells) + count * number for number in range(4)])
    columns = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    positions, uv, uv2, normals, tangents, material = columns
    attributes = meshes.VertexAttributes(
        uv=uv, uv2=uv2, normals=normals, tangents=tangents, material=material, materials=materials()
    )
    return meshes.from_arrays(positions, faces, attributes, warn_duplicates=False)


def _patch(cells: int, side: int, row: int) -> tuple[np.ndarray, ...]:
    along = np.linspace(0, 0.5, cells + 1)
    x, y = (a.reshape(-1) for a in np.meshgrid(along + 0.5 * side, along + 0.5 * row))
    sign = 1.0 if side else -1.0
    positions = np.stack([x, y, 0.05 * np.sin(9 * x) * np.cos(7 * y)], 1)
    normals = np.stack([-0.45 * np.cos(9 * x) * np.cos(7 * y), 0.35 * np.sin(9 * x) * np.sin(7 * y), 0 * x + 1], 1)
    tangents = np.stack([0 * x + sign, 0 * x, 0.45 * sign * np.cos(9 * x) * np.cos(7 * y), 0 * x], 1)
    for rows in (normals, tangents):
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    tangents[:, 3] = sign
    uv, uv2 = np.stack([2 * np.abs(x - 0.5), y], 1), 0.9 * np.stack([x, y], 1) + 0.05
    arrays = (positions, uv, uv2, normals, tangents)
    return *(array.astype(np.float32) for array in arrays), np.full(len(x), row, np.int32)


def corner_rows(mesh: meshes.TriangleMesh) -> set[bytes]:
    """Every vertex with what it carries, its material's textures by their bytes instead of its number."""
    carried = mesh.attributes
    assert carried is not None
    names = [name for name in carried.names if name != "material"]
    rows = np.concatenate([mesh.positions, *(getattr(carried, name) for name in names)], axis=1)
    kinds = [repr(looks(material)).encode() for material in carried.materials] or [b""]
    number = np.zeros(len(rows), int) if carried.material is None else carried.material
    return {row.tobytes() + kinds[kind] for row, kind in zip(rows + 0.0, number, strict=True)}


def looks(material: meshes.Material) -> dict:
    """All that a material says."""
    textures = {name: getattr(material, name) for name in TEXTURES}
    return vars(material) | {
        name: texture and (hash(texture.image), texture.coordinates, texture.sampler)
        for name, texture in textures.items()
    }


def ktx2(width: int = 4, height: int = 2, texels: int = 0) -> bytes:
    """The beginning of a KTX2 file; ``texels`` is Vulkan's format, 0 for Basis Universal."""
    return b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", texels, 1, width, height, 0, 0, 1, 1, 1) + bytes(32)
