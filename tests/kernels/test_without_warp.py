"""Without Warp everything on the host works, and whoever asks for Warp is told what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from hra.errors import BackendUnavailable
from hra.kernels import backends

# One call of every package of kernels, and of what the core builds on them; asked for Warp where there is a choice.
PROGRAM = """
import json, sys
sys.modules["warp"] = None
import numpy as np
import hra
from hra import kernels
from hra.errors import BackendUnavailable
from hra.kernels import compaction, cut, trees

image = np.random.default_rng(0).random((9, 7, 1), np.float32)
rects = np.array([[0, 0, 3, 3]], np.int32)
boxes = np.array([[[-1, -1, -3], [1, 1, -2]]], np.float32)
points = np.random.default_rng(1).random((20, 3), np.float32)
forest = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1])
camera = hra.Camera.orbit(((0, 0, 0), (1, 1, 1)))
matrix = (camera.projection @ camera.view).astype(np.float32)
farthest = kernels.depth_pyramid(np.ones((32, 32), np.float32))
tree = trees.build_tree(points)
chain = cut.LevelForest((0, 1, 2, 3), np.array([-1, 0, 1], np.int32), np.array([1, 2, 3, 3], np.int32), np.ones(3))

calls = {
    "build_pyramid": lambda backend: kernels.build_pyramid(image, backend=backend),
    "rect_max": lambda backend: kernels.rect_max(kernels.build_pyramid(image, "max"), rects, backend=backend),
    "gaussian_pyramid": lambda backend: kernels.gaussian_pyramid(image, backend=backend),
    "laplacian_pyramid": lambda backend: kernels.laplacian_pyramid(image, backend=backend),
    "project_boxes": lambda backend: kernels.project_boxes(boxes, matrix, (32, 32), backend=backend),
    "visible_boxes": lambda backend: kernels.visible_boxes(farthest, boxes, matrix, backend=backend),
    "compact": lambda backend: compaction.compact(np.array([True, False]), backend=backend),
    "price_search": lambda backend: cut.price_search(chain, np.ones((2, 3)), np.full(2, 2.0), backend=backend),
    "build_tree": lambda backend: trees.build_tree(points, backend=backend),
    "reduce_up": lambda backend: trees.reduce_up(tree.tree, points, "mean", backend=backend),
    "allocate_batch": lambda backend: hra.allocate_batch(forest, np.ones((2, 1)), 3, backend=backend),
}

told = {}
for name, call in calls.items():
    call("auto")
    try:
        call("warp")
    except BackendUnavailable as error:
        told[name] = error.fix
for name, call in {"Tree.to": lambda: tree.tree.to("cuda:0")}.items():
    try:
        call()
    except BackendUnavailable as error:
        told[name] = error.fix
calls["Tree.to"] = None
status = {entry.name: entry for entry in kernels.available_backends()}
print(json.dumps({"calls": list(calls), "told": told, "doctor": [status["warp"].available, status["warp"].reason]}))
"""


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.case(91)
def test_the_host_works_and_warp_is_refused_with_the_install_command(record: dict[str, Any]):
    assert record["told"] == dict.fromkeys(record["calls"], "pip install 'hra[gpu]'")


def test_the_doctor_says_what_to_install(record: dict[str, Any]):
    available, reason = record["doctor"]
    assert not available and reason == "the package 'warp-lang' is not installed; pip install 'hra[gpu]'"


@pytest.mark.case(91)
def test_an_array_on_a_cuda_device_is_refused_alike(monkeypatch: pytest.MonkeyPatch):
    class OnDevice:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

    monkeypatch.setitem(sys.modules, "warp", None)
    with pytest.raises(BackendUnavailable, match="'warp-lang' is not installed"):
        backends.adopt(OnDevice(), "image")


def test_a_broken_warp_is_not_called_missing(monkeypatch: pytest.MonkeyPatch):
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setitem(sys.modules, "warp", Broken())  # pyright: ignore[reportArgumentType]
    with pytest.raises(BackendUnavailable, match="Warp is broken: libcuda"):
        backends.load_warp()
