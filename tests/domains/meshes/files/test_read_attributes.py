"""Attributes from files: what others wrote comes in as it is, what is broken is repaired with a warning or refused."""

from __future__ import annotations

import base64
import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image

from hra.domains import meshes
from hra.errors import FileError, HraError, LimitExceeded, MeshError, RepairWarning
from hra.files.limits import Limits
from tests.helpers.seamed_meshes import carried

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.uint16)
UV = np.array([[0, 0], [1, 0], [0.25, 1], [0.5, 0.5]], np.float32)
NORMALS = np.array([[-1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)


def image(kind: str = "PNG", size: tuple[int, int] = (4, 2)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (200, 10, 30)).save(out, kind)
    return out.getvalue()


def uri(content: bytes, kind: str = "application/octet-stream") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def gltf(arrays: dict[str, np.ndarray], changes: Callable[[dict[str, Any]], None] | None = None) -> str:
    """A tetrahedron with vertex ``arrays`` by glTF attribute name; ``changes`` edits the header."""
    kinds = {np.dtype(np.float32): 5126, np.dtype(np.uint8): 5121, np.dtype(np.uint16): 5123}
    header: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {}, "indices": 0}]}],
        "accessors": [],
        "bufferViews": [],
        "buffers": [],
    }
    for name, array in {"indices": FACES.reshape(-1, 1), "POSITION": POINTS, **arrays}.items():
        number = len(header["accessors"])
        content = np.ascontiguousarray(array).tobytes()
        header["buffers"].append({"byteLength": len(content), "uri": uri(content)})
        header["bufferViews"].append({"buffer": number, "byteLength": len(content)})
        kind = {1: "SCALAR"}.get(array.shape[1], f"VEC{array.shape[1]}")
        header["accessors"].append(
            {"bufferView": number, "componentType": kinds[array.dtype], "count": len(array), "type": kind}
        )
        if array.dtype != np.float32 and number:
            header["accessors"][-1]["normalized"] = True
        if number:
            header["meshes"][0]["primitives"][0]["attributes"][name] = number
    if changes:
        changes(header)
    return json.dumps(header)


def load(folder: Path, name: str, content: str | bytes, **options: Any) -> meshes.TriangleMesh:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return meshes.load(path, **options)


def at(mesh: meshes.TriangleMesh, point: Any) -> int:
    """The only vertex at a point."""
    return int(np.flatnonzero((mesh.positions == np.array(point, np.float32)).all(axis=1)).item())


def test_gltf_arrays_come_in_as_they_are(tmp_path: Path) -> None:
    colors = np.arange(16, dtype=np.uint8).reshape(4, 4)
    mesh = load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV, "NORMAL": NORMALS, "COLOR_0": colors}))
    order = [at(mesh, p) for p in POINTS]
    assert np.array_equal(carried(mesh).uv[order], UV)
    assert np.array_equal(carried(mesh).normals[order], NORMALS)
    assert np.array_equal(carried(mesh).colors[order], colors)
    assert carried(mesh).materials == ()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_gltf_integers_are_normalized(dtype: type, tmp_path: Path) -> None:
    full = np.iinfo(dtype).max
    uv = np.rint(UV * full).astype(dtype)
    colors = np.rint(np.eye(4, 3) * full).astype(dtype)
    mesh = load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": uv, "COLOR_0": colors}))
    order = [at(mesh, p) for p in POINTS]
    assert np.allclose(carried(mesh).uv[order], UV, atol=0.5 / full)
    assert carried(mesh).colors[order].tolist() == np.c_[np.eye(4, 3) * 255, np.full(4, 255)].tolist()


