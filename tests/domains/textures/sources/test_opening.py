"""Image files as lazy textures: every kind that must work, and the ones that are refused, by OpenImageIO."""

from __future__ import annotations

import errno
import io
import os
import struct
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.camera import Camera
from hra.domains.textures import (
    BC1,
    BC2,
    BC3,
    BC5,
    R8,
    R16F,
    R32F,
    RGBA8,
    AnalyticFeedback,
    DetailError,
    MippedTexture,
    PlaneScene,
    TextureAllocator,
    TileCache,
    TiledTexture,
    load_texels,
    open_image,
    render,
)
from hra.domains.textures.mips import build_mips, level_shapes
from hra.errors import FileError, HraError, ImageError, MissingExtra, RepairWarning

Image = pytest.importorskip("PIL.Image")
oiio = pytest.importorskip("OpenImageIO")

KINDS = {"uint8": "uint8", "uint16": "uint16", "float32": "float", "int8": "int8", "int16": "int16"}


# Any warning that a test does not expect is an error, those of Pillow included.
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def texels(noise: Callable[..., np.ndarray]) -> np.ndarray:
    return noise(150, 300)


def write(path: Path, texels: np.ndarray, **attributes: Any) -> Path:
    """Write an image by OpenImageIO; ``tile`` and "compression" are attributes of its specification."""
    spec = oiio.ImageSpec(texels.shape[1], texels.shape[0], texels.shape[2], KINDS[texels.dtype.name])
    spec.tile_width = spec.tile_height = attributes.pop("tile", 0)
    for name, value in attributes.items():
        spec.attribute(name, value)
    output = oiio.ImageOutput.create(str(path))
    assert output and output.open(str(path), spec) and output.write_image(texels) and output.close(), oiio.geterror()
    return path


def saved(path: Path, image: Any, **options: Any) -> Path:
    image.save(path, **options)
    return path


