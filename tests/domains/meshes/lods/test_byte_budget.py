"""Files of a number of bytes: triangles and images share them."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from PIL import Image, JpegImagePlugin

from hra.domains import meshes
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.lods.byte_budget import (
    ByteBudget,
    ShownImage,
    Version,
    _just_fitting,
    alpha_shown,
    areas,
    shown_image,
)
from hra.errors import BudgetTooSmall, HraError
from tests.domains.meshes.conftest import grid_mesh
from tests.helpers.mesh_commands_cases import run
from tests.helpers.pbr_meshes import ktx2
from tests.helpers.scenes import Scene

SIDE = 256


def photo(kind: str = "JPEG", mode: str = "RGB", side: int = SIDE) -> bytes:
    """Clouds of all sizes, so that every octave shows something."""
    rng, total = np.random.default_rng(0), np.zeros((side, side, len(mode)))
    for octave in range(2, 9):
        noise = rng.uniform(0, 255, (2**octave, 2**octave, len(mode))).astype(np.uint8)
        total += np.asarray(Image.fromarray(noise, mode).resize((side, side)), float) / 2**octave
    stream = io.BytesIO()
    low, high = total.min(), total.max()
    Image.fromarray(((total - low) / (high - low) * 255).astype(np.uint8), mode).save(stream, kind)
    return stream.getvalue()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Waves under a photo, with normals from a PNG."""
    waves = grid_mesh(70, 0.3)
    uv = waves.positions[:, :2]
    uv = (uv - uv.min()) / np.ptp(uv)
    material = meshes.Material(image=photo(), normal_texture=meshes.Texture(photo("PNG")))
    count = len(waves.positions)
    attributes = meshes.VertexAttributes(
        uv=uv.astype(np.float32), material=np.zeros(count, np.int32), materials=(material,)
    )
    path = tmp_path_factory.mktemp("scene") / "waves.glb"
    replace(waves, attributes=attributes).with_normals().export(path)
    return path


def images(path: Path) -> list[tuple[str, tuple[int, int]]]:
    """The type and size of each image of a GLB file."""
    text, binary = split_glb(path.read_bytes(), path.name)
    header, found = json.loads(text), []
    for entry in header["images"]:
        view = header["bufferViews"][entry["bufferView"]]
        content = (binary or b"")[view.get("byteOffset", 0) :][: view["byteLength"]]
        with Image.open(io.BytesIO(content)) as image:
            assert entry["mimeType"] == Image.MIME[image.format or ""]
            found.append((entry["mimeType"], image.size))
    return found


def test_sizes_hold_to_the_byte_and_are_spent(scene: Path, tmp_path: Path) -> None:
    whole = scene.stat().st_size
    limits = [int(whole * share) for share in (0.7, 0.3, 0.1, 0.04)]
    lod = meshes.scene_lod(scene, [float(limit) for limit in limits], unit="bytes")
    files = lod.export(tmp_path)
    for limit, path, shares in zip(limits, files, lod.shares, strict=True):
        assert 0.95 * limit <= path.stat().st_size <= limit
        assert shares.triangles + shares.images + shares.other == path.stat().st_size
        assert min(shares.triangles, shares.images, shares.other) > 0 and shares.residual_gap >= 0
        assert len(meshes.load(path).triangles) > 0
    sides = [[max(size) for _, size in images(path)] for path in files]
    # Both shrink from level to level: neither is kept at the other's cost.
    assert all(a >= b for fine, coarse in pairwise(sides) for a, b in zip(fine, coarse, strict=True))
    assert sides[-1] < sides[0]
    assert sorted(lod.triangles, reverse=True) == list(lod.triangles) and lod.triangles[-1] < lod.triangles[0]


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("largest", [1e5, 1e6])
def test_sizes_that_do_not_rise_in_a_line_are_found(largest: float, power: float) -> None:
    clusters = meshes.build(grid_mesh(60, 0.3), certified=False).with_cost("triangles")
    most = clusters.hierarchy.total_cost

    def encode(allocation: Any, images: Any) -> bytes:
        return bytes(50_000 + int(largest * (allocation.cost / most) ** power))

    budget = ByteBudget(meshes.MeshAllocator(clusters, meshes.SurfaceError()), None, [], encode)
    for share in (0.5, 0.7, 0.9):
        wanted = most * share ** (1 / power)
        found = budget.fit(int(50_000 + largest * share), per_unit=100.0).allocation.cost
        assert wanted - max(40, wanted / 40) <= found <= wanted + 1


