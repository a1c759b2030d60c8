"""A mesh that is written and read is the same mesh."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from hra.domains import meshes
from hra.errors import FileError, HraError
from tests.helpers import mesh_file


@pytest.mark.parametrize("name", ["bumpy_clusters", "skull_clusters", "dressed", "tiny"])
def test_meshes_come_back_equal(name: str, request: pytest.FixtureRequest, tmp_path: Path, assert_same) -> None:
    mesh = request.getfixturevalue(name)
    mesh.save(tmp_path / "a.hra")
    again = meshes.load_clusters(tmp_path / "a.hra")
    assert_same(mesh, again)
    again.save(tmp_path / "b.hra")
    assert (tmp_path / "a.hra").read_bytes() == (tmp_path / "b.hra").read_bytes()


@pytest.mark.parametrize("certified", [True, False])
def test_bounds_come_back(make_closed, tmp_path: Path, assert_same, certified: bool) -> None:
    mesh = meshes.build(make_closed(3), certified=certified)
    mesh.save(tmp_path / "a.hra")
    assert_same(mesh, meshes.load_clusters(tmp_path / "a.hra"))
    assert ("hausdorff" in mesh.hierarchy.node) is certified
    assert meshes.open_asset(tmp_path / "a.hra").facts["certified"] is certified


def test_bounds_of_one_side_are_no_certificate(make_closed, tmp_path: Path) -> None:
    """Files of earlier versions say that they are certified, and carry "deviation"."""
    mesh = meshes.build(make_closed(3))
    node = dict(mesh.hierarchy.node)
    node["deviation"] = node.pop("hausdorff")
    old = replace(mesh, hierarchy=replace(mesh.hierarchy, node=MappingProxyType(node)))
    old.save(tmp_path / "a.hra")
    content = (tmp_path / "a.hra").read_bytes()
    info = mesh_file.section(content, "info").tobytes().replace(b'"certified": false\n', b'"certified": true\n', 1)
    (tmp_path / "a.hra").write_bytes(mesh_file.with_section(content, "info", np.frombuffer(info, np.uint8)))
    asset = meshes.open_asset(tmp_path / "a.hra")
    assert asset.facts["certified"] is False
    assert meshes.ScreenError().resolve(asset.hierarchy).error == "quadric"
    assert np.array_equal(asset.hierarchy.attribute("deviation"), mesh.hierarchy.attribute("hausdorff"))


def test_builds_differ_in_the_report_only(bumpy: meshes.TriangleMesh, tmp_path: Path) -> None:
    contents = []
    for k in range(2):
        meshes.build(bumpy, threads=k + 1).save(tmp_path / "a.hra")
        contents.append((tmp_path / "a.hra").read_bytes())
    first, second = (mesh_file.entries(content) for content in contents)
    assert [name for name in first if first[name]["crc"] != second[name]["crc"]] == ["info"]
    begin, end = 64 + 48 * len(first), first["info"]["offset"]
    assert contents[0][begin:end] == contents[1][begin:end]


def test_costs_are_read_in_triangles(tiny: meshes.ClusterMesh, tmp_path: Path) -> None:
    tiny.with_cost("bytes").save(tmp_path / "a.hra")
    again = meshes.load_clusters(tmp_path / "a.hra")
    assert again.hierarchy.cost_unit == "triangles"
    assert np.array_equal(again.hierarchy.node_cost, tiny.hierarchy.node_cost)


def test_costs_in_bytes_are_the_same_from_a_file(dressed: meshes.ClusterMesh, tmp_path: Path) -> None:
    dressed.save(tmp_path / "a.hra")
    asset = meshes.open_asset(tmp_path / "a.hra").with_cost("bytes")
    assert asset.hierarchy.cost_unit == "bytes"
    assert np.array_equal(asset.hierarchy.node_cost, dressed.with_cost("bytes").hierarchy.node_cost)
    with pytest.raises(HraError, match="'metres'"):
        asset.with_cost("metres")  # pyright: ignore[reportArgumentType]


def test_vertices_without_a_cluster_are_left_out(tiny: meshes.ClusterMesh, tmp_path: Path, assert_same) -> None:
    positions = np.concatenate([tiny.positions[:7], np.full((1, 3), 99, np.float32), tiny.positions[7:]])
    indices = (tiny.indices + (tiny.indices >= 7)).astype(np.uint32)
    replace(tiny, positions=positions, indices=indices).save(tmp_path / "a.hra")
    assert_same(tiny, meshes.load_clusters(tmp_path / "a.hra"))
    assert np.array_equal(meshes.open_asset(tmp_path / "a.hra").bounds, tiny.bounds)


@pytest.mark.case(35)
def test_names_need_not_be_unicode(dressed: meshes.ClusterMesh, tmp_path: Path, assert_same) -> None:
    carried, half = dressed.attributes, "\udcff"
    assert carried is not None and dressed.report is not None
    materials = tuple(replace(material, name=half) for material in carried.materials)
    named = replace(
        dressed, attributes=replace(carried, materials=materials), report=replace(dressed.report, source=half)
    )
    path = tmp_path / os.fsdecode(b"\xff.hra")
    named.save(path)
    assert_same(named, meshes.load_clusters(path))


def test_other_suffixes_are_refused(tiny: meshes.ClusterMesh, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"\.hra"):
        tiny.save(tmp_path / "a.glb")
    (tmp_path / "a.ply").write_bytes(b"ply")
    with pytest.raises(FileError, match=r"\.hra"):
        meshes.load_clusters(tmp_path / "a.ply")
