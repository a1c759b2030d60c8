"""Meshes built in parts: everything is there, nothing cracks, bounds hold, and how it was done does not show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.mesh.triangle_mesh import referenced_only
from hra.errors import FileError, HraError, MeshError, RepairWarning
from hra_lab.inputs.large_meshes import write_repeated
from tests.domains.meshes.outofcore.conftest import write_ply

PART = 9_000
ROW = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
pytestmark = pytest.mark.usefixtures("small_parts")


def corners(mesh: meshes.TriangleMesh) -> np.ndarray:
    """The triangles as sorted rows of positions, the least corner first."""
    rows = mesh.positions[mesh.triangles]
    first = np.lexsort(rows.transpose(2, 0, 1)[::-1], axis=1)[:, :1] if len(rows) else 0
    order = (first + np.arange(3)) % 3
    turned = np.take_along_axis(rows, order[:, :, None], axis=1).reshape(-1, 9)
    return turned[np.lexsort(turned.T)]


def built(source: Path, out: Path, **options: object) -> meshes.ClusterMesh:
    meshes.build_out_of_core(source, out, **{"memory": PART, **options})  # type: ignore[arg-type]
    assert [file.name for file in out.parent.glob(f"{out.name}.*")] == []
    return meshes.load_clusters(out)


def test_a_mesh_in_parts_is_sound(skull: meshes.TriangleMesh, tmp_path: Path):
    clusters = built(hra.samples.path("skull.ply"), tmp_path / "a.hra")
    report = meshes.check(clusters, cuts=200, samples=300)
    assert report.sound and report.closed and report.measured_cuts == 20
    assert clusters.root_triangle_count <= 256 and "hausdorff" in clusters.hierarchy.node
    finest = clusters.mesh(np.flatnonzero(clusters.hierarchy.removed_by < 0))
    np.testing.assert_array_equal(corners(finest), corners(skull))


def test_an_open_surface_keeps_its_border(skull: meshes.TriangleMesh, tmp_path: Path):
    middle = skull.positions[skull.triangles].mean(axis=1)[:, 1]
    half = referenced_only(skull.positions, skull.triangles[middle < np.median(middle)])
    clusters = built(write_ply(tmp_path / "half.ply", half), tmp_path / "half.hra", certified=False)
    report = meshes.check(clusters, cuts=200)
    assert report.sound and not report.closed and "hausdorff" not in clusters.hierarchy.node


def test_errors_are_those_of_a_build_in_memory(skull_clusters: meshes.ClusterMesh, tmp_path: Path):
    clusters = built(hra.samples.path("skull.ply"), tmp_path / "a.hra", memory=2 * PART)
    camera, both = hra.Camera.orbit(skull_clusters.bounds), (clusters, skull_clusters)
    for budget in (4000, 1000):
        error, known = (meshes.MeshAllocator(mesh).allocate(camera, budget).residual for mesh in both)
        assert error <= 1.25 * known


def test_formats_jobs_and_threads_do_not_show(skull: meshes.TriangleMesh, tmp_path: Path):
    rows = np.zeros(len(skull.triangles), ROW)
    rows["corners"] = skull.positions[skull.triangles]
    (tmp_path / "skull.stl").write_bytes(bytes(80) + len(rows).to_bytes(4, "little") + rows.tobytes())
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in skull.positions.tolist()]
    lines += [f"f {a}/1 {b}/1 {c}/1" for a, b, c in (skull.triangles + 1).tolist()]
    (tmp_path / "skull.obj").write_text("\n".join(lines))
    parts = tmp_path / "parts"
    parts.mkdir()
    half = len(skull.triangles) // 2
    for name, rows in (("a.ply", slice(half)), ("b.ply", slice(half, None))):
        write_ply(parts / name, meshes.TriangleMesh(skull.positions, skull.triangles[rows]))
    known = tmp_path / "known.hra"
    plain = {"certified": False, "memory": PART}
    built(hra.samples.path("skull.ply"), known, **plain, threads=1)
    for source in (tmp_path / "skull.obj", tmp_path / "skull.stl", parts):
        built(source, tmp_path / "other.hra", **plain, threads=2)
        assert (tmp_path / "other.hra").read_bytes() == known.read_bytes(), source
    built(parts, tmp_path / "other.hra", certified=False, memory=2 * PART, jobs=2)
    assert (tmp_path / "other.hra").read_bytes() == known.read_bytes()


def test_many_islands_become_a_small_root(tmp_path: Path):
    box = meshes.from_arrays(np.vstack([np.zeros(3), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    count = write_repeated(tmp_path / "boxes.stl", box, 5000)
    clusters = built(tmp_path / "boxes.stl", tmp_path / "boxes.hra", certified=False)
    assert clusters.triangle_count == count == 20_000 and clusters.root_triangle_count <= 256
    assert meshes.check(clusters, cuts=50).sound


def test_what_vertices_carry_is_said_to_be_left_out(tmp_path: Path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1//1 3//1 2//1\nf -4 -3 -1\nf 2 3 4\nf 3 1 4\n"
    (tmp_path / "a.obj").write_text(text)
    with pytest.warns(RepairWarning, match="left out"):
        assert built(tmp_path / "a.obj", tmp_path / "a.hra").triangle_count == 4


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.glb", b"", FileError),
        ("a.stl", b"solid", FileError),
        ("a.ply", b"", FileError),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", MeshError),
        ("a.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", MeshError),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 3\n", MeshError),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 3\n", FileError),
        ("a.obj", b"v 0 0\n", FileError),
        ("a.obj", b"v 0 0 0\n", MeshError),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, content: bytes, error: type[HraError]):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error):
        meshes.build_out_of_core(tmp_path / name, tmp_path / "a.hra", memory=PART)
    assert not (tmp_path / "a.hra").exists()


def test_faces_of_other_forms_are_refused(skull: meshes.TriangleMesh, tmp_path: Path):
    file = write_ply(tmp_path / "a.ply", skull)
    content = bytearray(file.read_bytes())
    content[-13] = 4
    bad = (content, content[:-20], content.replace(b"binary_little_endian", b"ascii"))
    for number, one in enumerate(bad):
        file.write_bytes(one)
        with pytest.raises(FileError):
            meshes.build_out_of_core(file, tmp_path / f"{number}.hra", memory=PART)


def test_another_job_in_the_folder_is_not_taken_for_this_one(tmp_path: Path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 1 4\n")
    for size in (64, 32):
        with pytest.raises(MeshError if size == 64 else HraError, match="not among" if size == 64 else "another job"):
            meshes.build_out_of_core(tmp_path / "a.obj", tmp_path / "a.hra", memory=PART, cluster_size=size)


def test_too_little_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hra.domains.meshes.outofcore.memory._SOURCE_BYTES", 1)
    with pytest.raises(HraError, match="shared data of parts"):
        meshes.build_out_of_core(hra.samples.path("skull.ply"), tmp_path / "a.hra", memory=PART)
    with pytest.raises(HraError, match="too little"):
        meshes.build_out_of_core(hra.samples.path("skull.ply"), tmp_path / "a.hra", memory=0)