def dds(path: Path, width: int, height: int, levels: int, code: bytes, block_bytes: int, cut: int = 0) -> Path:
    """A DDS file of random blocks, written by hand: Microsoft's "Programming Guide for DDS"."""
    sizes = [(max(height >> m, 1), max(width >> m, 1)) for m in range(levels)]
    blocks = sum(-(-h // 4) * -(-w // 4) for h, w in sizes)
    flags, mip_caps = 0x1 | 0x2 | 0x4 | 0x1000 | 0x20000, 0x8 | 0x1000 | 0x400000
    header = struct.pack("<7I44x", 124, flags, height, width, 0, 0, levels)
    header += struct.pack("<2I4s5I", 32, 4, code, 0, 0, 0, 0, 0) + struct.pack("<5I", mip_caps, 0, 0, 0, 0)
    content = np.random.default_rng(0).integers(0, 256, blocks * block_bytes - cut, np.uint8).tobytes()
    path.write_bytes(b"DDS " + header + content)
    return path


def rgba_dds(path: Path, faces: int, caps: int, extended: bytes = b"") -> Path:
    """A DDS file of faces or layers of 4 x 4 texels, all of whose bytes are 1, 2 and so on, without further levels."""
    header = struct.pack("<7I44x", 124, 0x100F, 4, 4, 16, 0, 1)
    header += (
        struct.pack("<2I4s5I", 32, 4, b"DX10", *[0] * 5)
        if extended
        else (struct.pack("<8I", 32, 0x41, 0, 32, 0xFF, 0xFF00, 0xFF0000, 0xFF000000))
    )
    texels = np.repeat(np.arange(1, faces + 1, dtype=np.uint8), 64).tobytes()
    path.write_bytes(b"DDS " + header + struct.pack("<5I", 0x1008, caps, 0, 0, 0) + extended + texels)
    return path


def ultra_hdr(path: Path) -> Path:
    """A JPEG file of grey 128 whose gain map makes it four times as light: Android, Ultra HDR image format 1.1."""

    def encoded(shape: tuple[int, ...], value: int, attributes: str, content: str) -> bytes:
        stream, gain = io.BytesIO(), 'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"'
        text = f'<rdf:RDF xmlns:rdf="{rdf}"><rdf:Description {gain} {attributes}>{content}</rdf:Description></rdf:RDF>'
        text = f'<x:xmpmeta xmlns:x="adobe:ns:meta/">{text}</x:xmpmeta>'
        Image.fromarray(np.full(shape, value, np.uint8)).save(stream, "JPEG", xmp=text.encode())
        return stream.getvalue()

    rdf, google = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://ns.google.com/photos/1.0/container/"
    numbers = {"GainMapMin": 0, "GainMapMax": 2, "Gamma": 1, "HDRCapacityMin": 0, "HDRCapacityMax": 2}
    numbers |= {"OffsetSDR": 0.015625, "OffsetHDR": 0.015625}
    gain = encoded((32, 32), 255, " ".join(f'hdrgm:{name}="{value}"' for name, value in numbers.items()), "")
    items = "".join(
        f'<rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="{item}/></rdf:li>'
        for item in ('Primary" Item:Mime="image/jpeg"', f'GainMap" Item:Mime="image/jpeg" Item:Length="{len(gain)}"')
    )
    names = f'xmlns:Container="{google}" xmlns:Item="{google}item/"'
    listed = f"<Container:Directory><rdf:Seq>{items}</rdf:Seq></Container:Directory>"
    path.write_bytes(encoded((32, 32, 3), 128, names, listed) + gain)
    return path


class TestReading:
    """Tiles are those of the whole image."""

    @pytest.mark.parametrize("name", ["a.png", "a.tif", "a.bmp", "a.tga", "a.webp", "a.ppm"])
    def test_every_page_is_a_part_of_its_level(self, tmp_path: Path, texels: np.ndarray, name: str) -> None:
        options = {"lossless": True} if name == "a.webp" else {}
        source = open_image(saved(tmp_path / name, Image.fromarray(texels), **options), srgb=False)
        lazy, whole = TiledTexture.from_source(source, tile=64), TiledTexture.from_image(texels, tile=64)
        np.testing.assert_array_equal(lazy.pages.bytes, whole.pages.bytes)
        assert source.texels == RGBA8
        for page in range(whole.pages.bytes.size):
            np.testing.assert_array_equal(lazy.read(page), whole.read(page))

    @pytest.mark.parametrize(("kind", "order"), [("plain", [2, 1, 0, 3]), ("masks", [3, 2, 1, 0])])
    def test_a_bmp_of_32_bits_has_its_own_order_and_no_alpha_where_bits_are_unused(
        self, tmp_path: Path, kind: str, order: list[int]
    ) -> None:
        colours = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3) * 4
        padded = np.concatenate([colours[::-1], np.zeros((4, 5, 1), np.uint8)], axis=2)
        stored = padded[..., order].tobytes()
        masks = struct.pack("<3I", 0xFF000000, 0xFF0000, 0xFF00) if kind == "masks" else b""
        start = 54 + len(masks)
        head = b"BM" + struct.pack("<I2HI", start + len(stored), 0, 0, start)
        head += struct.pack("<I2i2H2I2i2I", 40, 5, 4, 1, 32, 3 if masks else 0, len(stored), 0, 0, 0, 0)
        (tmp_path / "a.bmp").write_bytes(head + masks + stored)
        np.testing.assert_array_equal(np.array(open_image(tmp_path / "a.bmp").mips[0]), colours)

    def test_a_jpeg_is_decoded_as_by_pillow(self, tmp_path: Path) -> None:
        y, x = np.indices((100, 200))
        smooth = np.stack([y + 20, x, 255 - x], axis=2).astype(np.uint8)
        path = saved(tmp_path / "a.jpg", Image.fromarray(smooth), quality=95)
        np.testing.assert_allclose(np.array(open_image(path).mips[0]), np.float32(load_texels(path)), atol=4)

    def test_a_mipped_texture_has_the_same_texels(self, tmp_path: Path, texels: np.ndarray) -> None:
        source = open_image(write(tmp_path / "a.tif", texels, tile=64), srgb=False)
        lazy, whole = MippedTexture.from_source(source, tail=32), MippedTexture.from_image(texels, tail=32)
        for page in range(whole.pages.bytes.size):
            np.testing.assert_array_equal(lazy.read(page), whole.read(page))

    @given(data=st.data())
    def test_levels_are_indexed_like_arrays(
        self, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        texels = np.random.default_rng(0).integers(0, 256, (150, 300, 3), np.uint8)
        path = tmp_path_factory.getbasetemp() / "indexed.tif"
        level = open_image(path if path.exists() else write(path, texels)).mips[0]
        rows = np.array(data.draw(st.lists(st.integers(-150, 149), max_size=20)), np.int64)
        columns = np.array(
            data.draw(st.lists(st.integers(-300, 299), min_size=rows.size, max_size=rows.size)), np.int64
        )
        start, stop = data.draw(st.integers(-160, 160)), data.draw(st.integers(-160, 160))
        part, every_third = slice(start, stop), slice(start, stop, 3)
        pairs = [(rows, columns), np.ix_(rows, columns), (rows, part), (part, columns), (every_third, part), (3, 4)]
        keys: list[Any] = [*pairs, rows, part, every_third, 3]
        for key in keys:
            np.testing.assert_array_equal(level[key], texels[key])

    def test_memory_stays_within_the_cache(self, tmp_path: Path, noise: Callable[..., np.ndarray]) -> None:
        texels, limit = noise(2048, 2560), 10 * 2**20
        cache = TileCache(limit)
        level = open_image(write(tmp_path / "a.tif", texels, tile=128), cache=cache).mips[0]
        for row in range(0, 2048, 128):
            for column in range(0, 2560, 128):
                part = slice(row, row + 128), slice(column, column + 128)
                np.testing.assert_array_equal(level[part], texels[part])
                assert cache.bytes <= limit + 2 * 128 * 128 * 3
        assert cache.tiles_read == 16 * 20

    def test_opening_reads_no_texels(self, tmp_path: Path, texels: np.ndarray) -> None:
        cache = TileCache()
        texture = TiledTexture.from_source(open_image(write(tmp_path / "a.tif", texels, tile=64), cache=cache))
        assert texture.hierarchy.total_cost > 0 and cache.tiles_read == 0


class TestShown:
    """A texture that stays in its file is used like one in memory."""

    @pytest.fixture
    def scenes(self, tmp_path: Path, texels: np.ndarray) -> tuple[PlaneScene, PlaneScene]:
        source = open_image(write(tmp_path / "a.tif", texels, tile=32), srgb=False)
        lazy, whole = TiledTexture.from_source(source, tile=32), TiledTexture.from_image(texels, tile=32)
        return PlaneScene.ground(lazy, 10.0), PlaneScene.ground(whole, 10.0)

    def test_views_and_detail_are_the_same(
        self, scenes: tuple[PlaneScene, PlaneScene], camera_of: Callable[..., Camera]
    ) -> None:
        seen = []
        for scene in scenes:
            allocator = TextureAllocator(scene.textures, AnalyticFeedback(scene), DetailError.of(scene.textures))
            resident = allocator.realize(allocator.allocate(camera_of(3), 60_000))
            seen.append((render(scene, resident, camera_of(3)), resident.compose(), resident.compose(1)))
        for lazy, whole in zip(*seen, strict=True):
            np.testing.assert_array_equal(lazy, whole)


class TestLevels:
    """Levels of the file, and those that it lacks."""

    def test_missing_levels_are_made_from_light(self, tmp_path: Path, texels: np.ndarray) -> None:
        source = open_image(write(tmp_path / "a.png", texels))
        for level, expected in zip(source.mips, build_mips(texels, srgb=True), strict=True):
            assert level.shape == expected.shape and level.dtype == expected.dtype
            np.testing.assert_array_equal(np.array(level), expected)

    @pytest.mark.case(82)
    @given(st.integers(1, 40), st.integers(1, 40))
    def test_any_size(self, height: int, width: int) -> None:
        texels = np.random.default_rng(height * 41 + width).integers(0, 256, (height, width, 3), np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            source = open_image(write(Path(folder) / "a.png", texels), srgb=False)
            assert [level.shape[:2] for level in source.mips] == level_shapes(height, width)
            for level, expected in zip(source.mips, build_mips(texels), strict=True):
                np.testing.assert_array_equal(np.array(level), expected)

    @pytest.mark.parametrize("size", [(1, 20_000), (20_000, 1)])
    def test_long_and_thin(self, tmp_path: Path, size: tuple[int, int], noise: Callable[..., np.ndarray]) -> None:
        texels = noise(*size)
        texture = TiledTexture.from_source(open_image(write(tmp_path / "a.tif", texels)))
        np.testing.assert_array_equal(
            np.concatenate([texture.read(p).ravel() for p in texture.pages.finest.ravel()]), texels.ravel()
        )

    def test_levels_of_a_dds_are_used_while_they_are_halves_rounded_up(self, tmp_path: Path) -> None:
        path = dds(tmp_path / "a.dds", 100, 60, 7, b"DXT5", 16)  # 60 x 100, 30 x 50, 15 x 25, then 7 x 12
        source, reader = open_image(path, srgb=False), oiio.ImageInput.open(str(path))
        stored = [reader.read_image(0, m, 0, 4, "uint8") for m in range(3)]
        for level, expected in zip(source.mips, (*stored, *build_mips(stored[2])[1:]), strict=True):
            np.testing.assert_array_equal(np.array(level), expected)

    @pytest.mark.parametrize(
        ("code", "block_bytes", "texels"),
        [(b"DXT1", 8, BC1), (b"DXT2", 16, BC2), (b"DXT4", 16, BC3), (b"DXT5", 16, BC3), (b"ATI2", 16, BC5)],
    )
    def test_a_dds_takes_the_bytes_of_its_blocks(
        self, tmp_path: Path, code: bytes, block_bytes: int, texels: Any
    ) -> None:
        path = dds(tmp_path / "a.dds", 256, 128, 9, code, block_bytes)
        source = open_image(path)
        assert source.texels == texels and source.srgb == (texels != BC5)
        assert TiledTexture.from_source(source).pages.bytes.sum() == path.stat().st_size - 128

    def test_a_level_of_an_exr_may_start_anywhere(self, tmp_path: Path) -> None:
        texels = np.random.default_rng(0).random((20, 30, 3), np.float32)
        buffer = oiio.ImageBuf(texels)
        buffer.set_origin(5, -7)
        buffer.set_full(5, 35, -7, 13, 0, 1)
        assert buffer.write(str(tmp_path / "a.exr"), "float")
        np.testing.assert_array_equal(np.array(open_image(tmp_path / "a.exr").mips[0]), texels)


class TestKinds:
    """Cases 44-50: bit depths, CMYK, palette, alpha, orientation, animation."""

    @pytest.mark.case(47)
    def test_one_bit(self, tmp_path: Path, texels: np.ndarray) -> None:
        image = Image.fromarray(texels).convert("1")
        for name in ("a.png", "a.tif"):
            source = open_image(saved(tmp_path / name, image))
            np.testing.assert_array_equal(np.array(source.mips[0])[..., 0], np.array(image) * np.uint8(255))
            assert source.texels == R8

    @pytest.mark.parametrize("name", ["a.png", "a.tif"])
    def test_16_bits_keep_their_steps(self, tmp_path: Path, name: str) -> None:
        values = np.array([[[0], [1], [257], [65534], [65535]]], np.uint16)
        source = open_image(write(tmp_path / name, values))
        assert source.mips[0].dtype == np.float32 and source.texels == R16F
        np.testing.assert_allclose(np.array(source.mips[0]), values / 65535, rtol=1e-6)

    @pytest.mark.parametrize("name", ["a.exr", "a.tif"])
    def test_floats_may_exceed_one(self, tmp_path: Path, name: str) -> None:
        values = np.random.default_rng(0).normal(0, 100, (9, 7, 1)).astype(np.float32)
        source = open_image(write(tmp_path / name, values))
        assert source.texels == R32F
        np.testing.assert_array_equal(np.array(source.mips[0]), values)
        np.testing.assert_allclose(np.array(source.mips[1]), build_mips(values)[1], rtol=1e-6)

    @pytest.mark.case(45)
    def test_cmyk_and_palette_become_rgb(self, tmp_path: Path, texels: np.ndarray) -> None:
        palette = Image.fromarray(texels).convert("P", palette=Image.Palette.ADAPTIVE)
        np.testing.assert_array_equal(
            np.array(open_image(saved(tmp_path / "p.png", palette)).mips[0]), np.array(palette.convert("RGB"))
        )
        cmyk = saved(tmp_path / "c.tif", Image.fromarray(texels).convert("CMYK"))
        np.testing.assert_allclose(np.array(open_image(cmyk).mips[0]), np.float32(texels), atol=1)

    @pytest.mark.case(46)
    def test_alpha_is_kept_and_colours_are_not_multiplied(
        self, tmp_path: Path, noise: Callable[..., np.ndarray]
    ) -> None:
        texels = noise(9, 9, 4)
        path = saved(tmp_path / "a.png", Image.fromarray(texels))
        np.testing.assert_array_equal(np.array(open_image(path).mips[0]), texels)

    @pytest.mark.case(48)
    @pytest.mark.parametrize("orientation", range(1, 9))
    def test_orientations(self, tmp_path: Path, texels: np.ndarray, orientation: int) -> None:
        exif = Image.Exif()
        exif[0x0112] = orientation
        path = saved(tmp_path / "a.png", Image.fromarray(texels), exif=exif)
        source, upright = open_image(path, srgb=False), load_texels(path)
        texture = TiledTexture.from_source(source, tile=64)
        expected = TiledTexture.from_image(upright, tile=64)
        for page in range(expected.pages.bytes.size):
            np.testing.assert_array_equal(texture.read(page), expected.read(page))

    def test_an_orientation_behind_the_pixels_of_a_png_counts(self, tmp_path: Path, texels: np.ndarray) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        data = saved(tmp_path / "a.png", Image.fromarray(texels), exif=exif).read_bytes()
        at = data.index(b"eXIf") - 4
        after = at + 12 + int.from_bytes(data[at : at + 4])
        (tmp_path / "a.png").write_bytes(data[:at] + data[after:-12] + data[at:after] + data[-12:])
        upright = load_texels(tmp_path / "a.png")
        assert upright.shape[:2] == texels.shape[1::-1]
        np.testing.assert_array_equal(np.array(open_image(tmp_path / "a.png").mips[0]), upright)

    def test_an_orientation_in_xmp_counts(self, tmp_path: Path, texels: np.ndarray) -> None:
        text = pytest.importorskip("PIL.PngImagePlugin").PngInfo()
        text.add_itxt("XML:com.adobe.xmp", '<x xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="3"/>')
        path = saved(tmp_path / "a.png", Image.fromarray(texels), pnginfo=text)
        np.testing.assert_array_equal(np.array(open_image(path).mips[0]), texels[::-1, ::-1])

    def test_no_pixel_of_a_png_is_decoded_to_open_it(self, tmp_path: Path, noise: Callable[..., np.ndarray]) -> None:
        path = saved(tmp_path / "a.png", Image.fromarray(noise(200, 200, 3)))
        path.write_bytes(path.read_bytes()[:60_000])
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of EXIF data that it does not have
            source = open_image(path)
        with pytest.raises(ImageError, match="cannot be read"):
            np.array(source.mips[0])

    @pytest.mark.parametrize("kind", [np.int8, np.int16])
    def test_signed_integers_are_no_colours(self, tmp_path: Path, kind: type) -> None:
        values = np.array([[[np.iinfo(kind).max], [0], [-np.iinfo(kind).max]]], kind)
        source = open_image(write(tmp_path / "a.tif", values))
        np.testing.assert_allclose(np.array(source.mips[0])[0, :, 0], [1, 0, -1], atol=1e-6)
        assert not source.srgb

    @pytest.mark.parametrize("bits", [0, 8])
    def test_a_tga_without_alpha_by_its_header(self, tmp_path: Path, bits: int) -> None:
        path = saved(tmp_path / "a.tga", Image.fromarray(np.full((4, 4, 4), 77, np.uint8)))
        data = bytearray(path.read_bytes())
        data[17] = data[17] & 0xF0 | bits
        path.write_bytes(data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert (np.array(open_image(path).mips[0]) == 77).all()
        assert ["no alpha" in str(one.message) for one in caught] == ([True] if bits == 0 else [])

    @pytest.mark.parametrize("bits", [0, 1])
    def test_a_single_bit_of_alpha_of_a_tga_is_left_out_with_a_warning(self, tmp_path: Path, bits: int) -> None:
        path = tmp_path / "a.tga"
        path.write_bytes(struct.pack("<3B5x4H2B", 0, 0, 2, 0, 0, 2, 1, 16, 0x20 | bits) + b"\x1f\x80\x1f\0")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert np.array(open_image(path).mips[0]).tolist() == [[[0, 0, 255]] * 2]
        assert ["alpha" in str(one.message) for one in caught] == [True] * bits

    @pytest.mark.parametrize(("cube", "layers"), [(0, 1), (0, 3), (4, 1)])
    def test_the_first_layer_of_a_dds(self, tmp_path: Path, cube: int, layers: int) -> None:
        faces, extended = layers * (6 if cube else 1), struct.pack("<5I", 28, 3, cube, layers, 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            level = open_image(rgba_dds(tmp_path / "a.dds", faces, 0, extended)).mips[0]
        assert level.shape == (4, 4, 4) and (np.array(level) == 1).all()
        assert ["first of several layers" in str(one.message) for one in caught] == [True] * (faces > 1)

    def test_a_gain_map_is_applied_with_a_warning(self, tmp_path: Path) -> None:
        with pytest.warns(RepairWarning, match="gain map"):
            source = open_image(ultra_hdr(tmp_path / "a.jpg"))
        light = (128 / 255 + 0.055) ** 2.4 / 1.055**2.4
        expected = [4 * (light + 0.015625) - 0.015625] * 3 + [1]
        np.testing.assert_allclose(np.array(source.mips[0])[0, 0], expected, atol=2e-3)
        assert not source.srgb

    def test_faces_of_a_cube_map_lie_one_below_another(self, tmp_path: Path) -> None:
        with pytest.warns(RepairWarning, match="faces of the cube map"):
            level = open_image(rgba_dds(tmp_path / "a.dds", 6, 0xFE00)).mips[0]
        np.testing.assert_array_equal(np.array(level)[::4, 0, 0], np.arange(1, 7))

    def test_an_unknown_orientation_is_ignored_with_a_warning(self, tmp_path: Path, texels: np.ndarray) -> None:
        exif = Image.Exif()
        exif[0x0112] = 9
        path = saved(tmp_path / "a.png", Image.fromarray(texels), exif=exif)
        with pytest.warns(RepairWarning, match="orientation 9"):
            assert open_image(path).mips[0].shape == texels.shape

    @pytest.mark.case(49)
    @pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp"])
    @pytest.mark.parametrize("content", [b"MM\0*\xff\xff\xff\xff", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0"])
    def test_corrupt_exif_data_is_ignored_with_a_warning(
        self, tmp_path: Path, texels: np.ndarray, name: str, content: bytes
    ) -> None:
        path = saved(tmp_path / name, Image.fromarray(texels), exif=b"Exif\0\0" + content)
        with pytest.warns(RepairWarning, match="corrupt EXIF"):
            assert open_image(path).mips[0].shape == texels.shape
        with pytest.warns(RepairWarning, match="corrupt EXIF"):
            assert load_texels(path).shape == texels.shape

    @pytest.mark.case(50)
    def test_the_first_frame_of_several(self, tmp_path: Path, texels: np.ndarray) -> None:
        first, second = (Image.fromarray(t).convert("P") for t in (texels, texels[::-1]))
        path = saved(tmp_path / "a.gif", first, save_all=True, append_images=[second])
        with pytest.warns(RepairWarning, match="first of several"):
            level = open_image(path).mips[0]
        np.testing.assert_array_equal(np.array(level)[..., :3], np.array(first.convert("RGB")))


def read_all(path: Path) -> None:
    texture = TiledTexture.from_source(open_image(path))
    for page in range(texture.pages.bytes.size):
        texture.read(page)


class TestRefused:
    """Cases 42, 43, 52 and 53, and lying headers."""

    @pytest.mark.parametrize("mask", [0xFF, 0xFF000000])
    def test_a_dds_whose_mask_names_other_bits_than_its_texels_have(self, tmp_path: Path, mask: int) -> None:
        form = struct.pack("<8I", 32, 0x20000, 0, 8, mask, mask, mask, 0)
        head = (
            struct.pack("<4s7I44x", b"DDS ", 124, 0x100F, 4, 4, 4, 0, 1) + form + struct.pack("<5I", 0x1000, 0, 0, 0, 0)
        )
        (tmp_path / "a.dds").write_bytes(head + bytes(range(16)))
        if mask == 0xFF:
            assert np.array(open_image(tmp_path / "a.dds").mips[0]).ravel().tolist() == list(range(16))
            return
        with pytest.raises(ImageError, match="bits"):
            open_image(tmp_path / "a.dds")

    def test_a_tiff_with_a_palette_and_alpha(self, tmp_path: Path, texels: np.ndarray) -> None:
        path = saved(tmp_path / "a.tif", Image.fromarray(texels).convert("P").convert("PA"))
        with pytest.raises(ImageError, match="palette"):
            open_image(path)

    @pytest.mark.parametrize("lines", ["-Y 2 +X 3", "+Y 2 -X 3", "+X 3 -Y 2", "-X 3 +Y 2", "+X 3 +Y 2", "-X 3 -Y 2"])
    def test_an_hdr_is_upright_or_refused(self, tmp_path: Path, lines: str) -> None:
        upright, (first, _, second, _) = np.arange(128, 134, dtype=np.uint8).reshape(2, 3), lines.split()
        stored = upright[:: -1 if "+Y" in lines else 1, :: -1 if "-X" in lines else 1]
        stored = stored if first[1] == "Y" else stored.T
        texels = b"".join(bytes([value] * 3 + [136]) for value in stored.ravel().tolist())
        path = tmp_path / "a.hdr"
        path.write_bytes(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n" + lines.encode() + b"\n" + texels)
        if first[1] == "X" and first[0] == second[0]:
            with pytest.raises(ImageError, match="columns"):
                open_image(path)
            return
        np.testing.assert_array_equal(np.array(open_image(path).mips[0])[..., 0], upright)

    def test_a_tiff_of_tiles_of_doubles(self, tmp_path: Path) -> None:
        tifffile = pytest.importorskip("tifffile")
        values = np.random.default_rng(0).random((40, 40))
        tifffile.imwrite(tmp_path / "a.tif", values, tile=(16, 16))
        with pytest.raises(ImageError, match="64 bits"):
            open_image(tmp_path / "a.tif")
        tifffile.imwrite(tmp_path / "b.tif", values)
        np.testing.assert_array_equal(np.array(open_image(tmp_path / "b.tif").mips[0])[..., 0], values.astype("f4"))

    def test_a_tiff_of_jpeg_with_alpha(self, tmp_path: Path) -> None:
        image = Image.fromarray(np.full((16, 16, 4), 128, np.uint8))
        with pytest.raises(ImageError, match="JPEG"):
            open_image(saved(tmp_path / "a.tif", image, compression="jpeg"))
        assert (np.array(open_image(saved(tmp_path / "b.tif", image)).mips[0]) == 128).all()

    @pytest.mark.parametrize(("kind", "channels"), [(np.uint16, 1), (np.uint32, 1), (np.float32, 1), (np.uint8, 2)])
    def test_a_tiff_in_which_white_is_0(self, tmp_path: Path, kind: type, channels: int) -> None:
        tifffile = pytest.importorskip("tifffile")
        extra = {"photometric": "miniswhite", "planarconfig": "contig", "extrasamples": ["unassalpha"] * (channels - 1)}
        tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 4, channels), kind), **extra)
        with pytest.raises(ImageError, match="white is 0"):
            open_image(tmp_path / "a.tif")
        tifffile.imwrite(tmp_path / "b.tif", np.zeros((4, 4), np.uint8), photometric="miniswhite")
        assert (np.array(open_image(tmp_path / "b.tif").mips[0]) == 255).all()

    @pytest.mark.parametrize(("photometric", "space"), [(8, "CIELAB"), (32845, "LOGLUV")])
    def test_a_tiff_of_other_colours_than_rgb(self, tmp_path: Path, photometric: int, space: str) -> None:
        tifffile = pytest.importorskip("tifffile")
        tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 4, 3), np.uint8), photometric=8)
        data = (tmp_path / "a.tif").read_bytes()
        for tag, old, new in ((262, 8, photometric), (259, 1, 1 if photometric == 8 else 34676)):
            entries = [struct.pack("<2HIHH", tag, 3, 1, number, 0) for number in (old, new)]
            assert data.count(entries[0]) == 1
            data = data.replace(entries[0], entries[1])
        (tmp_path / "a.tif").write_bytes(data)
        with pytest.raises(ImageError, match=space):
            open_image(tmp_path / "a.tif")

    @pytest.mark.parametrize(("name", "options"), [("a.gif", {}), ("a.png", {"bits": 1, "optimize": True})])
    def test_an_image_of_one_colour_is_no_lying_header(self, tmp_path: Path, name: str, options: dict) -> None:
        image = Image.new("P", (8000, 8000))
        image.putpalette([9, 9, 9, 200, 200, 200])
        assert open_image(saved(tmp_path / name, image, **options)).mips[0].shape[:2] == (8000, 8000)

    def test_no_file(self, tmp_path: Path) -> None:
        for path in (tmp_path / "no.png", tmp_path, "a\0b"):
            with pytest.raises(FileError):
                open_image(path)

    @pytest.mark.parametrize(
        "content", [b"", b"this is not an image", b"\x89PNG\r\n\x1a\n", b"DDS ", b"II*\0\xff\xff\xff\xff"]
    )
    def test_no_image(self, tmp_path: Path, content: bytes) -> None:
        for name in ("a.png", "a.dds", "a.tif", "a.exr", "a.null", "a"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ImageError):
                open_image(tmp_path / name)

    @pytest.mark.case(43)
    @pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.exr", "a.webp", "a.bmp", "a.tga", "a.hdr"])
    @pytest.mark.parametrize("part", [0.3, 0.9])
    def test_truncated(self, tmp_path: Path, texels: np.ndarray, name: str, part: float) -> None:
        floats = name in ("a.exr", "a.hdr")
        content = write(
            tmp_path / name, (texels / np.float32(255)).astype(np.float32) if floats else texels
        ).read_bytes()
        (tmp_path / name).write_bytes(content[: int(part * len(content))])
        with pytest.raises(ImageError) as caught:
            read_all(tmp_path / name)
        assert str(tmp_path / name) in caught.value.where

    def test_truncated_dds(self, tmp_path: Path) -> None:
        with pytest.raises(ImageError):
            read_all(dds(tmp_path / "a.dds", 64, 64, 1, b"DXT1", 8, cut=100))

    @pytest.mark.case(42)
    def test_too_many_texels(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.png", np.zeros((20, 30, 1), np.uint8))
        with pytest.raises(ImageError, match="30 x 20"):
            open_image(path, max_texels=599)
        assert open_image(path, max_texels=600).mips[0].shape == (20, 30, 1)

    @pytest.mark.case(24)
    def test_headers_that_lie(self, tmp_path: Path) -> None:
        header = struct.pack(">IIBBBBB", 16_000, 16_000, 8, 2, 0, 0, 0)
        chunks = b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 99)), (b"IEND", b""))
        )
        (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)
        with pytest.raises(ImageError, match="claims"):
            open_image(tmp_path / "a.png")
        with pytest.raises(ImageError, match="claims"):
            open_image(dds(tmp_path / "a.dds", 8192, 8192, 1, b"DXT1", 8, cut=2048 * 2048 * 8 - 99))

    def test_values_that_are_not_finite(self, tmp_path: Path) -> None:
        values = np.zeros((300, 300, 1), np.float32)
        values[200, 7] = np.nan
        texture = TiledTexture.from_source(open_image(write(tmp_path / "a.exr", values)))
        assert not texture.read(int(texture.pages.finest[0, 0])).any(), "other tiles can be read"
        with pytest.raises(ImageError, match="not finite"):
            texture.read(int(texture.pages.finest[1, 0]))

    def test_more_than_four_channels(self, tmp_path: Path) -> None:
        with pytest.raises(ImageError, match="5 channels"):
            open_image(write(tmp_path / "a.exr", np.zeros((4, 4, 5), np.float32)))

    def test_a_file_that_vanishes(self, tmp_path: Path, texels: np.ndarray) -> None:
        source = open_image(write(tmp_path / "a.png", texels))
        (tmp_path / "a.png").unlink()
        with pytest.raises(ImageError, match="cannot be read"):
            source.mips[0][:5]

    @pytest.mark.case(86)
    def test_a_disk_without_space(self, tmp_path: Path, texels: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*arguments: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        source = open_image(write(tmp_path / "a.png", texels))
        monkeypatch.setattr(os, "posix_fallocate", full)
        with pytest.raises(FileError, match="No space"):
            source.mips[1][:]
        assert source.mips[0][:].shape == texels.shape

    def test_a_cache_that_holds_nothing(self) -> None:
        with pytest.raises(HraError, match="too small"):
            TileCache(1000)


class TestWithoutOpenImageIO:
    """What Pillow reads still works."""

    @pytest.fixture(autouse=True)
    def _absent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "OpenImageIO", None)

    def test_pillow_decodes_at_once(self, tmp_path: Path, texels: np.ndarray) -> None:
        source = open_image(saved(tmp_path / "a.png", Image.fromarray(texels)))
        np.testing.assert_array_equal(np.array(source.mips[0]), texels)

    def test_16_bits_become_floats(self, tmp_path: Path) -> None:
        values = np.array([[0, 1, 65535]], np.uint16)
        level = open_image(saved(tmp_path / "a.png", Image.fromarray(values))).mips[0]
        np.testing.assert_allclose(np.array(level)[0, :, 0], values[0] / 65535, rtol=1e-6)

    @pytest.mark.parametrize("name", ["a.exr", "a.dds"])
    def test_other_files_name_the_extra(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(MissingExtra, match="OpenImageIO"):
            open_image(tmp_path / name)


def warned(path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        open_image(path)
    return [str(one.message).partition(": ")[2] for one in caught]


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ((1, 1), []),
        ((4, 1, 5), ["its mask of transparent places was left out"]),
        ((0,), ["the first of several frames was taken"]),
        ((4, 0), ["the first of several frames was taken", "its mask of transparent places was left out"]),
    ],
)
def test_reduced_pictures_of_a_tiff_are_no_frames_and_masks_are_named(
    kinds: tuple[int, ...], said: list[str], tmp_path
):
    tifffile = pytest.importorskip("tifffile")
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        for kind in (0, *kinds):
            texels = np.zeros((32, 32), bool if kind & 4 else np.uint8)
            file.write(texels, photometric="mask" if kind & 4 else "minisblack", subfiletype=kind, metadata=None)
    assert warned(tmp_path / "a.tif") == said


