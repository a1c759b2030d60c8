"""Materials as glTF has them: what is read, and that it survives build, asset file, cut and export."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.files.gltf_files import split_glb
from hra.errors import FileError, MeshError, RepairWarning
from hra.files.json_text import parse_object
from tests.helpers import gltf_validator
from tests.helpers.hostile import gltf
from tests.helpers.pbr_meshes import corner_rows, looks, materials, picture, sheet
from tests.helpers.seamed_meshes import carried

MODELS = Path(__file__).parents[4] / "data/meshes"
SECOND = {
    "meshes.0.primitives.0.attributes.TEXCOORD_1": 9,
    "accessors.9": {"bufferView": 9, "componentType": 5126, "count": 4, "type": "VEC2"},
    "bufferViews.9": {"buffer": 1, "byteLength": 32},
    "buffers.1": {"byteLength": 32, "uri": gltf.octets((gltf.UV * 3 + 1).tobytes())},
}
NORMAL = "materials.0.normalTexture"
TRANSFORM = f"{NORMAL}.extensions.KHR_texture_transform"


@pytest.fixture(scope="module")
def built() -> meshes.ClusterMesh:
    return meshes.build(sheet())


def read(tmp_path: Path, **changes) -> meshes.TriangleMesh:
    path = tmp_path / "a.gltf"
    path.write_bytes(gltf.text(gltf.edited({**SECOND, **changes})))
    return meshes.load(path)


def by_first_set(mesh: meshes.TriangleMesh, name: str) -> np.ndarray:
    """Another array of the vertices in the order of the file's coordinates."""
    values = getattr(carried(mesh), name)
    order = [np.flatnonzero((carried(mesh).uv == row).all(axis=1))[0] for row in gltf.UV]
    return values[order]


def test_every_texture_of_a_material_is_read(tmp_path: Path) -> None:
    mesh = read(tmp_path, **{f"{NORMAL}.texCoord": 1, f"{NORMAL}.scale": 0.5, "materials.0.emissiveFactor": [1, 0, 0]})
    (material,) = carried(mesh).materials
    sampler = meshes.Sampler("REPEAT", "CLAMP_TO_EDGE", "LINEAR", "LINEAR_MIPMAP_LINEAR")
    assert material.sampler == sampler and material.image == gltf.picture()
    assert list(material.textures) == ["base_color_texture", "normal_texture", "occlusion_texture", "emissive_texture"]
    assert all(t.image == gltf.picture() and t.sampler == sampler for t in material.textures.values())
    assert [t.coordinates for t in material.textures.values()] == [0, 1, 0, 0]
    assert (material.normal_scale, material.occlusion_strength, material.emissive) == (0.5, 1.0, (1, 0, 0))
    assert np.array_equal(by_first_set(mesh, "uv2"), gltf.UV * 3 + 1)


@pytest.mark.parametrize("given", [None, {"emissiveStrength": 3}, {"emissiveStrength": "bright"}])
def test_what_shines_brighter_than_the_format_allows_is_kept_and_named(given: object, tmp_path: Path) -> None:
    more = {} if given is None else {"materials.0.extensions": {"KHR_materials_emissive_strength": given}}
    used = {} if given is None else {"extensionsUsed": ["KHR_materials_emissive_strength"]}
    changes = {**more, **used, "materials.0.emissiveFactor": [2, 1, 0], "materials.0.name": "sun"}
    with pytest.warns(RepairWarning, match=r"materials\[0\] 'sun' \[2.0, 1.0, 0.0\] is above 1.*is kept"):
        (material,) = carried(read(tmp_path, **changes)).materials
    strength = json.loads(material.other)["extensions"]["KHR_materials_emissive_strength"]["emissiveStrength"]
    assert material.emissive == (1, 0.5, 0)
    assert strength == (6 if given == {"emissiveStrength": 3} else 2)


def test_numbers_of_other_materials_are_named_and_not_passed_on(tmp_path: Path) -> None:
    """The levels of a material are other materials, which have other numbers in one mesh, or none."""
    levels = {"MSFT_lod": {"ids": [0]}}
    more = {"materials.0.extensions": levels | {"KHR_materials_unlit": {}}, "extensionsUsed": ["MSFT_lod"]}
    with pytest.warns(RepairWarning, match=r"loses MSFT_lod \(1\)"):
        (material,) = carried(read(tmp_path, **more)).materials
    assert json.loads(material.other) == {"extensions": {"KHR_materials_unlit": {}}}
    with pytest.warns(RepairWarning, match=r"loses MSFT_lod \(1\)"):
        (material,) = carried(read(tmp_path, **{"materials.0.extensions": levels})).materials
    assert material.other == ""


