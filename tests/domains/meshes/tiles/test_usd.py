import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import meshes
from hra.domains.meshes.tiles.usd import write_usd
from hra.domains.meshes.tiles.whole import quarter_levels
from hra.errors import FileError, RepairWarning
from tests.helpers.pbr_meshes import ktx2

SKULL = str(hra.samples.path("skull.ply"))


def test_variants_hold_all_levels(skull_clusters, tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    UsdGeom = pytest.importorskip("pxr.UsdGeom")

    chain = quarter_levels(skull_clusters)
    write_usd(chain, tmp_path / "a.usdc")
    stage = usd.Stage.Open(str(tmp_path / "a.usdc"))
    variants = stage.GetDefaultPrim().GetVariantSets().GetVariantSet("LOD")
    assert variants.GetVariantSelection() == "lod0"
    for number, (level, error) in enumerate(zip(chain.levels, chain.errors, strict=True)):
        variants.SetVariantSelection(f"lod{number}")
        prim = UsdGeom.Mesh.Get(stage, "/Object/Mesh")
        assert np.array_equal(np.array(prim.GetPointsAttr().Get(), np.float32), level.positions)
        assert np.array_equal(np.array(prim.GetFaceVertexIndicesAttr().Get()), level.triangles.reshape(-1))
        assert prim.GetPrim().GetCustomDataByKey("error") == error


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_textures_need_usdz(kind, tmp_path):
    pytest.importorskip("pxr.Usd")
    from tests.domains.meshes.tiles.test_content import SQUARE, textured

    mesh = textured(SQUARE, kind)
    chain = meshes.DiscreteLOD((mesh,), np.zeros(1), np.zeros(3, np.float32), 1.0)
    with pytest.raises(FileError, match="no textures"):
        write_usd(chain, tmp_path / "a.usdc")
    write_usd(chain, tmp_path / "a.usdz")
    with zipfile.ZipFile(tmp_path / "a.usdz") as packed:
        named = {Path(name).name: packed.read(name) for name in packed.namelist()}
    image = mesh.attributes.materials[1].image
    if kind == "PNG":
        assert named["texture1.png"] == image
    else:  # USD reads none
        both = [np.asarray(Image.open(io.BytesIO(one)).convert("RGB")) for one in (named["texture1.png"], image)]
        assert named["texture1.png"].startswith(b"\x89PNG") and (both[0] == both[1]).all()
    Usd, UsdShade = (pytest.importorskip(f"pxr.{name}") for name in ("Usd", "UsdShade"))
    stage = Usd.Stage.Open(str(tmp_path / "a.usdz"))
    shader = UsdShade.Shader.Get(stage, "/Object/Materials/material1/texture")
    assert shader.GetInput("file").Get().resolvedPath


def test_ktx2_is_left_out_with_a_warning(tmp_path):
    pytest.importorskip("pxr.Usd")
    from tests.domains.meshes.tiles.test_content import SQUARE, textured

    mesh = textured(SQUARE)
    mesh = replace(mesh, attributes=replace(mesh.attributes, materials=(meshes.Material("used", image=ktx2()),) * 2))
    with pytest.warns(RepairWarning, match="'used': USD takes no KTX2"):
        write_usd(meshes.DiscreteLOD((mesh,), np.zeros(1), np.zeros(3, np.float32), 1.0), tmp_path / "a.usdz")
    with zipfile.ZipFile(tmp_path / "a.usdz") as packed:
        assert [Path(name).suffix for name in packed.namelist()] == [".usdc"]