def test_transforms_turn_normals_and_mirrors_keep_the_outside(tmp_path: Path) -> None:
    def transform(header: dict[str, Any]) -> None:
        # A turn by 90 degrees about z inside of a stretched mirror.
        half = np.sqrt(0.5)
        header["nodes"] = [
            {"scale": [-2, 1, 4], "children": [1]},
            {"mesh": 0, "rotation": [0, 0, half, half], "translation": [1, 0, 0]},
        ]

    mesh = load(tmp_path, "a.gltf", gltf({"NORMAL": NORMALS}, transform))
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], float)
    linear = np.diag([-2, 1, 4]) @ turn
    places = (POINTS @ turn.T + [1, 0, 0]) * [-2, 1, 4]
    expected = NORMALS @ np.linalg.inv(linear)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = [int(np.abs(mesh.positions - p).max(axis=1).argmin()) for p in places]
    assert np.allclose(mesh.positions[found], places, atol=1e-6)
    assert np.allclose(carried(mesh).normals[found], expected, atol=1e-6)
    corners = mesh.positions[mesh.triangles].astype(float)
    volume = np.linalg.det(corners).sum() / 6
    assert volume == pytest.approx(8 / 6)


def test_transforms_do_not_open_seams(tmp_path: Path, rng: np.random.Generator) -> None:
    soup = rng.normal(size=(331, 1, 3)).astype(np.float32).repeat(9, axis=0).reshape(-1, 3)
    soup[1::3] += np.float32(1)
    soup[2::3, 1] += np.float32(2)
    uv, turn = rng.random((len(soup), 2), np.float32), rng.normal(size=4)

    def transform(header: dict[str, Any]) -> None:
        content = soup.tobytes()
        header["buffers"][1] = {"byteLength": len(content), "uri": uri(content)}
        header["bufferViews"][1]["byteLength"] = len(content)
        header["accessors"][1]["count"] = len(soup)
        del header["meshes"][0]["primitives"][0]["indices"]
        header["nodes"] = [{"mesh": 0, "rotation": (turn / np.linalg.norm(turn)).tolist(), "scale": [1.1, 0.7, 3.3]}]

    mesh = load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": uv}, transform))
    assert len(mesh.positions) == len(soup)
    assert len(np.unique(mesh.positions, axis=0)) == len(np.unique(soup, axis=0))


def test_trimesh_agrees_on_scenes(tmp_path: Path) -> None:
    rng, scene = np.random.default_rng(0), trimesh.Scene()
    ball = trimesh.creation.icosphere(subdivisions=1)
    for name in "abc":
        matrix = trimesh.transformations.random_rotation_matrix(rng.random(3))
        matrix[:3, 3] = rng.normal(size=3) * 5
        scene.add_geometry(ball, geom_name="ball", node_name=name, transform=matrix)
    scene.export(tmp_path / "a.glb")
    ours = meshes.load(tmp_path / "a.glb")
    theirs = trimesh.load_scene(tmp_path / "a.glb", process=False).to_mesh()
    assert len(ours.triangles) == len(theirs.faces)
    a, b = (np.sort(np.asarray(p, float).round(4).view("f8,f8,f8").ravel()) for p in (ours.positions, theirs.vertices))
    assert np.allclose(np.unique(a).view("f8"), np.unique(b).view("f8"), atol=2e-4)


def two_materials(header: dict[str, Any]) -> None:
    primitive = header["meshes"][0]["primitives"][0]
    header["meshes"][0]["primitives"] = [{**primitive, "material": 1}, {**primitive, "material": 0}, primitive]
    header["nodes"] = [{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}]
    header["scenes"] = [{"nodes": [0, 1]}]
    header["images"] = [{"uri": uri(image("JPEG"), "image/jpeg")}]
    header["textures"] = [{"source": 0}]
    header["materials"] = [
        {"name": "plain", "doubleSided": True, "emissiveFactor": [0, 0.5, 0], "alphaMode": "MASK", "alphaCutoff": 0.3},
        {
            "name": "Schädel",
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 0.5, 0, 1],
                "metallicFactor": 0,
                "roughnessFactor": 0.25,
                "baseColorTexture": {"index": 0},
            },
        },
    ]


