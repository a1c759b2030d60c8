"""Contexts: one per thread, typed errors for all that drivers do, and guests that leave no trace."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import moderngl
import numpy as np
import pytest

from hra.errors import ArrayError, BackendUnavailable, HraError, MissingExtra
from hra.kernels.raster import Context, DrawList, VisibilityBuffer
from tests.helpers.context_cases import TRIANGLE, draw


def test_a_context_names_its_renderer_and_version(context):
    assert context.renderer and context.version.startswith("4.")


def test_each_thread_draws_in_a_context_of_its_own():
    def work(number: int) -> bool:
        with Context() as own:
            return all((draw(own, number + k) == number + k).all() for k in range(10))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(0, 80, 10)))


def test_another_thread_is_refused(context):
    raised: list[HraError] = []

    def work() -> None:
        try:
            draw(context, 1)
        except HraError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert isinstance(raised[0], BackendUnavailable) and "another thread" in raised[0].what


def test_several_contexts_in_one_thread_do_not_mix(context):
    with (
        Context() as other,
        VisibilityBuffer(context, (4, 4)) as here,
        VisibilityBuffer(other, (4, 4)) as there,
        DrawList(context, *TRIANGLE) as draws,
    ):
        here.draw(draws, np.eye(4))
        assert (there.read().ids != 0).all() and (here.read().ids == 0).all()
        with pytest.raises(ArrayError, match="another context"):
            there.draw(draws, np.eye(4))


def test_what_was_released_is_refused():
    context = Context()
    buffer = VisibilityBuffer(context, (2, 2))
    context.release()
    context.release()
    with pytest.raises(BackendUnavailable, match="released"):
        buffer.read()
    buffer.release()  # gone with its context


def test_what_modern_gl_raises_is_a_typed_error(context):
    with pytest.raises(BackendUnavailable, match="OpenGL failed"), context.use() as gl:
        gl.program(vertex_shader="no shader")


def test_own_errors_are_not_blamed_for_earlier_ones(context):
    with context._gl:
        context.functions.ClipControl(1, 1)  # an error that the caller's own code left behind
    assert (draw(context, 5) == 5).all()


def test_a_display_that_others_closed_is_told_and_not_read_from():
    """What was on the GPU is gone: without a check the picture is what the host's memory held before."""
    program = """
import ctypes
import numpy as np
from hra.errors import BackendUnavailable
from hra.kernels.raster import Context, VisibilityBuffer
context = Context()
buffer = VisibilityBuffer(context, (8, 8))
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetCurrentDisplay.restype = ctypes.c_void_p
with context.use():
    display = egl.eglGetCurrentDisplay()
egl.eglTerminate(ctypes.c_void_p(display))
try:
    buffer.read()
except BackendUnavailable as error:
    print(error.what)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "closed its display" in done.stdout


def test_a_context_that_modern_gl_found_by_itself_is_adopted():
    user = moderngl.create_context(standalone=True, backend="egl", require=450)  # pyright: ignore[reportArgumentType]
    with user:
        moderngl.init_context()
        found = moderngl.get_context()
        with Context(found) as guest:
            assert (draw(guest, 4) == 4).all()
        found.release()
    user.release()


def test_an_adopted_context_must_be_new_enough():
    user = moderngl.create_context(standalone=True, backend="egl")  # pyright: ignore[reportArgumentType]
    user.version_code = 330
    with pytest.raises(BackendUnavailable, match=r"version 3\.3"):
        Context(user)
    user.release()


def test_without_modern_gl_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "moderngl", None)
    with pytest.raises(MissingExtra, match=r"hra\[gl\]"):
        Context()


@pytest.mark.case(90)
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GLCONTEXT_DEVICE_INDEX", "99"),
        ("GLCONTEXT_LINUX_LIBEGL", "no_such_library.so"),
        ("MESA_GL_VERSION_OVERRIDE", "3.3"),
    ],
)
def test_without_a_driver_the_reason_and_the_packages_are_named(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    code = """
from hra.errors import BackendUnavailable
from hra.kernels.raster import Context
try:
    Context()
except BackendUnavailable as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    what, *_, fix = output.splitlines()
    assert what.startswith("there is no OpenGL 4.5 context") and len(what) > 60
    assert "libegl-mesa0" in fix
