"""Arrays in and out, and what computes in between.

The same kind of array out as in: torch and Warp arrays on the host, and the path of device arrays run on the CPU.
Finding backends: built in, by entry point, broken or missing; and the self-test behind `hra doctor`.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import numpy as np
import pytest

from hra import plugins
from hra.errors import ArrayError, BackendUnavailable
from hra.kernels import available_backends, backends, build_pyramid, gaussian_pyramid, rect_max
from hra.kernels.pyramids.levels import reference

RECTS = np.array([[0, 0, 3, 3], [1, 1, 1, 1], [5, 5, 4, 4]], np.int32)
IMAGE = np.arange(15, dtype=np.float32).reshape(3, 5, 1)


def wrong(image, layout, reduce):
    return reference.build_pyramid(image, layout, reduce) + 1


CORRECT = SimpleNamespace(build_pyramid=reference.build_pyramid, rect_reduce=reference.rect_reduce)
WRONG = SimpleNamespace(build_pyramid=wrong, rect_reduce=reference.rect_reduce)


@pytest.fixture
def plug_ins(monkeypatch):
    """Third-party backends: one correct, one wrong, one that fails at import."""
    monkeypatch.setitem(sys.modules, "plug_ins", SimpleNamespace(correct=CORRECT, wrong=WRONG))
    values = {"correct": "plug_ins:correct", "wrong": "plug_ins:wrong", "broken": "no_such_module:backend"}
    twice = [("twice", "plug_ins:correct"), ("twice", "plug_ins:wrong"), ("same", "plug_ins:correct")]
    pairs = [*values.items(), *twice, ("same", "plug_ins:correct"), ("exits", "tests.helpers.exits:Thing")]
    register(monkeypatch, pairs)


def register(monkeypatch, pairs):
    points = EntryPoints(EntryPoint(name, value, "hra.backends") for name, value in pairs)
    monkeypatch.setattr(plugins, "_find_installed", lambda: points)
    monkeypatch.setattr(backends, "_taken", inspect.unwrap(backends._taken))


@pytest.fixture
def without(monkeypatch):
    """A function that makes a built-in backend fail at import."""

    def remove(name: str) -> None:
        monkeypatch.setitem(backends.BUILT_IN, name, f"hra.kernels.no_{name}")

    return remove


def test_all_built_in_backends_pass_their_self_test_on_the_cpu():
    status = {(entry.name, entry.device): entry for entry in available_backends()}
    for name in ("reference", "numba", "warp"):
        assert status[name, "cpu"].available, status[name, "cpu"].reason


@pytest.mark.usefixtures("plug_ins")
def test_entry_points_are_backends():
    found = build_pyramid(IMAGE, backend="correct")
    np.testing.assert_array_equal(found.data, build_pyramid(IMAGE, backend="reference").data)
    with pytest.raises(BackendUnavailable, match="no_such_module"):
        build_pyramid(IMAGE, backend="broken")
    with pytest.raises(BackendUnavailable, match="'exits' cannot be loaded: SystemExit"):
        build_pyramid(IMAGE, backend="exits")


@pytest.mark.usefixtures("plug_ins")
def test_a_backend_that_several_packages_register_is_nobodys():
    with pytest.raises(BackendUnavailable, match="several packages register 'twice'"):
        build_pyramid(IMAGE, backend="twice")
    np.testing.assert_array_equal(
        build_pyramid(IMAGE, backend="same").data, build_pyramid(IMAGE, backend="correct").data
    )


@pytest.mark.parametrize("name", ["reference", "numba", "auto"])
def test_a_backend_under_a_name_of_ours_is_refused_by_name(monkeypatch, plug_ins, name):
    reference_data = build_pyramid(IMAGE, backend="reference").data
    register(monkeypatch, [(name, "plug_ins:wrong")])
    status = {entry.name: entry for entry in available_backends()}
    assert not status[name].available and f"plug_ins:wrong registers a backend {name!r}" in status[name].reason
    # What nobody asked for by that name goes on.
    np.testing.assert_allclose(build_pyramid(IMAGE).data, reference_data, rtol=1e-6)
    if name != "auto":
        for call in (lambda: build_pyramid(IMAGE, backend=name), lambda: gaussian_pyramid(IMAGE, backend=name)):
            with pytest.raises(BackendUnavailable, match=f"a backend '{name}', which is a name of hra's own"):
                call()


def test_a_mapping_registers_backends_by_their_keys(monkeypatch, plug_ins):
    monkeypatch.setitem(sys.modules, "many", SimpleNamespace(ALL={"correct": CORRECT}))
    register(monkeypatch, [("_many", "many:ALL")])
    expected = build_pyramid(IMAGE, backend="reference").data
    np.testing.assert_array_equal(build_pyramid(IMAGE, backend="correct").data, expected)


@pytest.mark.usefixtures("plug_ins")
def test_the_self_test_finds_wrong_and_broken_backends():
    status = {entry.name: entry for entry in available_backends()}
    assert status["correct"].available and status["correct"].reason == ""
    assert not status["wrong"].available and "wrong result: mean, max, min" in status["wrong"].reason
    assert not status["broken"].available and "no_such_module" in status["broken"].reason


def test_auto_falls_back_but_an_explicit_choice_does_not(without):
    expected = build_pyramid(IMAGE, backend="reference").data
    without("numba")
    np.testing.assert_array_equal(build_pyramid(IMAGE).data, expected)
    with pytest.raises(BackendUnavailable, match="no_numba"):
        build_pyramid(IMAGE, backend="numba")


def test_a_missing_backend_is_reported_with_its_reason(without):
    without("warp")
    status = {entry.name: entry for entry in available_backends()}
    assert not status["warp"].available
    assert "no_warp" in status["warp"].reason


@pytest.mark.parametrize("backend", ["reference", "numba", "warp"])
def test_torch_in_torch_out(backend, make_image):
    torch = pytest.importorskip("torch")
    image = make_image((2, 7, 6, 1), np.float32)
    found = build_pyramid(torch.from_numpy(image), "max", backend=backend)
    expected = build_pyramid(image, "max")
    assert isinstance(found.data, torch.Tensor) and found.data.dtype == torch.float32
    assert all(level.data_ptr() >= found.data.data_ptr() for level in found.levels)
    np.testing.assert_array_equal(found.data.numpy(), expected.data)
    index = np.array([0, 1, 1], np.int32)
    bounds = rect_max(found, torch.from_numpy(RECTS), torch.from_numpy(index), backend=backend)
    assert isinstance(bounds, torch.Tensor)
    np.testing.assert_array_equal(bounds.numpy(), rect_max(expected, RECTS, index))


def test_torch_tensors_with_a_gradient_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ArrayError, match="detach"):
        build_pyramid(torch.zeros((4, 4, 1), requires_grad=True))


def test_warp_in_warp_out(make_image):
    warp = pytest.importorskip("warp")
    image = make_image((5, 6, 2), np.uint8)
    found = build_pyramid(warp.array(image, device="cpu"))
    assert isinstance(found.data, warp.array)
    np.testing.assert_array_equal(found.data.numpy(), build_pyramid(image).data)
    assert found.levels[1].shape == (3, 3, 2)


class DeviceArray:
    """Looks like an array on another device."""

    def __init__(self, kind: int) -> None:
        self.kind = kind

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0


def test_unknown_devices_are_refused():
    with pytest.raises(ArrayError, match="device type 8"):
        build_pyramid(DeviceArray(8))


def test_host_backends_refuse_device_arrays():
    class OnDevice:
        device = "cuda:0"

    with pytest.raises(BackendUnavailable, match="cuda:0"):
        backends.require_host(OnDevice(), "numba")


def test_neither_torch_nor_warp_is_imported_for_numpy_arrays():
    program = """
import sys
from types import SimpleNamespace
import numpy as np
from hra.kernels import build_pyramid, rect_max
rect_max(build_pyramid(np.zeros((4, 4, 1), np.float32), "max"), np.zeros((1, 4), np.int32))
print(sorted({"torch", "warp", "hra.model.hierarchy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_count_of_a_device_is_fetched_in_its_current_stream_alone(monkeypatch):
    # `wp.array.numpy` would use CUDA's default stream, which waits for all others.
    wp = pytest.importorskip("warp")
    held, log = wp.array(np.arange(5), device="cpu"), []
    there = SimpleNamespace(device=SimpleNamespace(is_cpu=False, stream="mine"), size=5, shape=(5,), dtype=held.dtype)
    copy = wp.copy
    monkeypatch.setattr(wp, "copy", lambda to, one, stream: log.append(f"copy in {stream}") or copy(to, held))
    monkeypatch.setattr(wp, "synchronize_stream", lambda stream: log.append(f"wait for {stream}"))
    np.testing.assert_array_equal(backends.fetch(there), np.arange(5))
    assert log == ["copy in mine", "wait for mine"]
