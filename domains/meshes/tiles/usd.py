"""Levels of detail as the variants of one prim in USD (extra ``hra[usd]``).

OpenUSD, https://openusd.org/release: variant sets, UsdGeomMesh and UsdPreviewSurface.
"""

from __future__ import annotations

import importlib
import io
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from hra.domains.meshes.files.resolver import MAX_PIXELS, as_png
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.mesh.materials import Material, image_suffix, is_ktx2
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import FileError, needs, warn
from hra.files.atomic_write import write_atomically
from hra.files.images.opening import decoded_upright

FORMATS = (".usdc", ".usda", ".usdz")
_MODULES = ("Gf", "Sdf", "Usd", "UsdGeom", "UsdShade", "UsdUtils", "Vt")
_ROOT, _VARIANTS = "/Object", "LOD"


def write_usd(chain: DiscreteLOD, path: str | Path) -> None:
    """Write all levels as the variants ``lod0``, the finest and the one that is shown, ``lod1`` ... of the set ``LOD``.

    Each variant states its "triangles" and its "error" in object units as custom data. Textures need ``.usdz``, which
    holds their files; normals, colours and coordinates are primvars of the vertices.

    Raises
    ------
    FileError : another suffix, textures in a file that cannot hold them, or the file cannot be written.
    MissingExtra : usd-core is not installed.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise FileError(f"USD is not written as {suffix!r}", where=str(path)[:500], fix=f"use {', '.join(FORMATS)}")
    carried = chain.levels[0].attributes
    if suffix != ".usdz" and carried is not None and any(material.image for material in carried.materials):
        raise FileError(f"{suffix} files hold no textures", where=str(path)[:500], fix="use .usdz")
    with tempfile.TemporaryDirectory(prefix="hra-usd-") as folder:
        write_atomically(path, _staged(chain, Path(folder), suffix).read_bytes())


def _usd() -> Any:
    """The modules of USD, whose stubs know few of their names."""
    with needs("usd-core", "usd"):
        return SimpleNamespace(**{name: importlib.import_module(f"pxr.{name}") for name in _MODULES})


def _staged(chain: DiscreteLOD, folder: Path, suffix: str) -> Path:
    """The file in a temporary ``folder``."""
    pxr = _usd()
    layer = folder / ("object.usdc" if suffix == ".usdz" else f"object{suffix}")
    stage = pxr.Usd.Stage.CreateNew(str(layer))
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.y)
    root = pxr.UsdGeom.Xform.Define(stage, _ROOT).GetPrim()
    stage.SetDefaultPrim(root)
    if any(chain.levels[0].origin):
        pxr.UsdGeom.Xformable(root).AddTranslateOp().Set(pxr.Gf.Vec3d(*chain.levels[0].origin))
    carried = chain.levels[0].attributes
    materials = () if carried is None else carried.materials
    paths = [_define_material(stage, number, material, folder) for number, material in enumerate(materials)]
    variants = root.GetVariantSets().AddVariantSet(_VARIANTS)
    for number, (mesh, error) in enumerate(zip(chain.levels, chain.errors.tolist(), strict=True)):
        variants.AddVariant(f"lod{number}")
        variants.SetVariantSelection(f"lod{number}")
        with variants.GetVariantEditContext():
            _define_mesh(stage, mesh, error, paths)
    variants.SetVariantSelection("lod0")
    stage.Save()
    if suffix != ".usdz":
        return layer
    packed = folder / "object.usdz"
    pxr.UsdUtils.CreateNewUsdzPackage(pxr.Sdf.AssetPath(os.fspath(layer)), os.fspath(packed))
    return packed


def _define_mesh(stage: Any, mesh: TriangleMesh, error: float, materials: list[Any]) -> None:
    pxr = _usd()

    prim = pxr.UsdGeom.Mesh.Define(stage, f"{_ROOT}/Mesh")
    prim.CreatePointsAttr(pxr.Vt.Vec3fArray.FromNumpy(mesh.positions))
    prim.CreateFaceVertexCountsAttr(pxr.Vt.IntArray.FromNumpy(np.full(len(mesh.triangles), 3, np.int32)))
    prim.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(mesh.triangles.reshape(-1).astype(np.int32)))
    prim.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    prim.CreateExtentAttr(pxr.Vt.Vec3fArray.FromNumpy(mesh.bounds))
    prim.GetPrim().SetCustomDataByKey("triangles", len(mesh.triangles))
    prim.GetPrim().SetCustomDataByKey("error", error)
    carried, types = mesh.attributes, pxr.Sdf.ValueTypeNames
    if carried is None:
        return
    primvars = pxr.UsdGeom.PrimvarsAPI(prim)
    if carried.normals is not None:
        prim.CreateNormalsAttr(pxr.Vt.Vec3fArray.FromNumpy(carried.normals))
        prim.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
    if carried.uv is not None:
        # The origin of USD is the lower left corner.
        places = np.column_stack([carried.uv[:, 0], 1 - carried.uv[:, 1]]).astype(np.float32)
        primvar = primvars.CreatePrimvar("st", types.TexCoord2fArray, pxr.UsdGeom.Tokens.vertex)
        primvar.Set(pxr.Vt.Vec2fArray.FromNumpy(places))
    if carried.colors is not None:
        colors = (carried.colors[:, :3] / np.float32(255)).astype(np.float32)
        primvars.CreatePrimvar("displayColor", types.Color3fArray, pxr.UsdGeom.Tokens.vertex).Set(
            pxr.Vt.Vec3fArray.FromNumpy(colors)
        )
    if carried.material is None:
        return
    of_triangle = carried.material[mesh.triangles[:, 0]]
    for number in np.unique(of_triangle).tolist():
        faces = np.flatnonzero(of_triangle == number).astype(np.int32)
        subset = pxr.UsdGeom.Subset.CreateGeomSubset(
            prim,
            f"material{number}",
            pxr.UsdGeom.Tokens.face,
            pxr.Vt.IntArray.FromNumpy(faces),
            pxr.UsdShade.Tokens.materialBind,
        )
        pxr.UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(materials[number])


def _define_material(stage: Any, number: int, material: Material, folder: Path) -> Any:
    pxr = _usd()

    path, types = f"{_ROOT}/Materials/material{number}", pxr.Sdf.ValueTypeNames
    prim = pxr.UsdShade.Material.Define(stage, path)
    shader = pxr.UsdShade.Shader.Define(stage, f"{path}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    color = shader.CreateInput("diffuseColor", types.Color3f)
    color.Set(pxr.Gf.Vec3f(*material.base_color[:3]))
    shader.CreateInput("metallic", types.Float).Set(material.metallic)
    shader.CreateInput("roughness", types.Float).Set(material.roughness)
    shader.CreateInput("emissiveColor", types.Color3f).Set(pxr.Gf.Vec3f(*material.emissive))
    if material.alpha_mode != "OPAQUE":
        shader.CreateInput("opacity", types.Float).Set(material.base_color[3])
    if material.image is not None and is_ktx2(material.image):
        what = f"material {material.name!r}: USD takes no KTX2, so its texture was left out"
        warn(what)
    elif material.image is not None:
        name, image = _image_file(number, material)
        (folder / name).write_bytes(image)
        color.ConnectToSource(_define_texture(stage, path, name, material))
    prim.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return prim


def _image_file(number: int, material: Material) -> tuple[str, bytes]:
    """The name and the bytes of a texture: USD reads PNG and JPEG everywhere, WebP nowhere."""
    image = material.image or b""
    if material.image_type not in ("image/png", "image/jpeg"):
        with decoded_upright(io.BytesIO(image), f"texture of {material.name!r}", MAX_PIXELS) as opened:
            image = as_png(opened)
    return f"texture{number}.{image_suffix(image)}", image


def _define_texture(stage: Any, path: str, name: str, material: Material) -> Any:
    """The colour that a texture file gives at the coordinates ``st``."""
    pxr = _usd()

    types = pxr.Sdf.ValueTypeNames
    reader = pxr.UsdShade.Shader.Define(stage, f"{path}/coordinates")
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", types.String).Set("st")
    texture = pxr.UsdShade.Shader.Define(stage, f"{path}/texture")
    texture.CreateIdAttr("UsdUVTexture")
    texture.CreateInput("file", types.Asset).Set(f"./{name}")
    texture.CreateInput("scale", types.Float4).Set(pxr.Gf.Vec4f(*material.base_color))
    for axis in ("wrapS", "wrapT"):
        texture.CreateInput(axis, types.Token).Set("repeat")
    texture.CreateInput("st", types.Float2).ConnectToSource(reader.CreateOutput("result", types.Float2))
    return texture.CreateOutput("rgb", types.Float3)
