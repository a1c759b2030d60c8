"""Coordinates of maps: doubles come in, through .hra and tiles, and out again within a tenth of a millimetre."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hra.domains import meshes
from hra.domains.meshes.commands import app
from hra.domains.meshes.files.gltf_files import split_glb
from hra.errors import FileError, RepairWarning
from hra.files.ply import binary_table, split_origin

UTM = np.array([381_797.0, 5_820_377.0, 31.0])


def ball(count: int = 4000, radius: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """A bumpy sphere at a place in Berlin: positions float64, triangles."""
    rows, columns = int(np.sqrt(count / 4)), 2 * int(np.sqrt(count / 4))
    v, u = np.meshgrid(np.linspace(0, np.pi, rows + 1), np.arange(columns) * 2 * np.pi / columns, indexing="ij")
    reach = radius * (1 + 0.05 * np.sin(5 * u) * np.sin(v) ** 2)
    points = np.stack([reach * np.sin(v) * np.cos(u), reach * np.sin(v) * np.sin(u), reach * np.cos(v)], axis=-1)
    number = np.arange((rows + 1) * columns).reshape(rows + 1, columns)
    number[0], number[-1] = number[0, 0], number[-1, 0]
    a, b = number[:-1], np.roll(number[:-1], -1, axis=1)
    d, c = number[1:], np.roll(number[1:], -1, axis=1)
    faces = np.concatenate([np.stack([a, d, b], -1).reshape(-1, 3), np.stack([b, d, c], -1).reshape(-1, 3)])
    proper = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    used, local = np.unique(faces[proper], return_inverse=True)
    return points.reshape(-1, 3)[used] + UTM, local.reshape(-1, 3).astype(np.uint32)


def absolute(mesh: Any) -> np.ndarray:
    return mesh.positions.astype(np.float64) + mesh.origin


def farthest(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest distance from a found point to the nearest wanted one; both are few."""
    return float(max(np.linalg.norm(wanted - point, axis=1).min() for point in found[::7]))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("utm") / "ball.ply"
    positions, triangles = ball()
    path.write_bytes(binary_table(dict(zip("xyz", positions.T, strict=True)), triangles=triangles))
    return path


def test_positions_of_a_file_in_doubles_are_kept(source: Path):
    positions, _ = ball()
    mesh = meshes.load(source)
    assert len(mesh.positions) == len(positions) and meshes.is_closed(mesh)
    assert farthest(absolute(mesh), positions) < 1e-6
    assert len(np.unique(mesh.positions[:, 1])) > 400  # of northings float32 has five here


@pytest.mark.parametrize(("bits", "version", "slack"), [(None, 3, 1e-6), (16, 4, 1e-4)])
def test_built_meshes_keep_their_place(source: Path, tmp_path: Path, bits: int | None, version: int, slack: float):
    meshes.build(source).save(tmp_path / "a.hra", bits)
    assert struct.unpack_from("<I", (tmp_path / "a.hra").read_bytes(), 12) == (version,)
    asset = meshes.open_asset(tmp_path / "a.hra")
    finest = asset.mesh(np.flatnonzero(asset.hierarchy.removed_by < 0))
    assert farthest(absolute(finest), ball()[0]) < slack
    assert asset.read().origin == asset.origin == finest.origin != (0.0, 0.0, 0.0)
    content = bytearray((tmp_path / "a.hra").read_bytes())
    place = content.index(struct.pack("<3d", *asset.origin))
    content[place : place + 8] = struct.pack("<d", 7.0)
    (tmp_path / "b.hra").write_bytes(content)
    with pytest.raises(FileError, match="'origin' of the mesh asset is damaged"):
        meshes.open_asset(tmp_path / "b.hra")


def test_meshes_in_parts_keep_their_place(source: Path, tmp_path: Path):
    meshes.build_out_of_core(source, tmp_path / "a.hra", memory=2**30, certified=False)
    asset = meshes.open_asset(tmp_path / "a.hra")
    assert asset.origin == meshes.load(source).origin
    assert farthest(absolute(asset.mesh(np.flatnonzero(asset.hierarchy.removed_by < 0))), ball()[0]) < 1e-6


@pytest.mark.parametrize("suffix", [".glb", ".ply", ".obj", ".off"])
def test_cuts_are_written_where_the_source_is(source: Path, tmp_path: Path, suffix: str):
    meshes.build(source).save(tmp_path / "a.hra")
    words = ["cut", tmp_path / "a.hra", "--triangles", "1k", "-o", tmp_path / f"cut{suffix}"]
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    assert farthest(absolute(meshes.load(tmp_path / f"cut{suffix}")), ball()[0]) < 1e-4