def test_a_split_that_overruns_states_no_gap(scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = ByteBudget._split

    def too_large(self: ByteBudget, ladders, per_unit, per_triangle, budget):
        _, _, gap = split(self, ladders, per_unit, per_triangle, budget)
        return [every[-1] for every, _ in ladders], 1e9, gap

    monkeypatch.setattr(ByteBudget, "_split", too_large)
    limit = scene.stat().st_size // 10
    lod = meshes.scene_lod(scene, [float(limit)], unit="bytes")
    (path,) = lod.export(tmp_path)
    assert path.stat().st_size <= limit and lod.shares[0].residual_gap == 1


def test_meshes_that_hold_the_same_are_written_once(tmp_path: Path) -> None:
    """Exporters that know no instances repeat them; each keeps its name and its material."""
    scene = Scene(49)
    for name in ("JPEG", "PNG"):
        view = scene.add_bytes(photo(name, side=256))
        scene.header.setdefault("images", []).append({"bufferView": view, "mimeType": Image.MIME[name]})
    scene.header["textures"] = [{"source": 0}, {"source": 1}]
    scene.header["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}} for k in (0, 1)]
    positions, uv = scene.add(scene.positions, bounds=True), scene.add(scene.uv)
    again = {"attributes": {"POSITION": positions, "TEXCOORD_0": uv}, "material": 1}
    again["indices"] = scene.add(scene.triangles.reshape(-1, 1).astype(np.uint16))
    scene.primitive["material"] = 0
    scene.header["meshes"].append({"name": "once more", "primitives": [again]})
    scene.header["nodes"].append({"mesh": 1, "scale": [3, 3, 3]})
    scene.header["scenes"][0]["nodes"].append(1)
    source = scene.write(tmp_path / "scene.glb")
    limit = source.stat().st_size // 4
    lod = meshes.scene_lod(source, [float(limit)], unit="bytes")
    (path,) = lod.export(tmp_path)
    assert 0.95 * limit < path.stat().st_size <= limit
    level = GltfScene.open(path)
    first, second = (level.triangles((k, 0)) for k in (0, 1))
    assert (first == second).all() and lod.triangles == (2 * len(first),)
    header = level.accessors.header
    assert [mesh["name"] for mesh in header["meshes"]] == ["wavy", "once more"]
    assert [mesh["primitives"][0]["material"] for mesh in header["meshes"]] == [0, 1]
    before = GltfScene.open(source)
    # The image that only the second shows gets smaller, too.
    assert len(level.image(1) or b"") < len(before.image(1) or b"")
    used = {
        header["accessors"][mesh["primitives"][0]["attributes"]["POSITION"]]["bufferView"] for mesh in header["meshes"]
    }
    assert len(used) == 1


def test_kept_textures_are_those_of_the_source(scene: Path, tmp_path: Path) -> None:
    limit = scene.stat().st_size * 0.9
    lod = meshes.scene_lod(scene, [limit], unit="bytes", keep_textures=True)
    assert images(lod.export(tmp_path)[0]) == [("image/jpeg", (SIDE, SIDE)), ("image/png", (SIDE, SIDE))]
    with pytest.raises(BudgetTooSmall, match="the coarsest cut takes"):
        meshes.scene_lod(scene, [limit / 10], unit="bytes", keep_textures=True)


def test_levels_of_bytes_are_refused_where_they_mean_nothing(scene: Path, tmp_path: Path) -> None:
    for sizes in ([10_000, 20_000], [0]):
        with pytest.raises(HraError, match="sizes must be at least 1 and fall"):
            meshes.scene_lod(scene, sizes, unit="bytes")
    lod = meshes.scene_lod(scene, [scene.stat().st_size / 4], unit="bytes")
    with pytest.raises(HraError, match="one set of images"):
        lod.export_one(tmp_path / "one.glb")
    with pytest.raises(BudgetTooSmall):
        meshes.scene_lod(scene, [1_000], unit="bytes")


def test_commands_fit_files_and_say_where_the_bytes_went(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, record = scene.stat().st_size, tmp_path / "record.json"
    limits = f"{whole // 3},{whole // 12}"
    assert run("lods", scene, "--bytes", limits, "-o", tmp_path / "levels", "--json", record) == 0
    assert "residual gap of the split" in capsys.readouterr().out
    for level, limit in zip(json.loads(record.read_text())["levels"], limits.split(","), strict=True):
        assert 0.95 * int(limit) <= level["file_bytes"] <= int(limit)
        assert sum(level[f"{name}_bytes"] for name in ("triangles", "images", "other")) == level["file_bytes"]
    built = tmp_path / "waves.hra"
    assert run("build", scene, "-o", built) == 0
    kept = {}
    for textures in ("fit", "keep"):
        out = tmp_path / f"{textures}.glb"
        cut = ("cut", built, "--bytes", int(whole * 0.9), "--textures", textures, "-o", out, "--json", record)
        assert run(*cut) == 0
        kept[textures] = json.loads(record.read_text())
        assert 0.95 * int(whole * 0.9) <= out.stat().st_size == kept[textures]["file_bytes"] <= int(whole * 0.9)
    assert kept["fit"]["triangles"] > kept["keep"]["triangles"]
    assert run("cut", built, "--bytes", whole // 12, "-o", tmp_path / "small.glb") == 0
    assert (tmp_path / "small.glb").stat().st_size <= whole // 12
    assert run("lods", scene, "--bytes", limits, "-o", tmp_path / "one.glb") == 2


@pytest.mark.parametrize(
    ("kind", "mode", "wanted"),
    [("JPEG", "RGB", ["JPEG"]), ("PNG", "RGB", ["JPEG", "PNG"]), ("WEBP", "RGB", ["WEBP"]), ("AVIF", "RGB", ["AVIF"])],
)
def test_versions_cost_more_the_closer_they_are(kind: str, mode: str, wanted: list[str]) -> None:
    image = ShownImage(photo(kind, mode, 128), 1.0, 128.0**2, 1.0)
    assert image.kinds == wanted
    versions, errors = image.ladder(per_unit=200)
    sizes = [len(one.content) for one in versions]
    assert sizes == sorted(sizes) and errors == sorted(errors, reverse=True) and len(set(sizes)) == len(sizes) > 3
    assert versions[-1].content == image.content and errors[-1] == 0
    # An independent reference: the error of a version with all texels, over the pixels that show it. Three quarters of
    # them show the image itself, a quarter means of two by two texels.
    number = max(k for k, one in enumerate(versions[:-1]) if one.scale == 1)
    pair = []
    for content in (versions[number].content, image.content):
        with Image.open(io.BytesIO(content)) as opened:
            pair.append(np.asarray(opened.convert(mode), float) / 255)
    fine = np.square(pair[0] - pair[1]).mean()
    coarse = [one.reshape(64, 2, 64, 2, -1).mean(axis=(1, 3)) for one in pair]
    wanted_error = (0.75 * fine + 0.25 * np.square(coarse[0] - coarse[1]).mean()) * 200**2 / 4
    assert errors[number] == pytest.approx(wanted_error, rel=0.02)  # means are rounded to whole steps


def test_versions_are_those_of_one_thread_and_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 6)
    image = ShownImage(photo(side=1024), 1.0, 1024.0**2, 1.0)
    save, saving, together = Image.Image.save, set(), 0

    def slow(own: Image.Image, *args: Any, **more: Any) -> None:
        """Pillow keeps what it is told in the image while it writes."""
        nonlocal together
        assert id(own) not in saving
        saving.add(id(own))
        together = max(together, len(saving))
        time.sleep(0.02)
        save(own, *args, **more)
        saving.remove(id(own))

    monkeypatch.setattr(Image.Image, "save", slow)
    image.ladder(per_unit=1000)
    assert together > 1
    decoded: list[Version] = []
    at = ShownImage._at

    def counted(own: ShownImage, version: Version, shares: list[float]) -> Iterator[np.ndarray]:
        decoded.append(version)
        return at(own, version, shares)

    monkeypatch.setattr(ShownImage, "_at", counted)
    # Seen from farther away the same versions are compared, at coarser mipmaps.
    versions, errors = image.ladder(per_unit=150)
    assert len(versions) > 20 and not decoded
    for version in versions[:-1]:
        picture = image._scaled(version.scale).copy()
        picture.save(stream := io.BytesIO(), "JPEG", quality=version.quality)
        assert version.content == stream.getvalue()
    alone = ShownImage(image.content, 1.0, 1024.0**2, 1.0)
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 1)
    assert alone.ladder(per_unit=150) == (versions, errors)
    assert len(decoded) > 20


def test_no_size_is_tried_above_one_that_does_not_fit() -> None:
    tried = []

    def version(scale: float) -> Version:
        tried.append(scale)
        return Version(bytes(1000), scale)

    assert list(_just_fitting(version, 0.5, 999)) == [] and tried == [0.5]
    assert [one.scale for one in _just_fitting(version, 0.5, 1000)][-1] > 0.99


def test_images_that_are_not_decoded_pass_through() -> None:
    assert shown_image(ktx2(), [("baseColorTexture", 1.0, 1.0)]) is None


def test_colours_are_averaged_as_light() -> None:
    """As renderers make mipmaps of sRGB: half black, half white is brighter than 128."""
    lines = np.zeros((64, 64, 3), np.uint8)
    lines[::2] = 255
    stream = io.BytesIO()
    Image.fromarray(lines).save(stream, "PNG")
    for name, grey in (("baseColorTexture", 188), ("normalTexture", 128)):
        image = shown_image(stream.getvalue(), [(name, 1.0, 1.0)])
        assert image is not None
        half = image.encoded("PNG", 0.5, None)
        with Image.open(io.BytesIO(half.content)) as opened:
            assert np.asarray(opened).min() == np.asarray(opened).max() == grey
        # From afar both are the same grey; where the lines are seen, a half does not show them.
        assert image.difference(half, -3.0) == 0
        assert image.difference(half, 0.0) > 0.1


def test_images_with_alpha_keep_it() -> None:
    versions, errors = ShownImage(photo("PNG", "RGBA", 64), 1.0, 64.0**2, 1.0).ladder(per_unit=64)
    assert {one.kind for one in versions[:-1]} == {"PNG"} and errors == sorted(errors, reverse=True)
    with Image.open(io.BytesIO(versions[0].content)) as image:
        assert image.mode == "RGBA" and image.size == (16, 16)


def test_alpha_that_no_material_shows_is_left_out() -> None:
    content = photo("PNG", "RGBA", 64)
    image = ShownImage(content, 1.0, 64.0**2, 1.0, alpha=False)
    assert image.picture.mode == "RGB" and image.kinds == ["JPEG", "PNG"]
    versions, _ = image.ladder(per_unit=64)
    assert "JPEG" in {one.kind for one in versions} and versions[-1].content is not content
    with Image.open(io.BytesIO(content)) as whole:
        assert (np.asarray(image.picture) == np.asarray(whole)[..., :3]).all()


@pytest.mark.parametrize(
    ("name", "mode", "shown"),
    [
        ("baseColorTexture", "OPAQUE", False),
        ("baseColorTexture", "BLEND", True),
        ("baseColorTexture", "MASK", True),
        ("normalTexture", "BLEND", False),
        ("emissiveTexture", "OPAQUE", False),
        ("specularTexture", "OPAQUE", True),
    ],
)
def test_where_alpha_shows(name: str, mode: str, shown: bool) -> None:
    assert alpha_shown(name, mode) == shown


@pytest.mark.parametrize("mode", ["OPAQUE", "MASK"])
@pytest.mark.parametrize("used", [True, False])
def test_an_image_keeps_its_alpha_where_any_material_shows_it(mode: str, used: bool, tmp_path: Path) -> None:
    scene = Scene(33)
    image = {"bufferView": scene.add_bytes(photo("PNG", "RGBA", 256)), "mimeType": "image/png"}
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    scene.header |= {"images": [image], "textures": [{"source": 0}]}
    scene.header["materials"] = [material | ({"alphaMode": mode} if used else {}), material | {"alphaMode": mode}]
    scene.primitive["material"] = 0
    path = scene.write(tmp_path / "a.glb")
    lod = meshes.scene_lod(path, [path.stat().st_size / 3], unit="bytes")
    (kind, _), *_ = images(lod.export(tmp_path / "levels")[0])
    assert kind == ("image/jpeg" if mode == "OPAQUE" else "image/png")


def test_the_best_qualities_keep_all_of_the_chroma() -> None:
    image = ShownImage(photo("PNG", side=128), 1.0, 128.0**2, 1.0)
    for quality, sampling in ((88, 2), (95, 0)):
        with Image.open(io.BytesIO(image.encoded("JPEG", 1.0, quality).content)) as one:
            assert JpegImagePlugin.get_sampling(one) == sampling


def test_flat_pictures_stay_without_loss_where_that_is_shorter() -> None:
    flat = np.zeros((256, 256, 3), np.uint8)
    flat[::32], flat[:, ::32], flat[64:128, 64:128] = 255, (255, 0, 0), (0, 90, 200)
    stream = io.BytesIO()
    Image.fromarray(flat).save(stream, "PNG", compress_level=0)
    versions, errors = ShownImage(stream.getvalue(), 1.0, 256.0**2, 1.0).ladder(per_unit=256)
    assert {one.kind for one in versions} == {"PNG"} and errors[-1] == 0
    # The same pixels, and nothing that takes more.
    assert len(versions[-1].content) < len(stream.getvalue()) / 50


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 60_000))
def test_what_fills_a_gap_fits_and_is_not_worse(room: int) -> None:
    image = FILLED
    versions, _ = image.ladder(per_unit=50)
    start = versions[len(versions) // 2]
    found = image.filled(start, len(start.content) + room, 50)
    assert len(start.content) <= len(found.content) <= len(start.content) + room
    seen = image.seen(50)
    assert image.difference(found, seen) <= image.difference(start, seen)


FILLED = ShownImage(photo("PNG", side=128), 1.0, 128.0**2, 1.0)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
@pytest.mark.parametrize("colors", [False, True])
def test_thinned_images_have_the_mipmaps_of_the_picture(mode: str, colors: bool) -> None:
    with Image.open(io.BytesIO(photo("PNG", "RGBA", 128))) as opened:
        opened.convert(mode).save(stream := io.BytesIO(), "PNG")
    image = ShownImage(stream.getvalue(), 1.0, 128.0**2, 1.0, colors)
    fine = np.asarray(image.picture, int)
    with Image.open(io.BytesIO(image.encoded("PNG", 0.5, None).content)) as opened:
        half = np.asarray(opened, int).reshape(64, 64, -1)
    sizes, last = [], None
    for share in (0, 0.25, 0.75, 1):
        version = image.thinned(1.0)(share)
        with Image.open(io.BytesIO(version.content)) as opened:
            assert opened.mode == mode and opened.size == (128, 128)
            own = np.asarray(opened, int)
        changed = (own != fine).reshape(64, 2, 64, 2, -1).any(axis=(1, 3, 4))
        assert changed.mean() <= 1 - share
        own = own.reshape(64, 2, 64, 2, -1)
        assert (np.ptp(own, axis=(1, 3))[changed] == 0).all()
        assert (own[:, 0, :, 0] == half)[changed].all()
        assert last is None or not (changed & ~last).any()
        assert [image.difference(version, seen) for seen in (-2.5, -4.0)] == [0, 0]
        last = changed
        sizes.append(len(version.content))
    assert sizes == sorted(sizes) and last is not None and not last.any()


def test_what_is_seen_without_loss_stays_so_when_a_gap_is_filled() -> None:
    image = ShownImage(photo("PNG", side=256), 1.0, 256.0**2, 1.0)
    half, whole = (image.encoded("PNG", scale, None) for scale in (0.5, 1.0))
    seen = 2.0**-2.5 * 256
    assert image.difference(half, image.seen(seen)) == 0
    for share in (0.5, 0.9):
        most = int((1 - share) * len(half.content) + share * len(whole.content))
        found = image.filled(half, most, seen)
        assert found.scale == 1 and 0.9 * most < len(found.content) <= most
        assert image.difference(found, image.seen(seen)) == 0


def test_areas_are_those_of_triangles() -> None:
    flat = np.array([[[0, 0], [2, 0], [0, 3]], [[1, 1], [1, 1], [5, 5]]], float)
    assert areas(flat) == pytest.approx(3)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3, 3))
    cross = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    assert areas(points) == pytest.approx(np.linalg.norm(cross, axis=1).sum() / 2)
