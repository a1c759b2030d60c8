from __future__ import annotations

import io
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError, ImageError
from hra.files.images import as_image, load_image, save_png
from tests.helpers.files_cases import COLORS, encoded

Image = pytest.importorskip("PIL.Image")


class TestAsImage:
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64, ">u2"])
    @pytest.mark.parametrize("shape", [(2, 3), (2, 3, 1), (2, 3, 3)])
    def test_dtypes_and_shapes(self, dtype, shape: tuple[int, ...]):
        top = 1 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
        values = (np.random.default_rng(0).random(shape) * top).astype(dtype)
        image = as_image(values)
        assert image.dtype == np.float32 and image.shape == (2, 3, 3)
        np.testing.assert_allclose(image[..., 0], values.reshape(2, 3, -1)[..., 0] / float(top), rtol=1e-6)

    def test_alpha_is_laid_over_white(self):
        np.testing.assert_allclose(as_image([[[1.0, 0.0, 0.5, 0.5]]]), [[[1, 0.5, 0.75]]])

    def test_files_that_are_open_and_their_bytes_are_refused(self, tmp_path: Path):
        (tmp_path / "a.png").write_bytes(b"12345")
        with open(tmp_path / "a.png", "rb") as stream:
            for given_bytes in (stream, io.BytesIO(b"12345"), b"12345", bytearray(b"12345")):
                with pytest.raises(ImageError, match="holds the bytes of a file, not pixels"):
                    as_image(given_bytes)
            assert stream.read() == b"12345"

    @given(st.integers(0, 2**32 - 1))
    def test_alpha_stays_in_range(self, seed: int):
        image = as_image(np.random.default_rng(seed).random((9, 9, 4), np.float32))
        assert ((image >= 0) & (image <= 1)).all()

    def test_no_copy_where_nothing_changes(self):
        values = np.zeros((2, 2, 3), np.float32)
        assert np.shares_memory(as_image(values), values)

    def test_torch_and_dlpack(self):
        torch = pytest.importorskip("torch")
        values = torch.rand(6, 5, 3, requires_grad=True)
        np.testing.assert_array_equal(as_image(values), values.detach().numpy())

        class OnlyDlpack:
            __dlpack__ = values.detach().__dlpack__
            __dlpack_device__ = values.detach().__dlpack_device__

        np.testing.assert_array_equal(as_image(OnlyDlpack()), values.detach().numpy())
        coarse = values.detach().bfloat16()
        np.testing.assert_array_equal(as_image(coarse), coarse.float().numpy())

    def test_pillow_images(self):
        np.testing.assert_allclose(as_image(Image.fromarray(COLORS).quantize(6)), COLORS / 255, atol=1e-6)
        truncated = Image.open(io.BytesIO(encoded(Image.new("RGB", (64, 64)), "BMP")[:100]))
        with pytest.raises(ImageError, match="Pillow"):
            as_image(truncated)

    @pytest.mark.case(52)
    @pytest.mark.parametrize(
        ("value", "index"), [(math.nan, (1, 0, 2)), (math.inf, (0, 1, 0)), (-0.1, (1, 1, 1)), (1.5, (0, 0, 0))]
    )
    def test_the_first_bad_value_is_named(self, value: float, index: tuple[int, int, int]):
        """Case 52."""
        values = np.zeros((2, 2, 3))
        values[index] = values[1, 1, 2] = value
        with pytest.raises(ImageError) as caught:
            as_image(values)
        assert caught.value.where == f"array{list(index)}"

    @pytest.mark.case(53)
    @pytest.mark.parametrize(
        "values",
        [
            np.zeros(3),
            np.zeros((2, 3, 4, 5)),
            np.zeros((5, 8, 8)),
            np.zeros((2, 2, 2)),
            np.zeros((0, 4, 3)),
            np.zeros((4, 4), bool),
            np.zeros((4, 4), np.int64),
            np.zeros((4, 4), complex),
            np.full((4, 4), None),
            [["a"]],
            [[1.0], [1.0, 2.0]],
            None,
            object(),
        ],
    )
    def test_other_layouts_and_dtypes_are_refused(self, values):
        """Case 53."""
        with pytest.raises(ImageError):
            as_image(values)


class TestChannelsFirst:
    def test_channels_may_come_first(self):
        image = np.random.default_rng(0).random((5, 7, 3), np.float32)
        whole = np.rint(image * 255).astype(np.uint8)
        assert np.array_equal(as_image(image.transpose(2, 0, 1)), image)
        assert np.array_equal(as_image(whole.transpose(2, 0, 1)), as_image(whole))
        assert as_image(image[..., :1].transpose(2, 0, 1)).shape == (5, 7, 3)

    def test_where_both_axes_may_be_channels_they_are_the_last(self):
        rows = np.random.default_rng(0).random((3, 7, 3), np.float32)
        assert np.array_equal(as_image(rows), rows)

    def test_a_tensor_that_may_be_either_is_refused(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(ImageError, match="first or last"):
            as_image(torch.zeros(3, 7, 4))
        assert as_image(torch.zeros(3, 7, 5)).shape == (7, 5, 3)


class TestSavePng:
    @pytest.mark.parametrize(("shape", "mode"), [((5, 4), "L"), ((5, 4, 1), "L"), ((5, 4, 3), "RGB")])
    def test_round_trip(self, tmp_path: Path, shape: tuple[int, ...], mode: str):
        values = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        save_png(tmp_path / "a.png", values)
        with Image.open(tmp_path / "a.png") as image:
            assert image.mode == mode
        np.testing.assert_array_equal(load_image(tmp_path / "a.png"), as_image(values))
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.png"]

    def test_rounds_to_the_nearest_step(self, tmp_path: Path):
        save_png(tmp_path / "a.png", np.array([[0.4 / 255, 0.6 / 255, 1.0]]))
        np.testing.assert_allclose(load_image(tmp_path / "a.png", mode="gray").ravel() * 255, [0, 1, 255])

    def test_a_failure_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        save_png(tmp_path / "a.png", np.zeros((2, 2)))
        before = (tmp_path / "a.png").read_bytes()

        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FileError, match="No space left"):
            save_png(tmp_path / "a.png", np.ones((2, 2)))
        assert (tmp_path / "a.png").read_bytes() == before
        assert len(list(tmp_path.iterdir())) == 1

    def test_bad_places_and_images(self, tmp_path: Path):
        with pytest.raises(FileError):
            save_png(tmp_path / "missing" / "a.png", np.zeros((2, 2)))
        with pytest.raises(FileError):
            save_png(tmp_path, np.zeros((2, 2)))
        with pytest.raises(ImageError):
            save_png(tmp_path / "a.png", np.full((2, 2), math.nan))
        assert not list(tmp_path.iterdir())