@pytest.mark.parametrize("factor", [[-0.5, 0, 0], [1e300, 0, 0], [2, 2]])
def test_an_emission_that_no_viewer_can_show_is_refused(factor: list[float], tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the glTF header is wrong") as caught:
        read(tmp_path, **{"materials.0.emissiveFactor": factor})
    assert "materials[0].emissiveFactor" in str(caught.value.where)


def test_a_transform_of_one_texture_makes_a_set_of_its_own(tmp_path: Path) -> None:
    turn = {"offset": [0.5, 0.25], "rotation": np.pi / 2, "scale": [2, 4], "texCoord": 1}
    mesh = read(tmp_path, **{TRANSFORM: turn})
    scaled = (gltf.UV * 3 + 1) * [2, 4]
    expected = np.stack([scaled[:, 1], -scaled[:, 0]], 1) + np.array([0.5, 0.25])
    assert np.allclose(by_first_set(mesh, "uv2"), expected, atol=1e-5)
    (material,) = carried(mesh).materials
    assert {name: t.coordinates for name, t in material.textures.items() if t.coordinates} == {"normal_texture": 1}


def test_a_set_that_no_texture_uses_stays_the_second(tmp_path: Path) -> None:
    mesh = read(tmp_path)
    assert np.array_equal(by_first_set(mesh, "uv2"), gltf.UV * 3 + 1)
    assert not any(texture.coordinates for texture in carried(mesh).materials[0].textures.values())


def test_without_a_base_colour_sets_keep_their_order(tmp_path: Path) -> None:
    only = {"occlusionTexture": {"index": 0, "texCoord": 1}}
    mesh = read(tmp_path, **{"materials.0": only})
    assert np.array_equal(by_first_set(mesh, "uv2"), gltf.UV * 3 + 1)
    assert carried(mesh).materials[0].textures["occlusion_texture"].coordinates == 1


@pytest.mark.parametrize(
    "changes",
    [
        {f"{NORMAL}.texCoord": 4},
        {f"{NORMAL}.texCoord": 1, "materials.0.occlusionTexture.extensions.KHR_texture_transform": {"scale": [2, 2]}},
    ],
    ids=["that are not there", "of a third layout"],
)
def test_a_texture_without_its_coordinates_is_left_out(changes: dict, tmp_path: Path) -> None:
    with pytest.warns(RepairWarning, match="_texture needs more than the two available sets"):
        mesh = read(tmp_path, **changes)
    lost = {"normal_texture"} if f"{NORMAL}.texCoord" in changes and len(changes) == 1 else {"occlusion_texture"}
    left = {"base_color_texture", "normal_texture", "occlusion_texture", "emissive_texture"} - lost
    assert set(carried(mesh).materials[0].textures) == left


def test_a_malformed_transform_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="transform"):
        read(tmp_path, **{TRANSFORM: {"scale": [1]}})


def test_an_unknown_number_of_a_sampler_is_left_out(tmp_path: Path) -> None:
    with pytest.warns(RepairWarning, match="wrapS 7 of a sampler"):
        mesh = read(tmp_path, **{"samplers.0.wrapS": 7, "samplers.0.wrapT": 33648})
    assert carried(mesh).materials[0].sampler.wrap_t == "MIRRORED_REPEAT"


def test_tangents_turn_with_the_mesh_and_change_sides_where_it_is_mirrored(tmp_path: Path) -> None:
    tangents = np.tile(np.array([2, 0, 0, 1], np.float32), (4, 1))
    content = {
        "meshes.0.primitives.0.attributes.TANGENT": 10,
        "accessors.10": {"bufferView": 10, "componentType": 5126, "count": 4, "type": "VEC4"},
        "bufferViews.10": {"buffer": 2, "byteLength": 64},
        "buffers.2": {"byteLength": 64, "uri": gltf.octets(tangents.tobytes())},
    }
    plain, turned, mirrored = (
        carried(read(tmp_path, **content, **{"nodes.0": {"mesh": 0, **more}})).tangents
        for more in ({}, {"rotation": [0, 0, np.sqrt(0.5), np.sqrt(0.5)]}, {"scale": [-3, 1, 1]})
    )
    assert np.allclose(plain, [1, 0, 0, 1]) and np.allclose(turned, [0, 1, 0, 1], atol=1e-6)
    assert np.allclose(mirrored, [-1, 0, 0, -1])


@pytest.mark.parametrize("name", ["plain", "stored", "compressed", "mapped"])
def test_all_of_it_survives(name: str, built: meshes.ClusterMesh, tmp_path: Path) -> None:
    """Vertices of every cut are vertices of the source with all that they carried; files give them back."""
    source = corner_rows(sheet())
    path = tmp_path / "sheet.hra"
    built.save(path, 12 if name == "compressed" else None)
    clusters = {"plain": lambda: built, "mapped": lambda: meshes.open_asset(path)}.get(
        name, lambda: meshes.load_clusters(path)
    )()
    for level in (0, 3, int(built.hierarchy.attribute("level").max())):
        cut = np.flatnonzero(clusters.hierarchy.attribute("level") == level)
        mesh = clusters.mesh(cut)
        mesh.export(tmp_path / "cut.glb")
        back = meshes.load(tmp_path / "cut.glb")
        assert {tuple(looks(m).items()) for m in carried(back).materials} <= {
            tuple(looks(m).items()) for m in materials()
        }
        rows = corner_rows(back)
        if name == "compressed":
            assert {row[12:] for row in rows} <= {row[12:] for row in source}
        else:
            assert rows <= source and (level or rows == source)