def test_gltf_primitives_become_materials(tmp_path: Path) -> None:
    mesh = load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV}, two_materials))
    textured, plain, default = carried(mesh).materials
    assert textured == meshes.Material("Schädel", (1.0, 0.5, 0.0, 1.0), image("JPEG"), metallic=0.0, roughness=0.25)
    assert plain == meshes.Material(
        "plain", emissive=(0.0, 0.5, 0.0), alpha_mode="MASK", alpha_cutoff=0.3, double_sided=True
    )
    assert default == meshes.Material()
    assert np.bincount(carried(mesh).material[mesh.triangles[:, 0]]).tolist() == [8, 8, 8]
    assert np.bincount(carried(mesh).material).tolist() == [8, 8, 8]
    assert len(np.unique(mesh.position_of)) == 8


@pytest.mark.case(20)
def test_without_attributes_there_are_only_positions(tmp_path: Path) -> None:
    with pytest.warns(RepairWarning, match="16 duplicate faces"):
        mesh = load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV}, two_materials), attributes=False)
    assert mesh.attributes is None
    assert len(mesh.positions) == 8


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF", "BMP"])
def test_images_are_kept_or_converted(kind: str, tmp_path: Path) -> None:
    def changes(header: dict[str, Any]) -> None:
        two_materials(header)
        header["images"] = [{"uri": "my%20image"}]

    (tmp_path / "my image").write_bytes(image(kind))
    found = carried(load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV}, changes))).materials[0]
    assert (found.image == image(kind)) == (kind != "BMP")
    assert Image.open(io.BytesIO(found.image)).convert("RGB").getpixel((1, 1)) == pytest.approx((200, 10, 30), abs=9)


@pytest.mark.case(33)
@pytest.mark.parametrize("content", [None, b"", b"KTX 20", image()[:20]], ids=["missing", "empty", "unknown", "short"])
def test_textures_that_cannot_be_read_are_left_out(content: bytes | None, tmp_path: Path) -> None:
    def changes(header: dict[str, Any]) -> None:
        two_materials(header)
        header["images"] = [{"uri": "a.png"}]

    if content is not None:
        (tmp_path / "a.png").write_bytes(content)
    with pytest.warns(RepairWarning, match="texture"):
        mesh = load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV}, changes))
    assert carried(mesh).materials[0].image is None


def test_images_of_too_many_pixels_are_left_out(tmp_path: Path) -> None:
    with pytest.warns(RepairWarning, match="4 x 2 pixels"):
        load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV}, two_materials), limits=Limits(texture_pixels=7))


@pytest.mark.case(30)
@pytest.mark.parametrize(
    "name", ["../a.png", "/etc/passwd", "file:///a.png", "http://localhost/a.png", "%2e%2e%2fa.png"]
)
def test_textures_outside_of_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    def changes(header: dict[str, Any]) -> None:
        two_materials(header)
        header["images"] = [{"uri": name}]

    with pytest.raises(FileError, match="outside"):
        load(tmp_path, "a.gltf", gltf({"TEXCOORD_0": UV}, changes))
    (tmp_path / "a.obj").write_text("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl x\nf 1 2 3\n")
    (tmp_path / "a.mtl").write_text(f"newmtl x\nmap_Kd {name}\n")
    with pytest.raises(FileError, match="outside"):
        meshes.load(tmp_path / "a.obj")


@pytest.mark.case(19)
@pytest.mark.parametrize("name", ["TEXCOORD_0", "NORMAL", "COLOR_0"])
def test_values_that_are_not_finite_become_zero(name: str, tmp_path: Path) -> None:
    array = {"TEXCOORD_0": UV, "NORMAL": NORMALS, "COLOR_0": NORMALS.clip(0)}[name].copy()
    array[1, 0] = np.nan
    with pytest.warns(RepairWarning, match="of 1 vertices are not finite"):
        mesh = load(tmp_path, "a.gltf", gltf({name: array}))
    values = getattr(carried(mesh), carried(mesh).names[0])
    assert values[at(mesh, POINTS[1])][0] == 0


