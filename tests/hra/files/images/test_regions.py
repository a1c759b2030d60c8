"""Rectangles of large image files are what whole-file readers give, and what is damaged is an error with its tile."""

from __future__ import annotations

import gc
import json
import os
import resource
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from hra.errors import FileError, HraError, ImageError, RepairWarning
from hra.files.images import load_image, open_regions, regions

tifffile = pytest.importorskip("tifffile")
NOISE = np.random.default_rng(0).integers(0, 256, (700, 530, 3), np.uint8)
FAST = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(path: Path, pixels: np.ndarray, **options: Any) -> Path:
    tifffile.imwrite(path, pixels, **{"photometric": "rgb", "tile": (128, 144), **options})
    return path


def halved(pixels: np.ndarray) -> np.ndarray:
    return np.rint(pixels.reshape(pixels.shape[0] // 2, 2, pixels.shape[1] // 2, 2, 3).mean((1, 3))).astype(np.uint8)


LAYOUTS: dict[str, dict[str, Any]] = {
    "tiles": {},
    "deflate": {"compression": "zlib", "predictor": True},
    "lzw": {"compression": "lzw"},
    "jpeg": {"compression": "jpeg", "tile": (128, 128)},
    "big": {"bigtiff": True, "compression": "zstd"},
    "big-endian": {"byteorder": ">"},
    "strips": {"tile": None, "rowsperstrip": 17},
    "one strip": {"tile": None, "rowsperstrip": 700},
    "planes": {"planarconfig": "separate"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_rectangles_are_those_of_the_whole_image(tmp_path, layout, dtype):
    if layout == "jpeg" and dtype == np.uint16:
        pytest.skip("baseline JPEG has 8 bits")
    pixels = NOISE if dtype == np.uint8 else NOISE.astype(np.uint16) * np.uint16(257) - (NOISE > 9).astype(np.uint16)
    given = pixels.transpose(2, 0, 1) if layout == "planes" else pixels
    path = write(tmp_path / "a.tif", given, **LAYOUTS[layout])
    whole = tifffile.imread(path)
    whole = whole.transpose(1, 2, 0) if layout == "planes" else whole
    image = open_regions(path, cache_bytes=2**17).levels[0]
    assert image.shape == (700, 530, 3)
    random = np.random.default_rng(1)
    for _ in range(20):
        (top, bottom), (left, right) = np.sort(random.integers(0, 701, 2)), np.sort(random.integers(0, 531, 2))
        part = image[top:bottom, left:right]
        assert part.size == 0 or (part.dtype == dtype and np.array_equal(part, whole[top:bottom, left:right]))


def test_a_strip_too_long_for_memory_is_read_by_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(regions, "_TILE_BYTES", 530 * 3 * 20)
    path = write(tmp_path / "a.tif", NOISE, tile=None, rowsperstrip=300)
    assert np.array_equal(open_regions(path).levels[0][290:611, 5:100], NOISE[290:611, 5:100])
    with pytest.raises(ImageError, match="tiled TIFF"):
        open_regions(write(tmp_path / "b.tif", NOISE, tile=None, rowsperstrip=300, compression="zlib"))


def test_levels_of_pages_and_of_sub_images(tmp_path):
    pixels = NOISE[:512, :512]
    with tifffile.TiffWriter(tmp_path / "sub.tif") as file:
        file.write(pixels, subifds=1, tile=(128, 128), photometric="rgb")
        file.write(halved(pixels), subfiletype=1, tile=(128, 128), photometric="rgb")
    sub = open_regions(tmp_path / "sub.tif")
    assert [level.shape[:2] for level in sub.levels] == [(512, 512), (256, 256)]
    assert np.array_equal(sub.levels[1][3:200, 100:256], halved(pixels)[3:200, 100:256])


@pytest.mark.parametrize(
    ("pixels", "options", "shown"),
    [
        (NOISE[..., 0], {"photometric": "minisblack"}, NOISE[..., [0, 0, 0]]),
        (NOISE[..., 0], {"photometric": "miniswhite"}, 255 - NOISE[..., [0, 0, 0]]),
        (NOISE[..., 0] > 99, {"photometric": "minisblack"}, (NOISE[..., [0, 0, 0]] > 99) * np.uint8(255)),
        (np.moveaxis(NOISE, 2, 0), {"photometric": "minisblack", "ome": True, "metadata": {"axes": "CYX"}}, NOISE),
        (np.stack([NOISE, 255 - NOISE]), {"metadata": {"axes": "CYXS"}}, None),
    ],
)
def test_grey_white_is_zero_one_bit_and_channels_in_pages(tmp_path, pixels, options, shown):
    path = write(tmp_path / "a.tif", pixels, **options)
    if shown is None:
        with pytest.raises(ImageError, match="axes"):
            open_regions(path)
    else:
        assert np.array_equal(open_regions(path).levels[0][100:300, 50:500], shown[100:300, 50:500])


@pytest.mark.case(98)
@pytest.mark.parametrize("white", [0, 1])
@pytest.mark.parametrize("bits", [1, 2, 4, 12, 14])
def test_numbers_of_fewer_bits_have_a_range_of_their_own(tmp_path, bits, white):
    most = 2**bits - 1
    numbers = np.random.default_rng(0).integers(0, most + 1, (96, 130)).astype(np.uint8 if bits < 8 else np.uint16)
    kind = "miniswhite" if white else "minisblack"
    tifffile.imwrite(tmp_path / "a.tif", numbers, tile=(32, 32), photometric=kind, bitspersample=bits)
    file = open_regions(tmp_path / "a.tif")
    shown, full = file.levels[0][:, :], np.iinfo(numbers.dtype).max
    expected = np.rint((most - numbers if white else numbers) * (full / most))
    assert shown.dtype == numbers.dtype and np.array_equal(shown, np.repeat(expected[..., None], 3, axis=2))
    if bits > 1:  # a window is of the file's own numbers
        half = open_regions(tmp_path / "a.tif", window=(0, 2 * most)).levels[0][:, :]
        assert np.allclose(half[..., 0], (most - numbers if white else numbers) / (2 * most))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("CMYK", {}),
        ("CMYK", {"compression": "jpeg"}),
        ("YCbCr", {"compression": "tiff_lzw"}),
        ("LAB", {}),
        ("RGB", {"compression": "jpeg"}),
        *(("RGB", {"tiffinfo": {274: turn}}) for turn in range(1, 9)),
    ],
)
def test_inks_other_colours_and_turned_pages_are_those_of_the_whole_image(tmp_path, kind, options):
    Image.fromarray(NOISE[:64, :96]).resize((384, 256)).convert(kind).save(tmp_path / "a.tif", **options)
    expected = np.rint(load_image(tmp_path / "a.tif") * 255)
    shown = open_regions(tmp_path / "a.tif").levels[0]
    assert np.abs(shown[:, :] - expected).max() <= (2 if kind == "RGB" and "compression" in options else 0)
    if kind == "CMYK" and not options:  # inks by their numbers
        with Image.open(tmp_path / "a.tif") as image:
            black = np.asarray(image)[..., 3]
        assert np.array_equal(open_regions(tmp_path / "a.tif", channels=[3]).levels[0][:, :][..., 0], black)


def test_inks_of_sixteen_bits(tmp_path):
    inks = np.full((64, 64, 4), 9999, np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", inks, photometric="separated", tile=(32, 32))
    shown = open_regions(tmp_path / "a.tif").levels[0][:, :]
    assert np.abs(shown / 255 - (1 - 9999 / 65535) ** 2).max() < 0.006


def test_a_palette_of_two_colours(tmp_path):
    numbers = NOISE[:64, :64, 0] > 99
    colours = [(320, "H", 6, (0, 65535, 0, 0, 0, 32896), True)]  # all reds, greens, blues
    write(tmp_path / "a.tif", numbers, photometric="minisblack", tile=None, extratags=colours)
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as file:
        file.pages[0].tags[262].overwrite(3)
    expected = np.where(numbers[..., None], np.array([255, 0, 128], np.uint8), np.uint8(0))
    assert np.array_equal(open_regions(tmp_path / "a.tif").levels[0][:, :], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("colours", [1, 3])
@pytest.mark.parametrize("alpha", ["unassalpha", "assocalpha"])
def test_alpha_of_every_type_lies_over_white(tmp_path, dtype, colours, alpha):
    full = 1 if dtype == np.float32 else np.iinfo(dtype).max
    samples = np.random.default_rng(3).random((40, 50, colours + 1))
    opacity = samples[..., -1:].copy()
    if alpha == "assocalpha":
        samples[..., :-1] *= opacity
        over = samples[..., :-1] + (1 - opacity)
    else:
        over = samples[..., :-1] * opacity + (1 - opacity)
    stored = (samples if full == 1 else np.rint(samples * full)).astype(dtype)
    kind = "rgb" if colours == 3 else "minisblack"
    path = write(tmp_path / "a.tif", stored, photometric=kind, extrasamples=[alpha], tile=(32, 32))
    shown = open_regions(path).levels[0][:40, :50]
    assert shown.dtype == dtype
    np.testing.assert_allclose(shown / full, np.broadcast_to(over, (40, 50, 3)), atol=1e-6 if full == 1 else 1.6 / full)
    if (
        dtype == np.uint8 and colours == 3
    ):  # what Pillow makes of it; it divides by alpha first where colours are multiplied
        np.testing.assert_allclose(shown / 255, load_image(path), atol=1.1 / 255)
    bare = open_regions(path, channels=range(colours)).levels[0][:40, :50]
    np.testing.assert_array_equal(bare, np.broadcast_to(stored[..., :-1], (40, 50, 3)))


@pytest.mark.parametrize("colours", [1, 3])
def test_the_first_of_many_pages_is_taken_with_a_warning(tmp_path, colours):
    pages = NOISE[:90, :80, :colours].squeeze(), NOISE[90:180, :80, :colours].squeeze(), NOISE[:64, :70]
    path = tmp_path / "many.tif"
    with tifffile.TiffWriter(path) as writer:
        for page in pages:
            writer.write(page, photometric="rgb" if page.ndim == 3 else "minisblack", metadata=None)
    with pytest.warns(RepairWarning, match="many.tif: the first of several frames was taken"):
        shown = open_regions(path).levels[0][:90, :80]
    np.testing.assert_array_equal(shown, np.broadcast_to(pages[0].reshape(90, 80, -1), (90, 80, 3)))


@pytest.mark.parametrize("compression", ["group3", "group4"])
def test_facsimile_is_black_and_white(tmp_path, compression):
    Image.fromarray(NOISE[..., 0]).convert("1").save(tmp_path / "a.tif", compression=compression)
    with Image.open(tmp_path / "a.tif") as whole:
        expected = np.asarray(whole.convert("RGB"))
    for swapped in (False, True):
        data = (tmp_path / "a.tif").read_bytes()
        with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as file:
            zero = file.pages[0].photometric
            if swapped:
                file.pages[0].tags[262].overwrite(1 - int(zero))
        shown = open_regions(tmp_path / "a.tif").levels[0][:, :]
        assert np.array_equal(shown, 255 - expected if swapped else expected) and 0 < shown.mean() < 255
        (tmp_path / "a.tif").write_bytes(data)


@pytest.mark.case(98)
def test_many_channels_and_numbers_without_a_range(tmp_path):
    bands = np.random.default_rng(2).integers(-500, 9000, (300, 260, 13), np.int16)
    path = write(tmp_path / "a.tif", bands, photometric="minisblack", planarconfig="contig")
    with pytest.raises(ImageError, match=r"int16 have no range.*\n.*level 0, tile in row 0, column 0"):
        open_regions(path).levels[0][:5, :5]
    with pytest.raises(ImageError, match="channels"):
        open_regions(path, channels=(3, 2, 13), window=(0, 10_000)).levels[0][:5, :5]
    shown = open_regions(path, channels=(3, 2, 1), window=(0, 10_000)).levels[0][40:200, 30:99]
    assert np.allclose(shown, (bands[40:200, 30:99, [3, 2, 1]] / 10_000).clip(0, 1), atol=1e-6)
    with pytest.raises(ImageError, match="not in"):
        floats = write(tmp_path / "b.tif", np.where(NOISE == 7, np.nan, NOISE / 255).astype(np.float32))
        open_regions(floats).levels[0][:, :]
    rgba = np.dstack([NOISE, NOISE[..., :1]])
    mixed = open_regions(write(tmp_path / "c.tif", rgba, extrasamples=["unassalpha"])).levels[0][:, :]
    alpha = rgba[..., 3:] / 255
    assert np.abs(mixed - (rgba[..., :3] * alpha + 255 * (1 - alpha))).max() <= 0.51
    infrared = open_regions(write(tmp_path / "d.tif", rgba, extrasamples=["unspecified"])).levels[0][:, :]
    assert np.array_equal(infrared, NOISE)


def test_how_large_a_pixel_is(tmp_path):
    plain = {"resolution": (4e4, 4e4), "resolutionunit": "CENTIMETER"}
    assert open_regions(write(tmp_path / "a.tif", NOISE, **plain)).spacing == pytest.approx(0.25e-6)
    ome = {"axes": "YXS", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "µm"}
    assert open_regions(write(tmp_path / "b.ome.tif", NOISE, ome=True, metadata=ome)).spacing == pytest.approx(5e-7)
    tags = [(33550, "d", 3, (10.0, 10.0, 0.0), True)]
    assert open_regions(write(tmp_path / "c.tif", NOISE, extratags=tags)).spacing == 10.0
    assert open_regions(write(tmp_path / "d.tif", NOISE)).spacing is None
    slide = {"description": "Aperio Image Library v1\n530x700|AppMag = 20|MPP = 0.4990", "metadata": None}
    assert open_regions(write(tmp_path / "e.svs", NOISE, **slide)).spacing == pytest.approx(4.99e-7)


@pytest.mark.case(97)
@pytest.mark.parametrize("compression", ["zlib", "lzw", "jpeg", "none"])
def test_damaged_tiles_are_named_or_decoded_and_others_are_read(tmp_path, compression):
    side = (128, 128)
    path = write(tmp_path / "a.tif", NOISE, tile=side, compression=None if compression == "none" else compression)
    with tifffile.TiffFile(path) as file:
        offsets, counts = file.pages[0].dataoffsets, file.pages[0].databytecounts
    whole, content = tifffile.imread(path), bytearray(path.read_bytes())
    content[offsets[7] : offsets[7] + counts[7] // 2] = bytes(counts[7] // 2)
    path.write_bytes(content)
    image = open_regions(path).levels[0]
    assert np.array_equal(image[:128, :128], whole[:128, :128])  # tile 0
    try:
        assert image[128:256, 256:384].shape == (128, 128, 3)
    except ImageError as error:
        assert "tile in row 1, column 2" in error.where
    path.write_bytes(content[: offsets[-1] + counts[-1] // 3])  # tags come first
    if offsets[0] > 0 and path.stat().st_size < offsets[-1] + counts[-1]:
        try:
            cut = open_regions(path).levels[0]
        except ImageError:
            return  # the tags were at the end
        with pytest.raises(ImageError, match="row 5, column 4"):
            cut[640:700, 512:530]


@pytest.mark.case(97)
def test_lengths_and_places_that_lie(tmp_path):
    path = write(tmp_path / "a.tif", NOISE, compression="zlib")
    content = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        places = {code: (page.tags[code].valueoffset, page.tags[code].dtype.name) for code in (324, 325)}
    for code, value in ((325, 2**31), (325, 1), (324, 2**32 - 1), (324, 5)):
        place, name = places[code]
        wide = 4 if name == "LONG" else 2 if name == "SHORT" else 8
        lying = content.copy()
        lying[place : place + wide] = min(value, 2 ** (8 * wide) - 1).to_bytes(wide, "little")
        (tmp_path / "b.tif").write_bytes(lying)
        with pytest.raises(ImageError, match="row 0, column 0"):
            open_regions(tmp_path / "b.tif").levels[0][:2, :2]


@pytest.mark.case(97)
def test_a_tile_that_unpacks_to_a_gigabyte_takes_no_gigabyte(tmp_path):
    path = write(tmp_path / "a.tif", NOISE, compression="zlib")
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(1024)) + packer.flush()
    with tifffile.TiffFile(path) as file:
        offset, count = file.pages[0].tags[324].valueoffset, file.pages[0].tags[325].valueoffset
        wide = {"LONG": 4, "LONG8": 8, "SHORT": 2}[file.pages[0].tags[325].dtype.name]
    content = bytearray(path.read_bytes())
    content[offset : offset + 4] = len(content).to_bytes(4, "little")
    if wide == 2:
        pytest.skip("lengths of two bytes")
    content[count : count + wide] = len(bomb).to_bytes(wide, "little")
    path.write_bytes(bytes(content) + bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        open_regions(path).levels[0][:2, :2]
    except ImageError as error:
        assert "row 0, column 0" in error.where
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**18  # KiB


@pytest.mark.case(97)
@FAST
@given(st.data())
def test_changed_bytes_are_pixels_or_typed_errors(tmp_path, data):
    path = tmp_path / "a.tif"
    if not path.exists():
        write(path, NOISE[:200, :200], tile=(64, 64), compression="zlib")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, min(len(content), 600) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "b.tif").write_bytes(content)
    try:
        image = open_regions(tmp_path / "b.tif").levels[0]
        assert image[:50, :50].shape[2] == 3
    except HraError:
        pass


@pytest.mark.case(99)
def test_sides_and_offsets_beyond_32_bits(tmp_path):
    # 70,000 x 70,000 pixels of which two tiles are there: 4.9e9 pixels, more than 2**32.
    tile = np.full((256, 256, 3), 200, np.uint8)
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        grid = -(-70_000 // 256)
        tiles = (tile if n in (0, grid * grid - 1) else None for n in range(grid * grid))
        file.write(tiles, shape=(70_000, 70_000, 3), dtype=np.uint8, tile=(256, 256), photometric="rgb")
    image = open_regions(path)
    assert image.levels[0].shape == (70_000, 70_000, 3) and image.tiles == grid * grid
    assert (image.levels[0][69_990:70_000, 69_900:69_999] == 200).all() and not image.levels[0][40_000:40_010, :9].any()
    assert image.tiles_read == 2


def test_a_file_that_changes_while_it_is_open_is_refused(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8)
    file = write(tmp_path / "a.tif", pixels, tile=(64, 64))
    image = open_regions(file)
    np.testing.assert_array_equal(image.levels[0][:64, :64], pixels[:64, :64])
    write(file, 255 - pixels, tile=(64, 64))
    os.utime(file, ns=(0, 0))
    np.testing.assert_array_equal(image.levels[0][:64, :64], pixels[:64, :64])  # kept from before
    with pytest.raises(FileError, match="changed since it was opened"):
        _ = image.levels[0][:64, 64:]
    file.write_bytes(b"")
    with pytest.raises(FileError, match="changed since it was opened"):
        _ = image.levels[0][64:, 64:]


def test_an_image_that_is_read_at_once_stays_what_it_was(tmp_path):
    file = tmp_path / "a.png"
    Image.new("RGB", (40, 30), "red").save(file)
    image = open_regions(file)
    Image.new("RGB", (50, 30), "blue").save(file)
    assert (image.levels[0][:30, :40] == (255, 0, 0)).all()


def test_the_cache_keeps_to_its_limit(tmp_path):
    image = open_regions(write(tmp_path / "a.tif", NOISE), cache_bytes=2**17)
    for row in range(0, 700, 64):
        image.levels[0][row : row + 64, :]
        assert sum(each.nbytes for each in image._kept.values()) <= 2**17
    read = image.tiles_read
    image.levels[0][690:700, 500:530]
    assert image.tiles_read == read


@pytest.mark.parametrize("overlap", [0, 1, 3])
def test_deep_zoom(tmp_path, overlap):
    side, pixels = 254, NOISE
    top = (max(pixels.shape[:2]) - 1).bit_length()
    (tmp_path / "a_files" / str(top)).mkdir(parents=True)
    for row in range(3):
        for column in range(3):
            y, x = max(row * side - overlap, 0), max(column * side - overlap, 0)
            cut = pixels[y : (row + 1) * side + overlap, x : (column + 1) * side + overlap]
            Image.fromarray(cut).save(tmp_path / "a_files" / str(top) / f"{column}_{row}.png")
    text = f'<Image TileSize="{side}" Overlap="{overlap}" Format="png"><Size Width="530" Height="700"/></Image>'
    (tmp_path / "a.dzi").write_text(text)
    image = open_regions(tmp_path / "a.dzi")
    assert np.array_equal(image.levels[0][200:600, 100:530], pixels[200:600, 100:530])
    assert image.levels[3].shape == (88, 67, 3)
    with pytest.raises(FileError):
        image.levels[1][:5, :5]
    (tmp_path / "b.dzi").write_text(text.replace('"png"', '"../../x"'))
    with pytest.raises(ImageError):
        open_regions(tmp_path / "b.dzi")


@pytest.mark.parametrize("version", [2, 3])
def test_ome_zarr(tmp_path, version):
    zarr = pytest.importorskip("zarr")
    pixels = NOISE[:512, :512]
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=version)
    for number, level in enumerate((pixels, halved(pixels))):
        array = group.create_array(str(number), shape=(1, 3, *level.shape[:2]), chunks=(1, 1, 100, 90), dtype="u1")
        array[:] = np.moveaxis(level, 2, 0)[None]
    axes = [{"name": name, **({"unit": "micrometer"} if name in "yx" else {})} for name in "tcyx"]
    scale = [{"type": "scale", "scale": [1, 1, 0.25, 0.25]}]
    scales = [{"axes": axes, "datasets": [{"path": str(n), "coordinateTransformations": scale} for n in (0, 1)]}]
    group.attrs.update({"ome": {"multiscales": scales}} if version == 3 else {"multiscales": scales})
    image = open_regions(tmp_path / "a.zarr")
    assert np.array_equal(image.levels[0][90:310, 5:500], pixels[90:310, 5:500])
    assert np.array_equal(image.levels[1][:, :], halved(pixels)) and image.spacing == pytest.approx(0.25e-6)
    # Blosc, which version 2 packs by, decodes whatever it finds.
    for file in (tmp_path / "a.zarr" / "0").rglob("*") if version == 3 else ():
        if file.is_file() and file.name not in ("zarr.json", ".zarray", ".zattrs"):
            file.write_bytes(file.read_bytes()[:20])
    if version == 3:
        with pytest.raises(ImageError, match="level 0, chunk in row 0, column 0"):
            open_regions(tmp_path / "a.zarr").levels[0][:5, :5]
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group"}))
    with pytest.raises(FileError, match="OME-Zarr"):
        open_regions(tmp_path / "b.zarr")


def test_openslide(tmp_path):
    pytest.importorskip("openslide")
    write(tmp_path / "a.tif", NOISE, tile=(128, 128), compression="zlib")
    (tmp_path / "a.tif").rename(tmp_path / "a.svslide")
    image = open_regions(tmp_path / "a.svslide")
    assert image.format == "OpenSlide" and np.array_equal(image.levels[0][3:600, 40:530], NOISE[3:600, 40:530])
    (tmp_path / "b.svslide").write_bytes(b"II*\0" + bytes(60))
    with pytest.raises(ImageError, match="OpenSlide"):
        open_regions(tmp_path / "b.svslide")


def test_other_files_and_windows(tmp_path):
    Image.fromarray(NOISE).save(tmp_path / "a.png")
    assert np.array_equal(open_regions(tmp_path / "a.png").levels[0][100:600, 510:520], NOISE[100:600, 510:520])
    with pytest.raises(ImageError):
        open_regions(tmp_path / "a.png", window=(1, 1))
    with pytest.raises(FileError):
        open_regions(tmp_path / "none.tif")
    (tmp_path / "c.tif").write_bytes(b"II*\0\xff\xff\xff\xff")
    with pytest.raises(ImageError):
        open_regions(tmp_path / "c.tif")


def test_a_file_is_closed_when_nobody_reads_it(tmp_path: Path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        image = open_regions(write(tmp_path / "a.tif", NOISE))
        assert image.levels[0][:4, :4].shape == (4, 4, 3)
        del image
        gc.collect()
    assert not told