def test_stl_says_where_it_counts_from(source: Path, tmp_path: Path):
    mesh = meshes.load(source)
    with pytest.warns(RepairWarning, match=r"STL holds float32: coordinates count from \[38179"):
        mesh.export(tmp_path / "a.stl")
    assert meshes.load(tmp_path / "a.stl").bounds[1].max() < 5


def test_levels_and_tiles_are_put_there_by_their_nodes(source: Path, tmp_path: Path):
    chain = meshes.lod_chain(meshes.build(source), [0.5, 0.25])
    chain.export_one(tmp_path / "levels.glb")
    nodes = json.loads(split_glb((tmp_path / "levels.glb").read_bytes(), "levels")[0])["nodes"]
    assert [tuple(node["translation"]) for node in nodes] == [chain.levels[0].origin] * 2
    tree = meshes.build_tiles(source, 512)
    tree.save(tmp_path / "tiles")
    assert meshes.check_tileset(tmp_path / "tiles", cuts=20).sound
    root = json.loads((tmp_path / "tiles/tileset.json").read_text())["root"]
    x, y, z = root["boundingVolume"]["box"][:3]
    assert np.abs(np.array([x, z, -y]) - UTM).max() < 0.2
    header = json.loads(split_glb((tmp_path / "tiles" / root["content"]["uri"]).read_bytes(), "root")[0])
    low, high = ball()[0].min(axis=0), ball()[0].max(axis=0)
    assert (np.abs(np.array(header["nodes"][0]["translation"]) - (low + high) / 2) < 4).all()


def test_usd_moves_its_root(source: Path, tmp_path: Path):
    usd = pytest.importorskip("pxr.Usd")
    from hra.domains.meshes.tiles.usd import write_usd

    chain = meshes.lod_chain(meshes.build(source), [0.5])
    write_usd(chain, tmp_path / "a.usdc")
    stage = usd.Stage.Open(str(tmp_path / "a.usdc"))
    place = stage.GetDefaultPrim().GetAttribute("xformOp:translate").Get()
    assert tuple(place) == chain.levels[0].origin


def test_the_camera_of_a_command_stands_where_the_source_does(source: Path, tmp_path: Path):
    meshes.build(source).save(tmp_path / "a.hra")
    answers = []
    for eye in (UTM + np.array([0, 0, 9]), UTM + np.array([0, 0, 900])):
        words = ["cut", tmp_path / "a.hra", "--pixels", "1", "--json", tmp_path / "a.json"]
        words += ["--eye", ",".join(map(str, eye.tolist())), "--up", "0,1,0"]
        result = CliRunner().invoke(app, [*map(str, words)])
        assert result.exit_code == 0, result.output
        answers.append(json.loads((tmp_path / "a.json").read_text())["triangles"])
    assert answers[0] > 4 * answers[1]


def test_meshes_without_need_have_no_origin_and_their_files_the_old_version(tmp_path: Path):
    positions, triangles = ball()
    for moved in (positions - UTM, positions - UTM + 40, np.float32(positions - UTM + 1024)):
        assert meshes.from_arrays(moved, triangles).origin == (0.0, 0.0, 0.0)
    meshes.build(meshes.from_arrays(positions - UTM, triangles)).save(tmp_path / "a.hra")
    assert struct.unpack_from("<I", (tmp_path / "a.hra").read_bytes(), 12) == (1,)


def test_a_vertex_without_a_face_says_nothing_of_the_origin() -> None:
    positions, triangles = ball()
    with pytest.warns(RepairWarning, match="1 vertices without a face"):
        mesh = meshes.from_arrays(np.concatenate([positions, np.zeros((1, 3))]), triangles)
    assert mesh.origin == meshes.from_arrays(positions, triangles).origin
    assert farthest(absolute(mesh), positions) < 1e-4


@settings(deadline=None)
@given(st.floats(-1e8, 1e8), st.floats(1e-3, 1e4), st.integers(0, 2**31))
def test_no_coordinate_moves_by_more_than_float32_of_the_extent(far: float, wide: float, seed: int):
    points = np.random.default_rng(seed).random((50, 3)) * wide + [far, -far / 3, 1.0]
    local, origin = split_origin(points)
    moved = np.abs(np.float32(local).astype(float) + origin - points).max()
    extent = max(float(np.ptp(points, axis=0).max()), 1e-9)
    assert moved <= max(extent * 2**-17, 1e-8)