@pytest.mark.parametrize("name", ["TEXCOORD_0", "NORMAL", "COLOR_0"])
def test_attributes_of_another_number_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="shape") as error:
        load(tmp_path, "a.gltf", gltf({name: {"TEXCOORD_0": UV}.get(name, NORMALS)[:3]}))
    assert "a.gltf, meshes[0].primitives[0]" in error.value.where


def draco(header: dict[str, Any]) -> None:
    header["extensionsRequired"] = ["KHR_draco_mesh_compression"]


def short_buffer(header: dict[str, Any]) -> None:
    header["buffers"][1]["uri"] = uri(POINTS.tobytes()[:-4])


def bad_base64(header: dict[str, Any]) -> None:
    header["buffers"][1]["uri"] = "data:application/octet-stream;base64,!!!"


def no_such_material(header: dict[str, Any]) -> None:
    header["meshes"][0]["primitives"][0]["material"] = 3


def bright(header: dict[str, Any]) -> None:
    header["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": [2, 0, 0, 1]}}]


def many_zeros(header: dict[str, Any]) -> None:
    zeros = {"componentType": 5126, "count": 100_000, "type": "VEC3"}
    header["accessors"] += [zeros] * 2000
    header["meshes"][0]["primitives"] = [{"attributes": {"POSITION": i + 2}} for i in range(2000)]


@pytest.mark.parametrize("change", [many_zeros, draco, short_buffer, bad_base64, no_such_material, bright])
def test_broken_headers_are_typed_errors(change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    with pytest.raises((FileError, MeshError)) as error:
        load(tmp_path, "a.gltf", gltf({}, change))
    assert "a.gltf" in error.value.where or "material" in error.value.where


@pytest.mark.case(20)
def test_materials_without_coordinates_are_read(tmp_path: Path) -> None:
    mesh = load(tmp_path, "a.gltf", gltf({}, two_materials))
    assert carried(mesh).names == ("material",)
    assert len(carried(mesh).materials) == 3


def test_meshes_that_repeat_too_often_are_refused(tmp_path: Path) -> None:
    def changes(header: dict[str, Any]) -> None:
        header["nodes"] = [{"mesh": 0}] * 1000
        header["scenes"] = [{"nodes": list(range(1000))}]

    assert len(load(tmp_path, "a.gltf", gltf({}, changes), limits=Limits(vertices=4000)).triangles) == 4
    with pytest.raises(LimitExceeded, match="4,000 vertices, more than the limit of 3,999"):
        load(tmp_path, "a.gltf", gltf({}, changes), limits=Limits(vertices=3999))


OBJ = """mtllib sub/a.mtl
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
vt 0 0
vt 1 0
vt 0.25 1
vn -1 0 0
vn 0 0 2
usemtl red
f 1/1/1 3/3/1 2/2/1
f 1/1/1 2/2/1 4/3/1
usemtl textured
f 2/1/2 3/3/2 4/2/2
usemtl unknown
f 1/1/2 4/3/2 3/2/2
"""


@pytest.fixture
def obj_folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.mtl").write_text(
        "# two materials\nnewmtl red\nKd 1 0 0\nd 0.5\nNs 6\n\nnewmtl textured\nKd 0 0 0\nmap_Kd -s 1 1 1 a.png\n"
    )
    (tmp_path / "a.png").write_bytes(image())
    (tmp_path / "a.obj").write_text(OBJ)
    return tmp_path


def test_obj_with_materials_and_indexed_attributes(obj_folder: Path) -> None:
    with pytest.warns(RepairWarning) as said:
        mesh = meshes.load(obj_folder / "a.obj")
    assert [str(one.message).partition("a.obj: ")[2] for one in said] == [
        "1 materials that no material file has became plain ones: 'unknown'"
    ]
    assert [m.name for m in carried(mesh).materials] == ["red", "textured", "unknown"]
    red, textured, unknown = carried(mesh).materials
    assert red.base_color == (1.0, 0.0, 0.0, 0.5)
    assert red.alpha_mode == "BLEND"
    assert red.roughness == pytest.approx(0.5)
    assert textured.image == image()
    assert textured.base_color == (1.0, 1.0, 1.0, 1.0)
    assert unknown == meshes.Material("unknown")
    assert np.bincount(carried(mesh).material[mesh.triangles[:, 0]]).tolist() == [2, 1, 1]
    third = mesh.triangles[carried(mesh).material[mesh.triangles[:, 0]] == 1][0]
    first = int(np.flatnonzero((mesh.positions[third] == POINTS[1]).all(axis=1)).item())
    third = np.roll(third, -first)
    assert carried(mesh).uv[third].tolist() == [[0, 1], [0.25, 0], [1, 1]]  # from the upper left corner
    assert carried(mesh).normals[third].tolist() == [[0, 0, 1]] * 3
    assert meshes.is_closed(mesh)


