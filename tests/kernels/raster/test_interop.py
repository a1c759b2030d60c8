"""OpenGL buffers as Warp arrays; a copy here, where there is no CUDA."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hra.errors import ArrayError
from hra.kernels import build_pyramid, rect_max
from hra.kernels.backends import load_warp
from hra.kernels.pyramids.levels.pyramid import Pyramid
from hra.kernels.raster import HiZ, VisibilityBuffer, interop, warp_array

VALUES = np.arange(12, dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.uint32, np.uint8])
def test_a_buffer_arrives_as_a_warp_array(context, dtype):
    with context.use() as gl:
        buffer = gl.buffer(VALUES.astype(dtype))
    with warp_array(context, buffer, dtype, (3, 4)) as array:
        np.testing.assert_array_equal(array.numpy(), VALUES.astype(dtype).reshape(3, 4))
    with warp_array(context, buffer, dtype, (5,)) as array:
        assert array.shape == (5,)


def test_a_depth_pyramid_goes_to_warp_and_torch(context):
    torch, wp = pytest.importorskip("torch"), load_warp()
    with VisibilityBuffer(context, (6, 5)) as target, HiZ(target) as hiz:
        hiz.build()
        with warp_array(context, hiz.buffer, np.float32, (hiz.layout.size,)) as array:
            tensor = wp.to_torch(array)
            assert tensor.data_ptr() == array.ptr and tensor.dtype == torch.float32
            pyramid = Pyramid(tensor, hiz.layout, hiz.reduce)
            assert rect_max(pyramid, torch.tensor([[0, 0, 5, 4]], dtype=torch.int32)).tolist() == [1]
    np.testing.assert_array_equal(tensor.numpy(), build_pyramid(np.ones((5, 6, 1), np.float32), "max").data)


def test_a_buffer_that_is_too_small_is_refused(context):
    with context.use() as gl:
        buffer = gl.buffer(VALUES)
    with pytest.raises(ArrayError, match="is too small for"), warp_array(context, buffer, np.float32, (13,)):
        pass


def test_with_cuda_the_mapped_buffer_itself_is_given_out(context, monkeypatch):
    """Not a run on CUDA: it checks what is asked of Warp, and that the buffer is unmapped after an error, too."""
    calls = []

    def register(name, device, fallback_to_copy):
        calls.append((name, device, fallback_to_copy))
        return SimpleNamespace(map=lambda dtype, shape: ("mapped", shape), unmap=lambda: calls.append("unmapped"))

    wp = load_warp()
    monkeypatch.setattr(wp, "is_cuda_available", lambda: True)
    monkeypatch.setattr(wp, "get_cuda_device", lambda: "cuda:0")
    monkeypatch.setattr(wp, "RegisteredGLBuffer", register)
    with context.use() as gl:
        buffer = gl.buffer(VALUES)
    with pytest.raises(ZeroDivisionError), warp_array(context, buffer, np.float32, (2, 6)) as array:
        assert array == ("mapped", (2, 6))
        raise ZeroDivisionError
    assert calls == [(buffer.glo, "cuda:0", False), "unmapped"]
    with warp_array(context, buffer, np.float32, (12,)):
        pass
    assert calls[2:] == ["unmapped"], "a buffer is registered once"


def test_where_cuda_does_not_know_the_buffer_it_is_copied(context, monkeypatch):
    wp = load_warp()
    monkeypatch.setattr(wp, "is_cuda_available", lambda: True)
    monkeypatch.setattr(interop, "_register", lambda wp, buffer: None)
    with context.use() as gl:
        buffer = gl.buffer(VALUES)
    with warp_array(context, buffer, np.float32, (12,)) as array:
        assert str(array.device) == "cpu"


def test_numpy_torch_and_warp_share_memory_on_the_host():
    torch, wp = pytest.importorskip("torch"), load_warp()
    array = VALUES.copy()
    warp_view = wp.array(array, dtype=wp.float32, device="cpu", copy=False)
    views = [torch.from_numpy(array), warp_view, wp.to_torch(warp_view), wp.from_torch(torch.from_numpy(array))]
    array[3] = 77
    for view in views:
        assert np.asarray(view.numpy())[3] == 77
    torch.from_numpy(array)[4] = 78
    assert warp_view.numpy()[4] == 78


def test_an_opengl_buffer_is_a_copy_in_both_directions(context):
    array = VALUES.copy()
    with context.use() as gl:
        buffer = gl.buffer(array)
        array[0] = 99
        back = np.frombuffer(buffer.read(), np.float32)
    assert back[0] == 0
    with warp_array(context, buffer, np.float32, (12,)) as copy:
        copy.fill_(5)
    with context.use():
        assert np.frombuffer(buffer.read(), np.float32)[1] == 1


def test_a_warp_texture_holds_a_copy():
    wp = load_warp()
    image = np.ones((4, 4), np.float32)
    texture, found = wp.Texture2D(image, device="cpu"), wp.zeros((4, 4), dtype=wp.float32, device="cpu")
    image[:] = 7
    texture.copy_to(found)
    assert (found.numpy() == 1).all()