def test_cuts_are_valid_and_store_what_is_shared_once(built: meshes.ClusterMesh, tmp_path: Path) -> None:
    path = tmp_path / "cut.glb"
    built.mesh(np.flatnonzero(built.hierarchy.added_by < 0)).export(path)
    header = parse_object(split_glb(path.read_bytes(), "cut")[0], "header", "cut")
    assert (len(header["images"]), len(header["textures"]), len(header["samplers"])) == (4, 5, 2)
    if gltf_validator.available():
        issues = gltf_validator.issues(path)
        assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"]


def test_levels_in_one_file_share_textures_and_samplers(built: meshes.ClusterMesh, tmp_path: Path) -> None:
    path = tmp_path / "levels.glb"
    meshes.lod_chain(built, [1.0, 0.3, 0.1]).export_one(path)
    assert corner_rows(meshes.load(path)) == corner_rows(sheet())
    header = parse_object(split_glb(path.read_bytes(), "levels")[0], "header", "levels")
    assert [len(header[kind]) for kind in ("meshes", "materials", "images", "textures", "samplers")] == [3, 2, 4, 5, 2]
    if gltf_validator.available():
        assert gltf_validator.issues(path)["numErrors"] == 0


def test_an_asset_stores_an_image_once(built: meshes.ClusterMesh, tmp_path: Path) -> None:
    built.save(tmp_path / "a.hra")
    content = (tmp_path / "a.hra").read_bytes()
    assert content.count(picture((200, 40, 40))) == content.count(picture((0, 128, 255))) == 1


def test_no_triangle_of_any_level_has_its_texture_on_two_sides(built: meshes.ClusterMesh) -> None:
    assert built.attributes is not None and built.attributes.tangents is not None
    sides = built.attributes.tangents[:, 3][built.indices.reshape(-1, 3)]
    assert (np.abs(sides) == 1).all() and (sides == sides[:, :1]).all() and len(np.unique(sides)) == 2
    assert built.root_triangle_count < 0.12 * built.triangle_count


@pytest.mark.parametrize("name", ["hp-mixed-reality", "oculus-touch", "samsung-galaxyxr"])
def test_models_keep_their_materials(name: str, tmp_path: Path) -> None:
    path = MODELS / f"{name}.glb"
    if not path.exists():
        pytest.skip("models are fetched by `make data`")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        mesh = meshes.load(path)
        clusters = meshes.build(mesh, certified=False)
        clusters.save(tmp_path / "a.hra", 16)
        asset = meshes.open_asset(tmp_path / "a.hra")
        asset.mesh(np.flatnonzero(asset.hierarchy.added_by < 0)).export(tmp_path / "a.glb")
        back = meshes.load(tmp_path / "a.glb")
    assert [looks(m) for m in asset.materials] == [looks(m) for m in carried(mesh).materials]
    assert len(carried(mesh).materials[0].textures) > 1
    found = {repr(looks(m)) for m in carried(back).materials}
    assert found and found <= {repr(looks(m)) for m in carried(mesh).materials}
    if gltf_validator.available():
        assert gltf_validator.issues(tmp_path / "a.glb")["numErrors"] == 0


def test_values_are_checked() -> None:
    image, uv = picture((1, 2, 3)), np.zeros((3, 2), np.float32)
    for make in (
        lambda: meshes.Texture(b"GIF89a"),
        lambda: meshes.Texture(image, 2),
        lambda: meshes.Texture(image, True),
        lambda: meshes.Texture(image, sampler="LINEAR"),  # pyright: ignore[reportArgumentType]
        lambda: meshes.Sampler(wrap_s="CLAMP"),  # pyright: ignore[reportArgumentType]
        lambda: meshes.Sampler(wrap_t=None),  # pyright: ignore[reportArgumentType]
        lambda: meshes.Material(normal_texture=image),  # pyright: ignore[reportArgumentType]
        lambda: meshes.Material(normal_scale=np.inf),
        lambda: meshes.Material(occlusion_strength=2.0),
        lambda: meshes.VertexAttributes(uv2=uv),
        lambda: meshes.VertexAttributes(tangents=np.zeros((3, 3), np.float32)),
    ):
        with pytest.raises(MeshError):
            make()


def test_what_is_written_compressed_is_read(tmp_path: Path) -> None:
    """Grids, filters and codecs of the exporter, and all that materials say."""
    mesh, path = sheet(), tmp_path / "sheet.glb"
    path.write_bytes(meshes.compressed_glb(mesh))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        back = meshes.load(path)
    assert len(back.triangles) == len(mesh.triangles)
    assert np.abs(back.bounds - mesh.bounds).max() < 2**-15
    assert {repr(looks(m)) for m in carried(back).materials} == {repr(looks(m)) for m in materials()}
    for name in ("uv", "uv2", "normals"):
        before, after = (getattr(carried(m), name)[m.triangles].astype(float) for m in (mesh, back))
        for moment in (1, 2):
            assert np.allclose((before**moment).mean(axis=(0, 1)), (after**moment).mean(axis=(0, 1)), atol=2e-3)
