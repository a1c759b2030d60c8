"""The suite at tiny sizes: every row is there, well formed and honest about its gaps. Nothing here depends on time."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from hra.errors import HraError
from hra.traversals.best_first import BestFirst
from hra.traversals.hull import Hull
from hra_lab.bench import features, harness, peers
from hra_lab.bench.core import core_suite
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps, measure
from hra_lab.bench.judges import judge_batch, judge_solutions
from hra_lab.bench.suite import SHARES, Benchmark, run
from hra_lab.commands.bench import bench
from hra_lab.inputs import cluster_dag, instances, pictures, quadtrees, terrain

_ROW = {"name", "n", "ours_s", "ours_cpu_s", "peer", "peer_s", "ratio", "limit_s", "gap", "residual_gap", "peers"}
_NAMES = {
    "tree_cold_1e6",
    "tree_warm_1e6",
    "tree_1e7",
    "select_1e6",
    "threshold_1e6",
    "sequence_350k",
    "batch64_n1365",
    "batch64_n5461",
    "dag_33k_smooth",
    "dag_33k_heavy",
    "soft_batch64_n5461",
    "allocate_1e6",
}


@pytest.fixture(scope="module")
def record() -> dict:
    return run(core_suite(), repeat=1, scale="small")


def test_every_benchmark_has_a_row_or_a_reason(record: dict):
    measured, skipped = ({entry["name"] for entry in record[part]} for part in ("rows", "skipped"))
    assert measured.isdisjoint(skipped)
    assert measured | skipped == {benchmark.name for benchmark in core_suite()}
    assert measured | skipped >= _NAMES
    assert all("not available" in entry["reason"] for entry in record["skipped"])


def test_rows_have_the_documented_fields(record: dict):
    for row in record["rows"]:
        assert row.keys() >= _ROW | {"budgets"}
        assert [budget["share"] for budget in row["budgets"]] == list(SHARES)
        assert all(budget.keys() >= _ROW - {"name"} for budget in row["budgets"])
        assert row["ratio"] == row["peer_s"] / row["ours_s"] > 0
        assert row["peer"] in row["peers"]
        assert row["limit_s"] > 0


def test_rows_quote_ten_percent(record: dict):
    for row in record["rows"]:
        quoted = next(budget for budget in row["budgets"] if budget["share"] == 0.1)
        assert all(row[key] == value for key, value in quoted.items() if key != "share")


def test_gaps_are_not_negative(record: dict):
    for row in record["rows"]:
        for entry in (*row["budgets"], *(peer for budget in row["budgets"] for peer in budget["peers"].values())):
            assert entry["gap"] >= 0 and math.isfinite(entry["gap"]), row["name"]
            # Infinite where the library leaves no error and a peer does.
            assert entry["residual_gap"] >= 0, row["name"]


def test_the_library_is_never_behind_its_peers_on_trees(record: dict):
    for row in record["rows"]:
        if row["name"].startswith("tree_cold"):
            assert all(row["gap"] <= peer["gap"] + 1e-12 for peer in row["peers"].values())


def test_header_names_the_machine(record: dict):
    assert record["machine"]["cores"] >= 1
    assert record["machine"]["versions"]["numpy"] == np.__version__
    assert record["settings"]["threads"] == 1
    assert record["settings"]["copy_bytes_per_s"] > 0


def test_a_process_measures_a_device_once():
    copies = []

    class Counting(Device):
        def copy(self, target: object, source: object) -> None:
            copies.append(target)

    first, second = (run((), repeat=1, device=Counting())["settings"]["copy_bytes_per_s"] for _ in range(2))
    assert first == second > 0 and len(copies) == 6


def test_what_the_library_lacks_is_skipped_with_its_name():
    absent = Benchmark("absent", lambda size: pytest.fail("ran"), 1, needs=("hra.no_such_module:Part",))
    skipped = run([absent], repeat=1, scale="small")["skipped"]
    assert skipped[0]["name"] == "absent"
    assert "hra.no_such_module" in skipped[0]["reason"]


def test_names_select_rows_and_unknown_ones_are_refused():
    chosen = run(core_suite(), names=["select_*_smooth"], repeat=1, scale="small")
    assert [row["name"] for row in chosen["rows"]] == ["select_1e6_smooth"]
    with pytest.raises(HraError, match="no benchmark is called 'nothing'"):
        run(core_suite(), names=["nothing"])
    with pytest.raises(HraError, match="median of 0 rounds"):
        run(core_suite(), repeat=0)


def test_the_command_prints_the_table_and_writes_json(tmp_path: Path):
    app = typer.Typer()
    app.command()(bench)
    file = tmp_path / "core.json"
    arguments = ["core", "--scale", "small", "--repeat", "1", "--names", "select_1e6,dag_*_heavy", "--json", str(file)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    written = json.loads(file.read_text())
    assert [row["name"] for row in written["rows"]] == ["select_1e6", "dag_33k_heavy"]
    for row in written["rows"]:
        assert row["name"] in result.stdout
        assert row["peer"] in result.stdout


@pytest.mark.parametrize("feature", ["hra.traversals.hull:Hull.solve", "math:pi"])
def test_present_features(feature: str):
    assert features.missing(feature) is None


@pytest.mark.parametrize("feature", ["hra.traversals.hull:Nothing", "no_such_package:x", "math:pi.nothing"])
def test_missing_features(feature: str):
    assert feature in str(features.missing(feature))


# ---- harness ---


def _case(calls: list[tuple[str, int]]) -> Case:
    def contender(name: str, **settings) -> Contender:
        return Contender(name, lambda number: calls.append((name, number)), **settings)

    return Case(
        contenders=(contender("ours"), contender("peer", warm_up=False, share=0.5)),
        inputs=lambda number: number,
        judge=lambda number, outputs: {name: Gaps(number / 10, 0.0) for name in outputs},
        size=1,
        moved_bytes=1,
    )


def test_contenders_take_turns_on_fresh_inputs_after_a_warm_up():
    calls: list[tuple[str, int]] = []
    clocks = measure(_case(calls), repeat=2)
    assert calls == [("ours", 0), ("ours", 1), ("peer", 1), ("ours", 2), ("peer", 2)]
    assert [len(clock.wall) for clock in clocks.values()] == [2, 2]


def test_the_worst_gap_of_all_rounds_counts():
    assert measure(_case([]), repeat=3)["ours"].gaps == Gaps(0.3, 0.0)


def test_seconds_of_a_part_stand_for_the_whole(monkeypatch: pytest.MonkeyPatch):
    for clock in ("perf_counter", "process_time"):
        monkeypatch.setattr(harness.time, clock, itertools.count().__next__)
    clocks = measure(_case([]), repeat=3)
    assert clocks["ours"].seconds == clocks["ours"].cpu_seconds == 1
    assert clocks["peer"].seconds == clocks["peer"].cpu_seconds == 2


# ---- instances ---


@pytest.mark.parametrize("make", [instances.rough_quadtree, instances.smooth_quadtree])
def test_quadtrees_are_complete_and_seeded(make):
    tree, again = make(300), make(300)
    assert np.array_equal(tree.gain, again.gain)
    assert np.array_equal(tree.hierarchy.parent, quadtrees.parents(300))
    assert tree.hierarchy.base_cost == 0
    assert (tree.gain > 0).all()
    assert not np.array_equal(tree.fresh_gain(1, 0.05), tree.fresh_gain(2, 0.05))


def test_peaks_never_grow_from_coarse_to_fine():
    tree = instances.rough_quadtree(400)
    peak = tree.peaks(tree.gain)
    below = quadtrees.parents(400)
    assert (peak[below[1:]] >= peak[1:]).all()
    assert peak[0] == tree.gain.max()
    assert peak[399] == tree.gain[399]


def test_split_gains_add_up_to_the_squared_error():
    image = np.random.default_rng(0).random((16, 16))
    gain = pictures.split_gains(image)
    assert gain.size == quadtrees.nodes_above(16)
    assert gain.sum() == pytest.approx(np.square(image - image.mean()).sum())
    quarters = image.reshape(2, 8, 2, 8).mean(axis=(1, 3))
    assert gain[0] == pytest.approx(64 * np.square(quarters - image.mean()).sum())
    assert gain[2] == pytest.approx(pictures.split_gains(image[:8, 8:])[0])  # Morton order: right after left


def test_centers_lie_in_their_parents_cells():
    center, parent = quadtrees.cell_centers(85), quadtrees.parents(85)
    half = 0.5 ** (quadtrees.levels(85) + 1)
    assert (np.abs(center[1:] - center[parent[1:]]) == half[1:, None]).all()


def test_squares_larger_than_the_map_are_mirrored():
    assert pictures.square(4096).shape == (4096, 4096)


def test_a_map_is_decoded_once_and_squares_of_it_are_copies(monkeypatch: pytest.MonkeyPatch):
    before = pictures.square(64)
    monkeypatch.delattr(pictures, "load_image")
    pictures.square(64)[:] = 0
    assert before.any() and (pictures.square(64) == before).all()


def test_token_pyramids_share_one_hierarchy():
    pyramids = instances.token_pyramids(85, count=4)
    assert len({id(pyramid.hierarchy) for pyramid in pyramids}) == 1
    assert len({pyramid.gain.sum() for pyramid in pyramids}) == 4


def test_cluster_dags_have_groups_with_several_predecessors():
    smooth, heavy = cluster_dag.smooth_dag(64), cluster_dag.heavy_dag(64)
    assert smooth.hierarchy.parent is None
    assert np.diff(smooth.hierarchy.predecessors[0]).max() == 4
    assert len(cluster_dag.smooth_dag(32).hierarchy) < len(smooth.hierarchy)
    spread = [np.std(np.log(dag.gain)) for dag in (smooth, heavy)]
    assert spread[1] > spread[0]


def test_terrain_errors_and_bounds_fit_a_screen_error():
    tiles = terrain.terrain(341)
    parent = tiles.node_parent
    assert parent is not None
    assert tiles.node_cost.size == 341
    error = tiles.attribute("error")
    assert (error[1:] <= error[parent[1:]]).all()
    box = tiles.attribute("box")
    assert (box[1:, 0] >= box[parent[1:], 0] - 1e-12).all() and (box[1:, 1] <= box[parent[1:], 1] + 1e-12).all()
    assert tiles.replaces


# ---- peers ---


def test_heapq_takes_what_the_librarys_best_first_takes():
    tree = instances.rough_quadtree(500)
    problem = tree.problem(tree.gain, 1.0)
    heap = peers.HeapBestFirst.over(tree.hierarchy)
    assert heap.run(heap.prepare(problem)).all()
    tight = tree.problem(tree.gain, 0.1)
    taken, library = heap.run(heap.prepare(tight)), BestFirst().solve(tight).selected
    # The library goes on after the first refinement that does not fit.
    assert not (taken & ~library).any()
    assert 0.9 * tight.capacity <= tree.hierarchy.cost[taken].sum() <= tight.capacity


def test_highs_proves_the_bound():
    tree = instances.rough_quadtree(60)
    problem = tree.problem(tree.gain, 0.2)
    selected = peers.solve_milp(problem)
    judged = judge_solutions(
        problem, {"hra": Hull().solve(problem), "milp": selected, "sort": peers.sorted_with_ancestors(problem)}
    )
    assert 0 <= judged["milp"].gap <= judged["hra"].gap
    assert judged["milp"].gap <= judged["sort"].gap


@pytest.mark.parametrize("make", [instances.smooth_quadtree, cluster_dag.heavy_dag])
def test_sorting_takes_ancestors_along(make):
    instance = make(64)
    for share in SHARES:
        problem = instance.problem(instance.gain, share)
        selected = peers.sorted_with_ancestors(problem)
        assert instance.hierarchy.is_valid(selected)
        left = problem.capacity - instance.hierarchy.cost[selected].sum()
        offsets, before = instance.hierarchy.predecessors
        ready = [r for r in np.flatnonzero(~selected) if selected[before[offsets[r] : offsets[r + 1]]].all()]
        assert left >= 0
        assert all(instance.hierarchy.cost[r] > left for r in ready)


def test_thresholds_agree():
    rng = np.random.default_rng(3)
    key, weight = rng.random(200), rng.integers(1, 5, 200).astype(float)
    tau = peers.sorted_threshold(key, weight, 100.0)
    assert weight[key > tau].sum() <= 100 < weight[key >= tau].sum()
    bisected = peers.bisected_threshold(key, weight, 100.0, 60)
    assert np.array_equal(key > bisected, key > tau)
    assert peers.sorted_threshold(key, weight, 1e9) == -np.inf


def test_an_invalid_answer_is_refused():
    tree = instances.rough_quadtree(50)
    problem = tree.problem(tree.gain, 0.5)
    orphan = np.zeros(50, bool)
    orphan[-1] = True
    with pytest.raises(HraError, match="without its predecessors"):
        judge_solutions(problem, {"hra": Hull().solve(problem), "peer": orphan})
    with pytest.raises(HraError, match="spent"):
        judge_solutions(problem, {"hra": Hull().solve(problem), "peer": np.ones(50, bool)})


def test_a_batch_is_judged_by_its_worst_member():
    trees = [instances.rough_quadtree(size) for size in (50, 60)]
    problems = [tree.problem(tree.gain, 0.3) for tree in trees]
    own = [Hull().solve(problem) for problem in problems]
    empty = [np.zeros(50, bool), np.zeros(60, bool)]
    judged = judge_batch(problems, {"hra": own, "nothing": empty, "first": empty[:1]})
    assert judged["nothing"].gap == judged["first"].gap == 1.0
    assert judged["hra"].gap < 0.5
