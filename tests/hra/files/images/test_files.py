"""Image files of every kind that Pillow writes, and the ones that are refused; arrays as images."""

from __future__ import annotations

import contextlib
import math
import os
import struct
import sys
import threading
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError, ImageError, MissingExtra, RepairWarning
from hra.files.images import MAX_PIXELS, load_image, save_png
from tests.helpers.files_cases import COLORS, encoded

Image = pytest.importorskip("PIL.Image")

WEIGHTS = [0.299, 0.587, 0.114]


# Any warning that a test does not expect is an error, those of Pillow included.
pytestmark = pytest.mark.filterwarnings("error")


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(size: tuple[int, int], depth: int, color_type: int, rows: bytes, extra: bytes = b"") -> bytes:
    """A PNG written by hand, for what Pillow does not write."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, color_type, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write(folder: Path, content: bytes, name: str = "image.png") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


class TestModes:
    """Cases 44-47: 16-bit and float, CMYK, palette and alpha, 1-bit."""

    def test_rgb_is_exact(self, tmp_path: Path):
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(COLORS))))
        assert loaded.dtype == np.float32 and loaded.shape == (3, 2, 3)
        np.testing.assert_array_equal(loaded, (COLORS / np.float32(255)).astype(np.float32))

    @pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF", "BMP", "TGA", "JPEG2000", "PPM", "GIF", "JPEG", "AVIF"])
    def test_every_format(self, tmp_path: Path, kind: str):
        options = {"WEBP": {"lossless": True}, "AVIF": {"quality": 100, "subsampling": "4:4:4"}}.get(kind, {})
        large = np.kron(COLORS, np.ones((8, 8, 1), np.uint8))
        path = write(tmp_path, encoded(Image.fromarray(large), kind, **options), "no_extension")
        # It halves the resolution of colours; its colours are other ones by rounding.
        tolerance = {"JPEG": 0.15, "AVIF": 0.01}.get(kind, 1e-6)
        np.testing.assert_allclose(load_image(path)[4::8, 4::8], COLORS / 255, atol=tolerance)

    def test_gray_mode_is_luma(self, tmp_path: Path):
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(COLORS))), mode="gray")
        assert loaded.shape == (3, 2, 1) and loaded.max() <= 1
        np.testing.assert_allclose(loaded[..., 0], COLORS / 255 @ WEIGHTS, atol=1e-6)

    def test_gray_file(self, tmp_path: Path):
        values = np.arange(6, dtype=np.uint8).reshape(2, 3) * 51
        path = write(tmp_path, encoded(Image.fromarray(values)))
        np.testing.assert_allclose(load_image(path, mode="gray")[..., 0], values / 255)
        np.testing.assert_allclose(load_image(path), np.repeat(values[..., None] / 255, 3, 2))

    @pytest.mark.case(44)
    @pytest.mark.parametrize(("name", "kind"), [("a.png", "PNG"), ("a.tif", "TIFF"), ("a.pgm", "PPM")])
    def test_16_bit_gray_keeps_its_steps(self, tmp_path: Path, name: str, kind: str):
        values = np.array([[0, 1, 257, 32768, 65534, 65535]], np.uint16)
        by_hand = b"P5 6 1 65535\n" + values.astype(">u2").tobytes()  # Pillow writes none before 11
        content = by_hand if kind == "PPM" else encoded(Image.fromarray(values), kind)
        loaded = load_image(write(tmp_path, content, name), mode="gray")
        np.testing.assert_allclose(loaded[0, :, 0], values[0] / 65535, rtol=1e-6)

    def test_big_endian_16_bit_tiff(self, tmp_path: Path):
        values = np.array([[1, 256, 65535]], np.uint16)
        tifffile = pytest.importorskip("tifffile")
        tifffile.imwrite(tmp_path / "big.tif", values, byteorder=">")
        np.testing.assert_allclose(load_image(tmp_path / "big.tif")[0, :, 0], values[0] / 65535, rtol=1e-6)

    def test_16_bit_color_keeps_its_range(self, tmp_path: Path):
        values = [0, 32768, 65535, 256, 257, 65280]
        rows = b"\0" + struct.pack(">6H", *values)
        loaded = load_image(write(tmp_path, png((2, 1), 16, 2, rows)))
        np.testing.assert_allclose(loaded.ravel(), np.array(values) / 65535, atol=1 / 255)
        assert loaded.max() == 1

    def test_16_bit_gray_with_a_transparent_value(self, tmp_path: Path):
        rows = b"\0" + struct.pack(">3H", 3, 4, 65535)
        loaded = load_image(
            write(tmp_path, png((3, 1), 16, 0, rows, chunk(b"tRNS", struct.pack(">H", 3)))), mode="gray"
        )
        np.testing.assert_allclose(loaded.ravel(), [1, 4 / 65535, 1], rtol=1e-6)

    @pytest.mark.case(44)
    @pytest.mark.parametrize("kind", [np.uint16, np.float32])
    def test_a_deep_tiff_in_which_white_is_0(self, kind: type, tmp_path: Path):
        tifffile = pytest.importorskip("tifffile")
        tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 4), kind), photometric="miniswhite")
        with pytest.raises(ImageError, match="white is 0"):
            load_image(tmp_path / "a.tif")

    @pytest.mark.parametrize(
        ("tags", "usual"),
        [({}, True), ({529: (0.2126, 0.7152, 0.0722)}, False), ({532: (16, 235, 128, 240, 128, 240)}, False)],
    )
    def test_a_tiff_in_ycbcr_is_right_or_refused(self, tags: dict[int, tuple[float, ...]], usual: bool, tmp_path: Path):
        green = Image.new("YCbCr", (2, 2), (150, 44, 21))
        green.save(tmp_path / "a.tif", tiffinfo=tags)
        if usual:
            np.testing.assert_allclose(load_image(tmp_path / "a.tif")[0, 0], [0, 1, 0], atol=0.01)
            return
        with pytest.raises(ImageError, match="YCbCr of other coefficients"):
            load_image(tmp_path / "a.tif")

    @pytest.mark.parametrize(
        ("kind", "channels", "packed"),
        [
            (np.uint16, 3, None),
            (np.uint16, 4, None),
            (np.uint8, 2, "zlib"),
            (np.uint16, 3, "zlib"),
            (np.uint8, 3, None),
        ],
    )
    def test_channels_of_a_tiff_that_lie_one_behind_another_are_right_or_refused(
        self, kind: type, channels: int, packed: str | None, tmp_path: Path
    ):
        tifffile, full = pytest.importorskip("tifffile"), np.iinfo(kind).max
        ramp = np.linspace(0, full, 600).reshape(20, 30).astype(kind)
        planes = np.stack([ramp, ramp[::-1], ramp[:, ::-1], np.full_like(ramp, full)])[-channels:]
        look = {"photometric": "rgb" if channels > 2 else "minisblack", "compression": packed or None}
        extra = None if channels == 3 else ["unassalpha"]
        tifffile.imwrite(tmp_path / "a.tif", planes, planarconfig="separate", extrasamples=extra, **look)
        if (packed is None and kind == np.uint16) or channels == 2:
            with pytest.raises(ImageError, match=f"one behind another, {channels} of {8 * ramp.itemsize} bits"):
                load_image(tmp_path / "a.tif")
        else:
            seen = load_image(tmp_path / "a.tif")
            np.testing.assert_allclose(seen, planes.transpose(1, 2, 0) / full, atol=1 / 255)

    @pytest.mark.parametrize("kind", [np.int8, np.int16])
    def test_a_tiff_of_numbers_with_a_sign(self, kind: type, tmp_path: Path):
        tifffile = pytest.importorskip("tifffile")
        tifffile.imwrite(tmp_path / "a.tif", np.full((4, 4), 5, kind), photometric="minisblack")
        with pytest.raises(ImageError, match=f"{8 * kind().itemsize} bits with a sign"):
            load_image(tmp_path / "a.tif")

    def test_a_tiff_of_12_bits_is_as_bright_as_it_says(self, tmp_path: Path):
        # Written by hand: no writer at hand packs 12 bits. Two pixels, 0xFFF and 0x800, in three bytes.
        entries = [(256, 2), (257, 1), (258, 12), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 3)]
        directory = b"".join(struct.pack("<HHIHH", tag, 3, 1, value, 0) for tag, value in entries)
        head = b"II*\0" + struct.pack("<I", 12) + bytes([0xFF, 0xF8, 0x00, 0])
        path = write(tmp_path, head + struct.pack("<H", len(entries)) + directory + bytes(4), "a.tif")
        np.testing.assert_allclose(load_image(path, mode="gray")[0, :, 0], [1, 0x800 / 0xFFF], atol=1e-6)

    def test_float_tiff(self, tmp_path: Path):
        values = np.array([[0, 0.1234567, 1]], np.float32)
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(values), "TIFF"), "a.tif"), mode="gray")
        np.testing.assert_array_equal(loaded[..., 0], values)

    def test_float_outside_the_range_is_clipped(self, tmp_path: Path):
        path = write(tmp_path, encoded(Image.fromarray(np.array([[-1, 0.5, 7]], np.float32)), "TIFF"), "a.tif")
        with pytest.warns(RepairWarning, match=r"a.tif: image values from -1 to 7"):
            assert load_image(path)[0, :, 0].tolist() == [0, 0.5, 1]

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_float_that_is_not_finite_is_refused(self, tmp_path: Path, value: float):
        values = np.zeros((700, 700), np.float32)  # several strips
        values[600, 5] = value
        path = write(tmp_path, encoded(Image.fromarray(values), "TIFF"), "a.tif")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RepairWarning)
            with pytest.raises(ImageError, match="row 600, column 5"):
                load_image(path)

    def test_32_bit_integers_are_refused(self, tmp_path: Path):
        path = write(tmp_path, encoded(Image.fromarray(np.array([[0, 70000]], np.int32)), "TIFF"), "a.tif")
        with pytest.raises(ImageError, match="70000") as caught:
            load_image(path)
        assert caught.value.where == str(path)

    @pytest.mark.case(45)
    def test_cmyk(self, tmp_path: Path):
        inks = np.array([[[0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 255, 0], [0, 0, 0, 255]]], np.uint8)
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(inks, "CMYK"), "TIFF"), "a.tif"))
        np.testing.assert_array_equal(loaded[0], [[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0]])

    def test_cmyk_jpeg(self, tmp_path: Path):
        image = Image.new("CMYK", (16, 16), (255, 0, 0, 0))
        loaded = load_image(write(tmp_path, encoded(image, "JPEG"), "a.jpg"))
        np.testing.assert_allclose(loaded, np.broadcast_to([0, 1, 1], loaded.shape), atol=0.02)

    @pytest.mark.case(46)
    def test_palette(self, tmp_path: Path):
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(COLORS).quantize(6))))
        np.testing.assert_allclose(loaded, COLORS / 255, atol=1e-6)

    @pytest.mark.case(46)
    @pytest.mark.parametrize("transparency", [0, b"\x00\xff\x80"])
    def test_palette_with_transparency(self, tmp_path: Path, transparency: int | bytes):
        image = Image.new("P", (3, 1))
        image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
        image.putdata([0, 1, 2])
        loaded = load_image(write(tmp_path, encoded(image, transparency=transparency)))
        last = [0, 0, 1] if transparency == 0 else [127 / 255, 127 / 255, 1]
        np.testing.assert_allclose(loaded[0], [[1, 1, 1], [0, 1, 0], last], atol=1e-6)

    def test_alpha_is_laid_over_white(self, tmp_path: Path):
        values = np.array([[[255, 0, 0, 255], [255, 0, 0, 51], [9, 9, 9, 0]]], np.uint8)
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(values))))
        np.testing.assert_allclose(loaded[0], [[1, 0, 0], [1, 0.8, 0.8], [1, 1, 1]], atol=1e-6)

    @pytest.mark.parametrize(
        ("ink", "vanishes"), [((255, 255, 255), True), ((252, 250, 255), True), ((9, 9, 9), False)]
    )
    def test_what_is_white_on_nothing_is_told(self, tmp_path: Path, ink: tuple[int, int, int], vanishes: bool):
        pixels = np.zeros((40, 40, 4), np.uint8)
        pixels[10:20, 5:35] = (*ink, 255)
        path = write(tmp_path, encoded(Image.fromarray(pixels)))
        with pytest.warns(RepairWarning, match="are white") if vanishes else contextlib.nullcontext():
            assert (load_image(path).min() > 0.9) == vanishes
        page = np.full((40, 40, 4), 255, np.uint8)  # as a window on the screen: corners alone are transparent
        page[:2, :2] = 0
        assert load_image(write(tmp_path, encoded(Image.fromarray(page)))).min() == 1

    def test_gray_with_alpha(self, tmp_path: Path):
        values = np.array([[[0, 255], [0, 51], [9, 0]]], np.uint8)
        path = write(tmp_path, encoded(Image.fromarray(values, "LA")))
        for mode in ("rgb", "gray"):
            np.testing.assert_allclose(load_image(path, mode=mode)[0, :, 0], [0, 0.8, 1], atol=1e-6)

    def test_transparent_color(self, tmp_path: Path):
        path = write(tmp_path, encoded(Image.fromarray(COLORS), transparency=(0, 0, 255)))
        np.testing.assert_allclose(load_image(path)[1], [[1, 1, 1], [10 / 255, 20 / 255, 30 / 255]], atol=1e-6)

    @pytest.mark.case(47)
    def test_one_bit(self, tmp_path: Path):
        values = np.array([[True, False, True], [False, False, True]])
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(values))))
        np.testing.assert_array_equal(loaded, np.repeat(values[..., None], 3, 2))

    @pytest.mark.parametrize("size", [(1, 1), (1, 37), (37, 1), (20000, 1), (1, 20000), (1031, 517)])
    def test_any_size(self, tmp_path: Path, size: tuple[int, int]):
        """Cases 40, 41 and 51, and more rows than one strip."""
        values = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), np.uint8)
        loaded = load_image(write(tmp_path, encoded(Image.fromarray(values))))
        np.testing.assert_array_equal(loaded, (values / np.float32(255)).astype(np.float32))


class TestOrientation:
    """Case 48, the 8 EXIF orientations, and 49, corrupt EXIF data."""

    # Where the stored first row and first column belong, by the EXIF standard: the letter F, upright and as stored.
    UPRIGHT = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]], np.uint8) * 255
    STORED: ClassVar[dict[int, Callable[[np.ndarray], np.ndarray]]] = {
        1: lambda a: a,  # top, left
        2: lambda a: a[:, ::-1],  # top, right
        3: lambda a: a[::-1, ::-1],  # bottom, right
        4: lambda a: a[::-1],  # bottom, left
        5: lambda a: a.T,  # left, top
        6: lambda a: a[:, ::-1].T,  # right, top
        7: lambda a: a[::-1, ::-1].T,  # right, bottom
        8: lambda a: a[::-1].T,  # left, bottom
    }

    @pytest.mark.case(48)
    @pytest.mark.parametrize("orientation", range(1, 9))
    @pytest.mark.parametrize(
        ("kind", "options"), [("PNG", {}), ("WEBP", {"lossless": True}), ("TIFF", {}), ("JPEG", {}), ("AVIF", {})]
    )
    def test_upright(self, tmp_path: Path, orientation: int, kind: str, options: dict):
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored = np.kron(self.STORED[orientation](self.UPRIGHT), np.ones((8, 8), np.uint8))
        path = write(tmp_path, encoded(Image.fromarray(stored), kind, exif=exif, **options), f"a.{kind.lower()}")
        loaded = load_image(path, mode="gray")[..., 0]
        assert loaded.shape == (32, 24)
        np.testing.assert_allclose(loaded[4::8, 4::8], self.UPRIGHT / 255, atol=0.1)

    @pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16"])
    def test_every_mode_can_be_turned(self, tmp_path: Path, mode: str):
        exif = Image.Exif()
        exif[0x0112] = 6
        image = Image.new(mode, (5, 2))
        assert load_image(write(tmp_path, encoded(image, exif=exif))).shape == (5, 2, 3)

    @pytest.mark.case(49)
    @pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
    @pytest.mark.parametrize(
        "exif",
        [
            b"Exif\0\0garbage that is not a TIFF header",
            b"Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01",  # 65535 entries, cut short
            b"Exif\0\0MM\0*\xff\xff\xff\xff",  # a directory far beyond the end
            b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0\0\0\0\0",  # orientation 9
            b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x01\0\0\0x\0\0\0\0\0\0\0",  # a letter
        ],
    )
    def test_corrupt_exif(self, tmp_path: Path, kind: str, exif: bytes):
        path = write(tmp_path, encoded(Image.new("RGB", (5, 2)), kind, exif=exif), f"a.{kind.lower()}")
        with pytest.warns(RepairWarning, match="EXIF") as caught:
            assert load_image(path).shape == (2, 5, 3)
        assert len(caught) == 1


class TestAnimated:
    """Case 50: the first frame, with a warning."""

    @pytest.mark.case(50)
    @pytest.mark.parametrize(
        ("kind", "name"),
        [("GIF", "a.gif"), ("PNG", "a.png"), ("WEBP", "a.webp"), ("TIFF", "a.tif"), ("AVIF", "a.avif")],
    )
    def test_first_frame(self, tmp_path: Path, kind: str, name: str):
        frames = [Image.new("RGB", (4, 3), color) for color in ("red", "lime", "blue")]
        options = {"lossless": True} if kind == "WEBP" else {}
        content = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        with pytest.warns(RepairWarning, match="first of several frames"):
            loaded = load_image(write(tmp_path, content, name))
        np.testing.assert_allclose(loaded, np.broadcast_to([1, 0, 0], (3, 4, 3)), atol=0.01 if kind == "AVIF" else 0)


class TestRefused:
    """Case 42, pixel bombs, 43, truncated files, and what is not an image at all."""

    @pytest.mark.case(42)
    @pytest.mark.parametrize("size", [(8192, 8192), (30000, 30000), (2**31 - 1, 2**31 - 1)])
    def test_pixel_bomb(self, tmp_path: Path, size: tuple[int, int]):
        path = write(tmp_path, png(size, 8, 2, b"\0" * 1000))
        with pytest.raises(ImageError, match="pixels"):
            load_image(path)

    def test_the_limit_is_the_callers(self, tmp_path: Path):
        path = write(tmp_path, encoded(Image.new("L", (10, 10))))
        assert load_image(path, max_pixels=100).shape == (10, 10, 3)
        with pytest.raises(ImageError, match="10 x 10") as caught:
            load_image(path, max_pixels=99)
        assert str(path) in caught.value.where and "max_pixels" in caught.value.fix
        assert MAX_PIXELS >= 4096**2

    @pytest.mark.case(43)
    @pytest.mark.parametrize(
        ("kind", "name"),
        [("PNG", "a.png"), ("JPEG", "a.jpg"), ("WEBP", "a.webp"), ("TIFF", "a.tif"), ("AVIF", "a.avif")],
    )
    @pytest.mark.parametrize("kept", [0.9, 0.5, 0.1])
    def test_truncated(self, tmp_path: Path, kind: str, name: str, kept: float):
        noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
        content = encoded(Image.fromarray(noise), kind)
        path = write(tmp_path, content[: int(len(content) * kept)], name)
        with pytest.raises(ImageError) as caught:
            load_image(path)
        assert str(path) in caught.value.where

    @pytest.mark.parametrize(
        "content", [b"", b"no image", b"\x89PNG\r\n\x1a\n", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"\xff\xd8"]
    )
    def test_not_an_image(self, tmp_path: Path, content: bytes):
        with pytest.raises(ImageError):
            load_image(write(tmp_path, content))

    def test_files_that_are_none(self, tmp_path: Path):
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "missing.png", tmp_path, tmp_path / "pipe", tmp_path / "a\0b", tmp_path / ("x" * 300)):
            with pytest.raises(FileError):
                load_image(path)

    def test_unknown_mode(self, tmp_path: Path):
        path = write(tmp_path, encoded(Image.new("L", (1, 1))))
        with pytest.raises(ImageError, match="mode"):
            load_image(path, mode="hsv")  # pyright: ignore[reportArgumentType]

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP", "TGA", "PPM", "AVIF"])
    @given(st.data())
    def test_damaged_files_give_an_image_or_a_typed_error(self, tmp_path_factory, kind: str, data: st.DataObject):
        noise = np.random.default_rng(1).integers(0, 256, (9, 7, 3), np.uint8)
        content = bytearray(encoded(Image.fromarray(noise), kind))
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path = write(tmp_path_factory.mktemp("damaged"), bytes(content), f"a.{kind.lower()}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RepairWarning)
            try:
                loaded = load_image(path, max_pixels=10**6)
            except ImageError:
                return
        assert loaded.ndim == 3 and ((loaded >= 0) & (loaded <= 1)).all()

    def test_without_pillow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        path = write(tmp_path, encoded(Image.new("L", (1, 1))))
        monkeypatch.setitem(sys.modules, "PIL", None)
        with pytest.raises(MissingExtra, match="textures"):
            load_image(path)
        with pytest.raises(MissingExtra, match="textures"):
            save_png(path, np.zeros((1, 1)))


def test_threads_leave_the_warning_filters_alone(tmp_path: Path):
    path = write(tmp_path, encoded(Image.new("RGB", (64, 64)), "JPEG"), "a.jpg")
    before = list(warnings.filters)
    threads = [threading.Thread(target=lambda: [load_image(path) for _ in range(20)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before