def test_missing_material_files_are_left_out(obj_folder: Path) -> None:
    (obj_folder / "sub/a.mtl").unlink()
    with pytest.warns(RepairWarning, match="'sub/a.mtl' is missing"):
        mesh = meshes.load(obj_folder / "a.obj")
    assert carried(mesh).materials == tuple(meshes.Material(name) for name in ("red", "textured", "unknown"))


@pytest.mark.case(33)
def test_missing_obj_textures_are_left_out(obj_folder: Path) -> None:
    (obj_folder / "a.png").unlink()
    with pytest.warns(RepairWarning, match=r"'a.png' is missing"):
        assert carried(meshes.load(obj_folder / "a.obj")).materials[1].image is None


def test_obj_vertex_colours(tmp_path: Path) -> None:
    text = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 0.5\nf 1 2 3\n"
    mesh = load(tmp_path, "a.obj", text)
    assert carried(mesh).colors.tolist() == [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 128, 255]]


def test_names_in_other_encodings_are_read(tmp_path: Path) -> None:
    ply = PLY.format(u="s", v="t").replace("TextureFile a.png", "Schädel").encode("latin-1")
    assert len(load(tmp_path, "a.ply", ply).triangles) == 4
    text = "o Schädel\nusemtl Knöchel\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".encode("latin-1")
    assert carried(load(tmp_path, "a.obj", text)).materials == (meshes.Material("Knöchel"),)


def test_damaged_obj_and_mtl_never_escape_as_other_errors(obj_folder: Path, rng: np.random.Generator) -> None:
    for name in ("a.obj", "sub/a.mtl", "a.png"):
        content = np.frombuffer((obj_folder / name).read_bytes(), np.uint8)
        for _ in range(40):
            damaged = content.copy()
            damaged[rng.integers(0, len(content), 3)] = rng.integers(0, 256, 3)
            (obj_folder / name).write_bytes(damaged.tobytes())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    meshes.load(obj_folder / "a.obj")
                except HraError as error:
                    assert error.where
        (obj_folder / name).write_bytes(content.tobytes())


PLY = """ply
format ascii 1.0
comment TextureFile a.png
element vertex 4
property float x
property float y
property float z
property float nx
property float ny
property float nz
property float {u}
property float {v}
property uchar red
property uchar green
property uchar blue
element face 4
property list uchar int vertex_indices
end_header
0 0 0 -1 0 0 0 0 255 0 0
1 0 0 1 0 0 1 0 0 255 0
0 1 0 0 1 0 0.25 1 0 0 255
0 0 1 0 0 1 0.5 0.5 9 9 9
3 0 2 1
3 0 1 3
3 1 2 3
3 0 3 2
"""


@pytest.mark.parametrize("names", ["uv", "st", ("texture_u", "texture_v")])
def test_ply_vertex_properties(names: Any, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(image())
    mesh = load(tmp_path, "a.ply", PLY.format(u=names[0], v=names[1]))
    assert np.array_equal(carried(mesh).uv, np.stack([UV[:, 0], 1 - UV[:, 1]], 1))
    assert np.array_equal(carried(mesh).normals, NORMALS)
    assert carried(mesh).colors.tolist() == [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 255]]
    assert carried(mesh).materials == (meshes.Material("a.png", image=image(), metallic=0.0),)


