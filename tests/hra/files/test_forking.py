"""A process that forks while another thread compiles or allocates: the child goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_COMPILING = """
import os, signal, threading, time
import hra, numba

stop = threading.Event()

def work():
    number = 0.0
    while not stop.is_set():
        number += 1
        numba.njit(lambda x: x * x + 1.5)(number)

threading.Thread(target=work, daemon=True).start()
time.sleep(1)
"""
_ALLOCATING = """
import os, signal, sys, threading, time
import numpy as np

sys.path.insert(0, {root!r})
import hra
from tests.helpers.allocators import Plain, Table

rng = np.random.default_rng(0)
tree = hra.Hierarchy.tree(np.r_[-1, rng.integers(0, np.arange(1, 3000))], np.ones(3000))
allocator, errors = Plain(tree, Table(), hra.Hull()), rng.random(3000)
expected = allocator.allocate(errors, 500).gain
stop = threading.Event()

def work():
    while not stop.is_set():
        allocator.allocate(rng.random(3000), 700)

threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
_CUTTING = """
import os, signal, sys, threading, time
import numpy as np

import hra
from hra.domains import meshes

across = np.stack(np.meshgrid(np.arange(24), np.arange(24)), -1).reshape(-1, 2)
corner = across[(across < 23).all(1)] @ (1, 24)
faces = (corner[:, None, None] + [[0, 1, 25], [0, 25, 24]]).reshape(-1, 3)
heights = np.random.default_rng(0).random(len(across))
scene = meshes.build(meshes.from_arrays(np.c_[across, heights], faces))
camera = hra.Camera.orbit(scene.bounds, azimuth=30, up=(0, 0, 1))
tree = hra.Hierarchy.tree(np.r_[-1, np.random.default_rng(0).integers(0, np.arange(1, 400))], np.ones(400))

def cut(budget):
    return meshes.MeshAllocator(scene, meshes.ScreenError(), hra.Exact()).allocate(camera, budget).gain

def split(budget):
    return hra.solve(tree, budget, gains=np.random.default_rng(1).random(400)).gain

cuts, splits = cut(500), split(90)
cut(300), split(50)

def work(one, budget):
    while True:
        one(budget)

for one, budget in ((cut, 300), (split, 50)):
    threading.Thread(target=work, args=(one, budget), daemon=True).start()
time.sleep(0.2)
"""
_FORK = """
for _ in range({times}):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        {work}
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("ended", status, flush=True)
os._exit(0)
"""


def run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] or [done.stderr]


@pytest.mark.case(95)
def test_a_child_compiles_although_another_thread_was_compiling() -> None:
    work = "numba.njit(lambda x: x - 2)(3.0)"
    assert run(_COMPILING + _FORK.format(work=work, times=3)) == ["ended 0"] * 3


@pytest.mark.case(95)
def test_a_child_allocates_although_another_thread_was_allocating() -> None:
    program = _ALLOCATING.replace("{root!r}", repr(str(Path(__file__).parents[3])))
    work = "assert allocator.allocate(errors, 500).gain == expected"
    assert run(program + _FORK.format(work=work, times=3)) == ["ended 0"] * 3


@pytest.mark.slow
def test_three_thousand_children_solve_and_cut_although_threads_of_the_parent_do() -> None:
    work = "assert cut(500) == cuts and split(90) == splits"
    assert run(_CUTTING + _FORK.format(work=work, times=3000)) == ["ended 0"] * 3000
