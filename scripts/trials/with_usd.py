"""Levels of a mesh as variants, read back."""

import tempfile
from pathlib import Path

from pxr import Usd, UsdGeom

import hra
from hra.domains import meshes
from hra.domains.meshes.tiles.usd import write_usd

chain = meshes.lod_chain(hra.samples.path("skull.ply"), (2000, 500))
for name in ("a.usdc", "a.usda", "a.usdz"):
    with tempfile.TemporaryDirectory() as folder:
        write_usd(chain, Path(folder, name))
        stage = Usd.Stage.Open(str(Path(folder, name)))
        variants = stage.GetDefaultPrim().GetVariantSets().GetVariantSet("LOD")
        assert variants.GetVariantNames() == ["lod0", "lod1"], name
        variants.SetVariantSelection("lod1")
        corners = UsdGeom.Mesh.Get(stage, "/Object/Mesh").GetFaceVertexIndicesAttr().Get()
        assert len(corners) == 3 * len(chain.levels[1].triangles), name
