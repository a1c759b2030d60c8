"""Files of splats by their published layouts, written here by hand; harmonics come through trees and cuts."""

from __future__ import annotations

import gzip
import io
import json
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains.points import (
    CloudError,
    PictureError,
    PointAllocator,
    SplatCloud,
    build,
    load_points,
    load_tree,
    render,
    save_points,
    save_tree,
)
from hra.domains.points.cloud.clouds import harmonic_weights
from hra.errors import ArrayError, FileError, RepairWarning
from tests.helpers.hostile.clouds import SOG
from tests.helpers.splat_files import OPACITIES, PLACES, SCALES, SHADES, TURNS, packed_ply, splat_rows, spz

COUNTS = (3, 8, 15)


def with_harmonics(count: int, splats: int = 120, seed: int = 0) -> SplatCloud:
    rng = np.random.default_rng(seed)
    scales, turns = rng.uniform(0.01, 0.1, (splats, 3)), rng.normal(size=(splats, 4))
    rest = rng.normal(size=(splats, count, 3)) * 0.2
    return SplatCloud.of(
        rng.random((splats, 3)), scales, turns, rng.random((splats, 3)), rng.uniform(0.1, 0.9, splats), rest
    )


def loaded(path: Path) -> SplatCloud:
    found = load_points(path)
    assert isinstance(found, SplatCloud)
    return found


@pytest.mark.parametrize("count", COUNTS)
def test_harmonics_come_through_ply_tree_and_cut(count: int, tmp_path: Path):
    cloud = with_harmonics(count)
    save_points(tmp_path / "a.ply", cloud)
    found = loaded(tmp_path / "a.ply")
    assert np.array_equal(found.harmonics, cloud.harmonics)
    save_tree(tmp_path / "a.hpt", build(found))
    tree = load_tree(tmp_path / "a.hpt")
    whole = tree.take(tree.leaves)
    assert isinstance(whole, SplatCloud)
    order, wanted = np.lexsort(whole.positions.T), np.lexsort(cloud.positions.T)
    assert np.array_equal(whole.harmonics[order], cloud.harmonics[wanted])
    budget = 40 * (56 + 12 * count)
    byted = tree.with_cost("bytes")
    allocator = PointAllocator(byted)
    cut = allocator.realize(allocator.allocate(hra.Camera.orbit(tree.bounds), budget))
    save_points(tmp_path / "cut.ply", cut)
    assert 30 < len(loaded(tmp_path / "cut.ply")) <= 40
    assert loaded(tmp_path / "cut.ply").harmonics.shape[1] == count