@pytest.mark.parametrize(
    ("window", "cube", "said"),
    [
        ((8, 48, 0, 0), False, []),
        ((9, 50, -1, 0), False, ["the 8 x 48 texels from (0, 0) that it holds were taken, not the 9 x 50 texels"]),
        ((8, 48, 0, 0), True, ["the faces of the cube map were taken for one image"]),
    ],
)
def test_windows_and_cubes_of_exr_are_named(window: tuple[int, ...], cube: bool, said: list[str], tmp_path: Path):
    spec = oiio.ImageSpec(8, 48, 3, oiio.HALF)
    spec.full_width, spec.full_height, spec.full_x, spec.full_y = window
    spec.attribute("abcdef", "x")  # OpenImageIO writes no cubes: this has the length of what says that there is one
    path = tmp_path / "a.exr"
    out = oiio.ImageOutput.create(str(path))
    assert out.open(str(path), spec) and out.write_image(np.zeros((48, 8, 3), np.float32)) and out.close()
    if cube:
        content = path.read_bytes()
        assert content.count(b"abcdef\0string\0\1\0\0\0x") == 1
        path.write_bytes(content.replace(b"abcdef\0string\0\1\0\0\0x", b"envmap\0envmap\0\1\0\0\0\1"))
    assert [what[: len(begin)] for what, begin in zip(warned(path), said, strict=True)] == said


