"""The same question gets the same answer: in any thread, in any process, and from any kind of array."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import allocate
from tests.helpers.hierarchies import case
from tests.helpers.traversals import TRAVERSALS

# Beyond the size from which forests are searched around a guess of the price, with working memory of their own.
LARGE = 30_000


def large_forest() -> tuple[Hierarchy, np.ndarray]:
    """A complete quadtree with heavy-tailed gains."""
    rng = np.random.default_rng(0)
    parent = (np.arange(LARGE) - 1) // 4
    return Hierarchy.tree(parent, rng.integers(1, 9, LARGE), mode="add"), rng.lognormal(sigma=2.0, size=LARGE)


def small_dag() -> tuple[Hierarchy, np.ndarray]:
    hierarchy, values, _ = case("dag", 5, 60)
    return hierarchy, values


INSTANCES = {"large forest": large_forest, "dag": small_dag}
# Enumerating the core of a rough forest of this size takes long and has no working memory that threads could share.
NAMES = [name for name in TRAVERSALS if name != "exact"]


def answer(allocation: Allocation) -> tuple[bytes, float, float, float | None]:
    """Everything that a thread could have disturbed."""
    return allocation.selected.tobytes(), allocation.gain, allocation.upper_bound, allocation.price


def answers(hierarchy: Hierarchy, values: np.ndarray, name: str, threads: int) -> Sequence[tuple]:
    """One answer for each of sixteen budgets, from ``threads`` threads over one hierarchy."""
    budgets = np.linspace(hierarchy.base_cost, hierarchy.total_cost, 18)[1:-1]
    solve = partial(allocate, hierarchy, values, traversal=TRAVERSALS[name], kind="gain")
    with ThreadPoolExecutor(threads) as pool:
        allocations = list(pool.map(lambda budget: solve(budget=float(budget)), budgets))
    # Read late: a bound that is made on demand must not depend on what was solved in between.
    return [answer(allocation) for allocation in allocations]


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize("name", NAMES)
def test_one_two_and_eight_threads_give_the_same_answers(name, instance):
    hierarchy, values = INSTANCES[instance]()
    alone = answers(hierarchy, values, name, 1)
    assert len({selected for selected, *_ in alone}) > 1
    assert answers(hierarchy, values, name, 2) == alone
    assert answers(hierarchy, values, name, 8) == alone


PROGRAM = """
import sys
from tests.hra.test_determinism import digest
sys.stdout.write(digest())
"""


def digest() -> str:
    """A digest of the answers of all traversals on both instances."""
    everything = hashlib.sha256()
    for make in INSTANCES.values():
        for name in NAMES:
            everything.update(repr(answers(*make(), name, 1)).encode())
    return everything.hexdigest()


def test_the_number_of_threads_of_the_libraries_does_not_matter():
    threads = ("1", "2", "8")
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | dict.fromkeys(names, count),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for count in threads
    ]
    assert runs == [digest()] * len(threads)


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numpy_and_torch_give_the_same_answers(name, instance, dtype):
    torch = pytest.importorskip("torch")
    hierarchy, values = INSTANCES[instance]()
    values = values.astype(dtype)
    budget = 0.3 * hierarchy.total_cost
    from_numpy = allocate(hierarchy, values, budget, TRAVERSALS[name], "gain")
    from_torch = allocate(hierarchy, torch.from_numpy(values), budget, TRAVERSALS[name], "gain")
    assert answer(from_torch) == answer(from_numpy)


def test_a_hierarchy_of_torch_tensors_is_the_same():
    torch = pytest.importorskip("torch")
    parent, cost = (np.arange(200) - 1) // 4, np.arange(200) % 7
    values = np.random.default_rng(1).random(200)
    first = allocate(Hierarchy.tree(parent, cost, mode="add"), values, 150, hra.Exact(), "gain")
    tree = Hierarchy.tree(torch.from_numpy(parent), torch.from_numpy(cost), mode="add")
    assert answer(allocate(tree, torch.from_numpy(values), 150, hra.Exact(), "gain")) == answer(first)
