from __future__ import annotations

from dataclasses import replace

import moderngl
import pytest

from hra.errors import BackendUnavailable
from hra.kernels.raster import Context, HiZ, VisibilityBuffer, functions
from tests.helpers.context_cases import draw


def lose(context: Context, **failing) -> None:
    """Make the driver report what it reports after a reset, or without memory."""
    context.functions = replace(context.functions, **failing)


@pytest.mark.parametrize(
    ("failing", "message"),
    [
        ({"GetGraphicsResetStatus": lambda: 0x8254}, "lost"),
        ({"GetError": lambda: functions.CONTEXT_LOST}, "lost"),
        ({"GetError": lambda: functions.OUT_OF_MEMORY}, "out of memory"),
        ({"GetError": lambda: 0x0502}, "0x0502"),
    ],
)
def test_what_drivers_report_is_a_typed_error(failing, message):
    with Context() as context:
        lose(context, **failing)
        with pytest.raises(BackendUnavailable, match=message):
            draw(context, 1)


def test_an_adopted_context_keeps_its_state_and_life():
    names = [functions.DEPTH_FUNC, functions.CLIP_ORIGIN, functions.CLIP_DEPTH_MODE, 0x8CA6, 0x0BE2, 0x0B44, 0x0B71]
    user = moderngl.create_context(standalone=True, backend="egl", require=450)  # pyright: ignore[reportArgumentType]
    framebuffer = user.simple_framebuffer((8, 8))
    framebuffer.use()
    user.enable(moderngl.CULL_FACE | moderngl.BLEND)
    user.depth_func = "<="
    with Context(user) as guest:
        before = [guest.functions.integer(name) for name in names]
        assert (draw(guest, 9) == 9).all()
        with VisibilityBuffer(guest, (7, 5), reversed_depth=True) as buffer, HiZ(buffer) as hiz:
            hiz.build()
            assert (hiz.pyramid().data == 0).all()
        assert [guest.functions.integer(name) for name in names] == before and user.fbo is framebuffer
    assert user.error == "GL_NO_ERROR" and framebuffer.read(components=1) == bytes(64)
    user.release()