@pytest.mark.parametrize(
    ("channels", "primaries", "said"),
    [
        ("R G B", None, []),
        ("sun.R sun.G sun.B sun.A", (0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329), []),
        ("Y A", None, []),
        ("Z", None, []),
        ("Y right.Y", None, ["its channels Y, right.Y were taken for grey and alpha"]),
        ("N.X N.Y N.Z", None, ["its channels N.X, N.Y, N.Z were taken for red, green and blue"]),
        ("R G B Z", None, ["its channels R, G, B, Z were taken for red, green, blue and alpha"]),
        ("R G B", (1, 0, 0, 1, 0, 0, 1 / 3, 1 / 3), ["its colours have other primaries than those of sRGB"]),
    ],
)
def test_channels_and_primaries_of_exr_are_named(
    channels: str, primaries: tuple[float, ...] | None, said: list[str], tmp_path: Path
):
    names = channels.split()
    spec = oiio.ImageSpec(4, 4, len(names), oiio.FLOAT)
    spec.channelnames = names
    if primaries:
        spec.attribute("chromaticities", "float[8]", primaries)
    out = oiio.ImageOutput.create(str(tmp_path / "a.exr"))
    texels = np.arange(len(names), dtype=np.float32) + np.zeros((4, 4, 1), np.float32)
    assert out.open(str(tmp_path / "a.exr"), spec) and out.write_image(texels) and out.close()
    found = warned(tmp_path / "a.exr")
    assert [what[: len(begin)] for what, begin in zip(found, said, strict=True)] == said


