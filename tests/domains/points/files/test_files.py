"""Files of clouds: what is written is read again, and what is broken is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hra.domains.points import PointCloud, SplatCloud, build, load_points, load_tree, save_points, save_tree
from hra.errors import FileError


def test_points_come_back_from_ply(cloud: PointCloud, tmp_path: Path):
    tree = build(cloud)
    cut = tree.take(tree.leaves[:50])
    save_points(tmp_path / "cut.ply", cut)
    found = load_points(tmp_path / "cut.ply")
    assert isinstance(found, PointCloud) and isinstance(cut, PointCloud)
    assert np.array_equal(found.positions, cut.positions)
    assert np.array_equal(found.radii, cut.radii)
    assert np.abs(found.colors - cut.colors).max() <= 0.5 / 255 + 1e-6


def test_splats_come_back_from_ply(splats: SplatCloud, tmp_path: Path):
    save_points(tmp_path / "splats.ply", splats)
    found = load_points(tmp_path / "splats.ply")
    assert isinstance(found, SplatCloud)
    assert np.allclose(found.covariances, splats.covariances, atol=1e-6)
    assert np.allclose(found.opacities, splats.opacities, atol=1e-5)
    assert np.allclose(found.colors, splats.colors, atol=1e-5)


def test_points_come_from_las(tmp_path: Path):
    laspy = pytest.importorskip("laspy")
    written = laspy.create(point_format=2, file_version="1.2")
    written.header.scales, written.header.offsets = [0.01] * 3, [500_000.0, 4_000_000.0, 100.0]
    written.x, written.y = np.array([500_000.0, 500_010.5]), np.array([4_000_000.0, 4_000_020.0])
    written.z = np.array([100.0, 101.25])
    written.red = written.green = written.blue = np.array([0, 65535], np.uint16)
    for name in ("two.las", "two.laz"):
        written.write(str(tmp_path / name))
        found = load_points(tmp_path / name)
        assert np.allclose(found.positions, [[0, 0, 0], [10.5, 20, 1.25]], atol=1e-6)
        assert found.colors[1].tolist() == [1, 1, 1]
    (tmp_path / "bad.las").write_bytes((tmp_path / "two.las").read_bytes()[:100])
    with pytest.raises(FileError, match="LAS file cannot be read"):
        load_points(tmp_path / "bad.las")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [(2, [0, 255], 1.0), (2, [0, 256], 256 / 65535), (0, [5, 10], 1.0), (0, [0, 0], None)],
)
def test_colors_of_las_are_of_8_or_16_bits_or_grey(
    kind: int, values: list[int], expected: float | None, tmp_path: Path
):
    laspy = pytest.importorskip("laspy")
    written = laspy.create(point_format=kind, file_version="1.2")
    written.x = written.y = written.z = np.array([0.0, 1.0])
    for name in ("red", "green", "blue") if kind else ("intensity",):
        written[name] = np.array(values, np.uint16)
    written.write(str(tmp_path / "a.las"))
    colors = load_points(tmp_path / "a.las").colors
    if expected is None:
        assert colors is None or np.ptp(colors) == 0
    else:
        assert np.allclose(colors, np.outer(np.array(values) / values[1] * expected, [1, 1, 1]), atol=1e-6)


@pytest.mark.parametrize("kind", [2, 3, 7, 8])
def test_colors_of_las_that_are_all_0_give_way_to_the_intensity(kind: int, tmp_path: Path):
    laspy = pytest.importorskip("laspy")
    written = laspy.create(point_format=kind)
    written.x = written.y = written.z = np.arange(3.0)
    written.intensity = np.array([0, 30, 40], np.uint16)
    written.write(str(tmp_path / "a.las"))
    assert np.allclose(load_points(tmp_path / "a.las").colors, np.outer([0, 0.75, 1], [1, 1, 1]))
    written.green = np.array([0, 0, 9], np.uint16)  # one colour is enough
    written.write(str(tmp_path / "a.las"))
    assert np.allclose(load_points(tmp_path / "a.las").colors, [[0, 0, 0], [0, 0, 0], [0, 9 / 255, 0]])


@pytest.mark.parametrize(
    ("intensities", "shown"),
    [
        ([*[50] * 99, *[100] * 100, 60_000], [*[0.5] * 99, *[1] * 101]),  # a mirror among fields
        ([0] * 199 + [7], [0] * 199 + [1]),
        ([65_535] * 200, [0.5] * 200),
    ],
)
def test_intensities_are_seen(intensities: list[int], shown: list[float], tmp_path: Path):
    laspy = pytest.importorskip("laspy")
    written = laspy.create(point_format=0)
    written.x = written.y = written.z = np.arange(200.0)
    written.intensity = np.array(intensities, np.uint16)
    written.write(str(tmp_path / "a.las"))
    cloud = load_points(tmp_path / "a.las")
    assert isinstance(cloud, PointCloud) and np.allclose(cloud.colors, np.outer(shown, [1, 1, 1]))
    assert cloud.fields["intensity"].tolist() == intensities


def test_a_tree_comes_back(splats: SplatCloud, tmp_path: Path):
    tree = build(splats)
    save_tree(tmp_path / "tree.hpt", tree)
    found = load_tree(tmp_path / "tree.hpt")
    assert found.hierarchy.same_as(tree.hierarchy)
    assert np.array_equal(found.hierarchy.node["covariance"], tree.hierarchy.node["covariance"])


def test_broken_files_are_refused(cloud: PointCloud, tmp_path: Path):
    save_tree(tmp_path / "tree.hpt", build(cloud))
    whole = (tmp_path / "tree.hpt").read_bytes()
    for content in (b"", b"PK", whole[: len(whole) // 2], b"\x80\x04N."):
        (tmp_path / "bad.hpt").write_bytes(content)
        with pytest.raises(FileError, match="not a tree of points") as caught:
            load_tree(tmp_path / "bad.hpt")
        assert "fix:" not in caught.value.what and "\n" not in caught.value.what
    with pytest.raises(FileError) as caught:
        load_tree(tmp_path / "missing.hpt")
    assert caught.value.what == "the file does not exist"
    (tmp_path / "bad.ply").write_bytes(b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n")
    with pytest.raises(FileError, match="no vertices with x, y and z"):
        load_points(tmp_path / "bad.ply")


def test_arrays_that_do_not_fit_are_refused(cloud: PointCloud, tmp_path: Path):
    save_tree(tmp_path / "tree.hpt", build(cloud))
    with np.load(tmp_path / "tree.hpt") as found:
        arrays = dict(found)
    changes = {"size": arrays["size"][:-1], "reach": -arrays["reach"], "parent": arrays["parent"][::-1]}
    for name, values in changes.items():
        with (tmp_path / "bad.hpt").open("wb") as file:
            np.savez(file, **{**arrays, name: values})
        with pytest.raises(FileError, match="not a tree of points"):
            load_tree(tmp_path / "bad.hpt")