@pytest.mark.parametrize("count", COUNTS)
def test_the_loss_of_harmonics_is_the_variance_over_all_directions(count: int):
    cloud = with_harmonics(count, 40)
    tree = build(cloud)
    node, directions = tree.hierarchy.node, np.random.default_rng(1).normal(size=(40_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    weights = harmonic_weights(directions, count)
    mass = np.maximum(cloud.opacities * _area(cloud), 1e-30)
    mean = np.einsum("p,pkc->kc", mass, cloud.harmonics) / mass.sum()
    assert np.allclose(node["harmonics"][0], mean, atol=1e-5)
    apart = np.einsum("dk,pkc->dpc", weights, cloud.harmonics - mean)
    measured = (np.square(apart).mean(axis=0).sum(axis=1) * mass).sum()
    assert node["harmonic_loss"][0] == pytest.approx(measured, rel=0.03)
    assert not node["harmonic_loss"][tree.leaves].any()
    camera = hra.Camera.orbit(tree.bounds)
    plain = build(SplatCloud(cloud.positions, cloud.covariances, cloud.colors, cloud.opacities))
    errors = (CloudError().evaluate(one.hierarchy, camera) for one in (tree, plain))
    assert np.greater(*(error[0] for error in errors))


def _area(cloud: SplatCloud) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = cloud.covariances.T.astype(float)
    return 2 * np.pi * np.sqrt((xx * yy - xy**2 + xx * zz - xz**2 + yy * zz - yz**2) / 3)


def test_weights_are_orthonormal():
    directions = np.random.default_rng(0).normal(size=(200_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    weights = harmonic_weights(directions, 15)
    gram = weights.T @ weights / len(directions) * 4 * np.pi
    assert np.abs(gram - np.eye(15)).max() < 0.03


def test_colours_differ_by_side_in_pictures_and_their_errors():
    rest = np.zeros((1, 3, 3))
    rest[0, 2, 0] = -1.0  # band 1 along x: red from where x is larger, not from the other side
    cloud = SplatCloud.of([[0, 0, 0]], [[0.5] * 3], [[1, 0, 0, 0]], [[0.5, 0.5, 0.5]], [0.99], rest)
    reds = []
    for azimuth in (90, -90):  # on the +X side and opposite
        camera = hra.Camera.orbit([[-1, -1, -1], [1, 1, 1]], azimuth, viewport=(32, 32))
        reds.append(float(render(cloud, camera)[0][16, 16, 0]))
    assert abs(reds[0] - (0.5 - 0.4886)) < 0.04 and abs(reds[1] - (0.5 + 0.4886)) < 0.04
    two = with_harmonics(3, 30)
    camera = hra.Camera.orbit(build(two).bounds, viewport=(48, 48))
    plain = SplatCloud(two.positions, two.covariances, two.colors, two.opacities)
    errors = [PictureError().evaluate(build(one).hierarchy, camera)[0] for one in (two, plain)]
    assert errors[0] != errors[1]


def test_harmonics_of_no_whole_bands_are_refused(tmp_path: Path):
    with pytest.raises(ArrayError, match="4 harmonics are not those of whole bands"):
        with_harmonics(4)
    save_points(tmp_path / "a.ply", with_harmonics(3, 2))
    content = (tmp_path / "a.ply").read_bytes().replace(b"f_rest_8", b"g_rest_8")
    (tmp_path / "a.ply").write_bytes(content)
    with pytest.raises(FileError, match="8 harmonics are not those of whole bands"):
        load_points(tmp_path / "a.ply")


def test_two_deviations_are_flat_splats(tmp_path: Path):
    save_points(tmp_path / "a.ply", with_harmonics(3, 9))
    content = (tmp_path / "a.ply").read_bytes()
    head, _, rows = content.partition(b"end_header\n")
    names = [line.split()[-1].decode() for line in head.splitlines() if line.startswith(b"property")]
    table = np.frombuffer(rows, "<f4").reshape(9, len(names))
    kept = [k for k, name in enumerate(names) if name != "scale_2"]
    flat = head.replace(b"property float scale_2\n", b"") + b"end_header\n" + table[:, kept].tobytes()
    (tmp_path / "flat.ply").write_bytes(flat)
    found = loaded(tmp_path / "flat.ply")
    full = found.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3).astype(float)
    least = np.linalg.eigvalsh(full)[:, 0]
    assert np.abs(least).max() < 1e-8
    deviations = np.sort(np.sqrt(np.linalg.eigvalsh(full)[:, 1:]), axis=1)
    wanted = np.sort(np.exp(table[:, [names.index("scale_0"), names.index("scale_1")]]), axis=1)
    assert np.allclose(deviations, wanted, atol=1e-4)


def test_properties_of_splats_that_are_not_read_are_named(tmp_path: Path):
    save_points(tmp_path / "a.ply", with_harmonics(3, 2))
    content = (
        (tmp_path / "a.ply")
        .read_bytes()
        .replace(b"property float f_rest_8", b"property float f_rest_8\nproperty uchar label")
    )
    head, _, rows = content.partition(b"end_header\n")
    size = len(rows) // 2
    (tmp_path / "a.ply").write_bytes(head + b"end_header\n" + rows[:size] + b"\1" + rows[size:] + b"\0")
    with pytest.warns(RepairWarning, match="the properties label of splats were left out"):
        load_points(tmp_path / "a.ply")


def test_normals_of_splats_are_named_where_they_say_something(tmp_path: Path):
    save_points(tmp_path / "a.ply", with_harmonics(0, 1))
    head, _, row = (tmp_path / "a.ply").read_bytes().partition(b"end_header\n")
    head += b"property float nx\nproperty float ny\nproperty float nz\nend_header\n"
    for normal in ([0, 0, 0], [0, 0, 1]):
        (tmp_path / "a.ply").write_bytes(head + row + np.array(normal, "<f4").tobytes())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            load_points(tmp_path / "a.ply")
        assert ["nz of splats were left out" in str(one.message) for one in caught] == [True] * any(normal)


def alike(found: SplatCloud, slack: float = 0.02) -> None:
    wanted = SplatCloud.of(PLACES, SCALES, TURNS, SHADES, OPACITIES)
    assert np.allclose(found.positions, wanted.positions, atol=1e-3)
    assert np.allclose(found.covariances, wanted.covariances, atol=slack * 4)
    assert np.allclose(found.colors, wanted.colors, atol=slack) and np.allclose(found.opacities, OPACITIES, atol=0.003)


def test_splat_files(tmp_path: Path):
    rows = splat_rows()
    (tmp_path / "a.splat").write_bytes(rows)
    alike(loaded(tmp_path / "a.splat"), 0.05)
    (tmp_path / "b.splat").write_bytes(rows[:-1])
    with pytest.raises(FileError, match="63 bytes are not rows of 32"):
        load_points(tmp_path / "b.splat")


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("bands", [0, *COUNTS])
def test_spz_files(version: int, bands: int, tmp_path: Path):
    (tmp_path / "a.spz").write_bytes(spz(version, bands))
    found = loaded(tmp_path / "a.spz")
    alike(upright(found), 0.08)
    values = (np.arange(100, 100 + 6 * bands) - 128) / 128
    assert np.allclose(upright(found).harmonics, values.reshape(2, bands, 3))


def upright(cloud: SplatCloud, axes: str = "RUB") -> SplatCloud:
    """On the axes of an SPZ file, as a rule y up and z backwards: harmonics have the signs of their values there."""
    turned, signs = np.diag([1.0 if a == b else -1.0 for a, b in zip(axes, "RDF", strict=True)]), np.ones(0)
    count = cloud.harmonics.shape[1]
    if count:
        directions = np.random.default_rng(0).normal(size=(9, 3))
        shares = harmonic_weights(directions @ turned, count) / harmonic_weights(directions, count)
        assert np.allclose(shares, shares[0])
        signs = shares[0]
    full = cloud.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    covariances = (turned @ full @ turned).reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
    rest = cloud.harmonics * signs[:, None]
    return SplatCloud(cloud.positions @ turned, covariances, cloud.colors, cloud.opacities, rest)


def extended(version: int, bands: int, *records: tuple[int, int]) -> bytes:
    """An SPZ file with extensions of one number each."""
    more = b"".join(struct.pack("<III", kind, 4, number) for kind, number in records)
    if version == 4:
        data = bytearray(spz(4, bands))
        data[14], data[16] = 2, 32 + len(more)
        return bytes(data[:32] + more + data[32:])
    data = bytearray(gzip.decompress(spz(version, bands)))
    data[14] = 2
    return gzip.compress(bytes(data + more))


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize(
    ("number", "axes"), [*enumerate(["RUB", "LDB", "RDB", "LUB", "RUB", "LDF", "RDF", "LUF", "RUF"])]
)
def test_spz_says_where_its_axes_lead(number: int, axes: str, version: int, tmp_path: Path):
    (tmp_path / "a.spz").write_bytes(extended(version, 15, (0xADBE0003, number)))
    found = upright(loaded(tmp_path / "a.spz"), axes)
    alike(found, 0.08)
    assert np.allclose(found.harmonics, ((np.arange(100, 190) - 128) / 128).reshape(2, 15, 3))


@pytest.mark.parametrize("version", [3, 4])
def test_extensions_of_spz_that_are_not_read_are_named(version: int, tmp_path: Path):
    (tmp_path / "a.spz").write_bytes(extended(version, 3, (0xADBE0002, 7), (0xADBE0003, 4)))
    with pytest.warns(RepairWarning, match="the extensions 0xadbe0002 of SPZ were left out"):
        alike(upright(loaded(tmp_path / "a.spz")), 0.08)
    (tmp_path / "a.spz").write_bytes(extended(version, 3, (0xADBE0003, 9)))
    with pytest.raises(FileError, match="axes of number 9 are not read"):
        load_points(tmp_path / "a.spz")


FILTERED = "trained for antialiased drawing, which was left out"


@pytest.mark.parametrize("version", [2, 3, 4])
def test_spz_that_asks_for_antialiased_drawing_is_named(version: int, tmp_path: Path):
    data = bytearray(spz(4, 0) if version == 4 else gzip.decompress(spz(version, 0)))
    data[14] |= 1
    (tmp_path / "a.spz").write_bytes(data)
    with pytest.warns(RepairWarning, match=FILTERED):
        load_points(tmp_path / "a.spz")


@pytest.mark.parametrize(
    ("comments", "filtered"),
    [
        (["SplatRenderMode: mip"], True),
        (["antialiased 1"], True),
        (["antialiased 1", "SplatRenderMode: default"], False),
        (["antialiased 0"], False),
        (["antialiased 10"], False),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_ply_that_asks_for_antialiased_drawing_is_named(
    comments: list[str], filtered: bool, packed: bool, tmp_path: Path
):
    save_points(tmp_path / "a.ply", with_harmonics(0, 2))
    content = packed_ply(0) if packed else (tmp_path / "a.ply").read_bytes()
    lines = "".join(f"comment {comment}\n" for comment in comments).encode()
    (tmp_path / "a.ply").write_bytes(content.replace(b"element vertex", lines + b"element vertex", 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_points(tmp_path / "a.ply")
    assert [FILTERED in str(one.message) for one in caught] == [True] * filtered


@pytest.mark.parametrize("version", [3, 4])
def test_a_fourth_band_of_spz_is_left_out(version: int, tmp_path: Path):
    (tmp_path / "a.spz").write_bytes(spz(version, 24))
    with pytest.warns(RepairWarning, match="harmonics of band 4 were left out"):
        found = upright(loaded(tmp_path / "a.spz"))
    alike(found, 0.08)
    assert np.allclose(found.harmonics, ((np.arange(100, 244) - 128) / 128).reshape(2, 24, 3)[:, :15])


@pytest.mark.parametrize("version", [2, 3, 4])
def test_spz_looks_from_an_eye_as_its_file_does_from_the_turned_eye(version: int, tmp_path: Path):
    """Colours by the harmonics as the file has them, from the eye on the file's own axes."""
    (tmp_path / "a.spz").write_bytes(spz(version, 15))
    found = loaded(tmp_path / "a.spz")
    rest = ((np.arange(100, 190) - 128) / 128).reshape(2, 15, 3)
    as_stored = SplatCloud.of(PLACES, SCALES, TURNS, SHADES, OPACITIES, rest)
    for eye in np.random.default_rng(1).normal(size=(20, 3)) * 20:
        assert np.allclose(found.seen_from(eye), as_stored.seen_from(eye * [1, -1, -1]), atol=0.03)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_spz_and_the_other_files_of_a_scene_agree(version: int, tmp_path: Path):
    (tmp_path / "a.spz").write_bytes(spz(version, 0))
    (tmp_path / "a.splat").write_bytes(splat_rows())
    (tmp_path / "a.ply").write_bytes(packed_ply(0))
    # The helper writes the same numbers to all; an SPZ file of the scene has y and z with other signs.
    found, scene = upright(loaded(tmp_path / "a.spz")), loaded(tmp_path / "a.ply")
    assert np.allclose(found.positions, loaded(tmp_path / "a.splat").positions, atol=1e-3)
    assert np.allclose(found.positions, scene.positions, atol=1e-3)
    assert np.allclose(found.covariances, scene.covariances, atol=0.3)


@pytest.mark.parametrize("damage", ["cut", "version", "degree", "bomb", "zeros"])
def test_damaged_spz_is_refused(damage: str, tmp_path: Path):
    plain = bytearray(gzip.decompress(spz(3, 3)))
    if damage == "cut":
        plain = plain[:-9]
    elif damage in ("version", "degree"):
        plain[4 if damage == "version" else 12] = 9
    elif damage == "bomb":
        plain[8:12] = struct.pack("<I", 2**31)
    content = b"" if damage == "zeros" else gzip.compress(bytes(plain))
    (tmp_path / "a.spz").write_bytes(content)
    with pytest.raises(hra.HraError) as caught:
        load_points(tmp_path / "a.spz")
    assert caught.value.fix


def test_ksplat_is_refused_by_its_name(tmp_path: Path):
    (tmp_path / "a.ksplat").write_bytes(bytes(5000))
    with pytest.raises(FileError, match="KSPLAT files are not read: no document describes their layout"):
        load_points(tmp_path / "a.ksplat")


@pytest.mark.parametrize("bands", [0, *COUNTS])
def test_compressed_ply_files(bands: int, tmp_path: Path):
    (tmp_path / "a.ply").write_bytes(packed_ply(bands))
    found = loaded(tmp_path / "a.ply")
    alike(found)
    coded = np.arange(1, 1 + 6 * bands).reshape(2, 3, bands)
    assert np.allclose(found.harmonics, (((coded + 0.5) / 256 - 0.5) * 8).transpose(0, 2, 1))
    assert found.harmonics.shape[1] == bands


def test_compressed_ply_without_its_chunks_is_refused(tmp_path: Path):
    (tmp_path / "a.ply").write_bytes(packed_ply(0).replace(b"min_x", b"man_x"))
    with pytest.raises(FileError, match="chunks or harmonics do not fit"):
        load_points(tmp_path / "a.ply")


@pytest.mark.parametrize("name", [b"min_r", b"max_b"])
def test_compressed_ply_with_some_ranges_of_colours_is_refused(name: bytes, tmp_path: Path):
    """All six are read or none is: shares of an unknown range are no colours."""
    head, content = packed_ply(0).split(b"end_header\n", 1)
    head = head.replace(b"element vertex", b"property float " + name + b"\nelement vertex") + b"end_header\n"
    (tmp_path / "a.ply").write_bytes(head + content[:48] + bytes(4) + content[48:])
    with pytest.raises(FileError, match="chunks or harmonics do not fit"):
        load_points(tmp_path / "a.ply")


@pytest.mark.parametrize("bands", [1, 2, 3])
def test_harmonics_of_sog_are_read(bands: int, tmp_path: Path):
    """A palette of 130 sets in rows of 64, in pictures without loss."""
    image = pytest.importorskip("PIL.Image")
    count, codebook = COUNTS[bands - 1], np.linspace(-1, 1, 256)
    rng = np.random.default_rng(bands)
    sets = rng.integers(0, 256, (3, 64 * count, 4), dtype=np.uint8)
    numbers = rng.integers(0, 130, 20 * 20)
    labels = np.zeros((20, 20, 4), np.uint8)
    labels[..., 0], labels[..., 1] = (numbers % 256).reshape(20, 20), (numbers // 256).reshape(20, 20)
    with zipfile.ZipFile(SOG) as old, zipfile.ZipFile(tmp_path / "a.sog", "w") as new:
        meta = json.loads(old.read("meta.json"))
        meta["shN"] = {"count": 130, "bands": bands, "codebook": codebook.tolist(), "files": ["c.webp", "l.webp"]}
        for name in old.namelist():
            new.writestr(name, json.dumps(meta) if name == "meta.json" else old.read(name))
        for name, pixels in (("c.webp", sets), ("l.webp", labels)):
            out = io.BytesIO()
            image.fromarray(pixels, "RGBA").save(out, "WEBP", lossless=True, exact=True)
            new.writestr(name, out.getvalue())
    found = loaded(tmp_path / "a.sog")
    for splat in range(0, len(found), 37):
        row, column = divmod(int(numbers[splat]), 64)
        own = sets[row, column * count : (column + 1) * count, :3]
        assert np.allclose(found.harmonics[splat], codebook[own], atol=1e-6)