def test_ply_without_its_texture(tmp_path: Path) -> None:
    with pytest.warns(RepairWarning, match=r"'a.png' is missing"):
        mesh = load(tmp_path, "a.ply", PLY.format(u="s", v="t"))
    assert carried(mesh).materials[0].image is None


def test_ply_coordinates_of_corners_make_seams(tmp_path: Path) -> None:
    text = (
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\n"
        "property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n"
        "0 0 0 1 1 1\n1 0 0 2 2 2\n1 1 0 3 3 3\n0 1 0 4 4 4\n"
        "3 0 1 2 6 0 1 1 1 1 0\n3 0 2 3 6 0 1 0.5 0 0 0\n"
    )
    mesh = load(tmp_path, "a.ply", text)
    assert len(mesh.positions) == 5  # vertex 2 has two places in the texture
    assert carried(mesh).uv[mesh.triangles].tolist() == [[[0, 0], [1, 0], [1, 1]], [[0, 0], [0.5, 1], [0, 1]]]
    assert carried(mesh).colors[mesh.triangles][:, :, 0].tolist() == [[1, 2, 3], [1, 3, 4]]


@pytest.mark.parametrize("encoding", ["ascii", "binary"])
def test_trimeshs_ply_comes_back(encoding: str, tmp_path: Path, rng: np.random.Generator) -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    colors = rng.integers(0, 256, (len(ball.vertices), 4), np.uint8)
    colored = trimesh.Trimesh(ball.vertices, ball.faces, vertex_colors=colors, process=False)
    colored.export(tmp_path / "a.ply", vertex_normal=True, encoding=encoding)
    mesh = meshes.load(tmp_path / "a.ply")
    assert np.array_equal(carried(mesh).colors, colors)
    assert np.allclose(carried(mesh).normals, ball.vertex_normals, atol=1e-6)
    assert np.array_equal(mesh.triangles, ball.faces)


@pytest.mark.parametrize("suffix", [".ply", ".glb"])
def test_written_attributes_come_back(suffix: str, tmp_path: Path, rng: np.random.Generator) -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    colors = rng.integers(0, 256, (len(ball.vertices), 4), np.uint8)
    attributes = meshes.VertexAttributes(normals=ball.vertex_normals.astype(np.float32), colors=colors)
    mesh = meshes.from_arrays(ball.vertices, ball.faces, attributes)
    mesh.export(tmp_path / f"a{suffix}")
    again = meshes.load(tmp_path / f"a{suffix}")
    assert np.array_equal(carried(again).colors[again.triangles], colors[ball.faces])
    assert np.allclose(carried(again).normals[again.triangles], ball.vertex_normals[ball.faces], atol=1e-6)


@pytest.mark.case(17)
def test_polygons_are_triangulated_with_a_warning(tmp_path: Path) -> None:
    square = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
    header = PLY.split("property float nx")[0].replace("comment TextureFile a.png\n", "")
    ply = header + "element face 1\nproperty list uchar int vertex_indices\nend_header\n" + square + "4 0 1 2 3\n"
    files = {"a.ply": ply, "a.off": f"OFF\n4 1 0\n{square}4 0 1 2 3\n"}
    for name, content in files.items():
        with pytest.warns(RepairWarning, match="polygons were triangulated"):
            mesh = load(tmp_path, name, content)
        assert len(mesh.triangles) == 2
        assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 0]]


@pytest.mark.case(4)
def test_repair_drops_faces_with_a_vertex_that_is_not_finite(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 1\nf 1 2 3\nf 1 2 4\n"
    with pytest.raises(MeshError, match="vertex 3"):
        load(tmp_path, "a.obj", text)
    with pytest.warns(RepairWarning, match="1 faces with a vertex that is not finite"):
        mesh = load(tmp_path, "a.obj", text, repair=True)
    assert len(mesh.triangles) == 1
    with pytest.raises(MeshError), pytest.warns(RepairWarning):
        load(tmp_path, "a.obj", text.replace("f 1 2 3\n", ""), repair=True)