@pytest.mark.parametrize("normals", [False, True])
def test_normals_in_dxt5_are_not_in_srgb(normals: bool, tmp_path: Path):
    content = bytearray(saved(tmp_path / "a.dds", Image.new("RGBA", (8, 8)), pixel_format="DXT5").read_bytes())
    flags = struct.unpack_from("<I", content, 80)[0]
    struct.pack_into("<I", content, 80, flags | (0x80000000 if normals else 0))
    (tmp_path / "a.dds").write_bytes(content)
    assert open_image(tmp_path / "a.dds").srgb is not normals


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("EXPOSURE=1.0", False),
        ("GAMMA= 1", False),
        ("PRIMARIES=.640 .330 .290 .600 .150 .060 .333 .333", False),
        ("SOFTWARE=2", False),
        ("EXPOSURE=2", True),
        ("COLORCORR=1 1.2 1", True),
        ("GAMMA=2.2", True),
        ("PRIMARIES=1 0 0 1 0 0 .333 .333", True),
        ("PRIMARIES=1 0", True),
        ("EXPOSURE=two", True),
    ],
)
def test_what_hdr_says_of_its_light_is_named(line: str, named: bool, tmp_path: Path):
    head = f"#?RADIANCE\n{line}\nFORMAT=32-bit_rle_rgbe\n\n-Y 8 +X 8\n"
    (tmp_path / "a.hdr").write_bytes(head.encode() + bytes([90, 100, 110, 128]) * 64)
    assert [what.split(" of ")[0] for what in warned(tmp_path / "a.hdr")] == ["its " + line.split("=")[0]] * named
