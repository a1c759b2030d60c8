"""The tokens suite at tiny sizes: rows are well formed, and wrong answers end the run. Nothing depends on time."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import HraError
from hra_lab.bench.devices import HOST
from hra_lab.bench.suite import run
from hra_lab.bench.tokens import feature_cases, reducers
from hra_lab.bench.tokens.selection_cases import budget_of
from hra_lab.bench.tokens.token_suite import token_suite

torch = pytest.importorskip("torch")
_NAMES = {
    "grid", "grid_batch64", "pyramid", "pyramid_batch64", "pyramid_4_levels_batch64", "pyramid_top_k_batch64",
    "foveated_pyramid", "stratified", "logpolar", "token_dag",
    "atlas_ward", "features_1024", "reconstruct_documents", "reconstruct_photos",
    "image_to_tokens_pyramid_batch64", *(f"image_to_tokens_{name.replace('-', '_')}" for name in tokens.PRESETS),
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> dict[str, dict]:
    batches = ["pyramid_4_levels_batch64", "pyramid_top_k_batch64"]
    names = ["pyramid", *batches, "foveated_pyramid", "atlas_ward", "reconstruct_photos"]
    names += ["image_to_tokens_pyramid", "image_to_tokens_gestalt_saccades", "image_to_tokens_pyramid_batch64"]
    record = run(token_suite(HOST), names=names, repeat=1, scale="small")
    assert record["skipped"] == []
    return {row["name"]: row for row in record["rows"]}


def test_all_rows_are_there():
    assert {benchmark.name for benchmark in token_suite(HOST)} == _NAMES


def test_rows_say_how_many_tokens_they_chose(rows: dict[str, dict]):
    assert rows["pyramid"]["count"] == rows["foveated_pyramid"]["count"] == budget_of(256) == 64
    assert rows["atlas_ward"]["count"] == feature_cases.REGIONS
    assert {"gain_db", "least_gain_db", "greatest_gain_db"} <= rows["reconstruct_photos"].keys()


def test_the_foveated_pyramid_is_beside_two_reducers(rows: dict[str, dict]):
    peers = {name.split(",")[0] for name in rows["foveated_pyramid"]["peers"]}
    assert peers == {"DivPrune", "CDPruner"}


def test_the_way_from_an_image_to_its_tokens_is_told_in_parts(rows: dict[str, dict]):
    parts = rows["image_to_tokens_pyramid"]["parts_cpu_s"]
    assert rows["image_to_tokens_pyramid"]["least_cpu_s"] > 0
    assert list(parts) == ["decode", "pyramid", "relevance", "errors", "choice", "realise"]
    assert "errors" not in rows["image_to_tokens_gestalt_saccades"]["parts_cpu_s"]
    assert rows["image_to_tokens_gestalt_saccades"]["count"] == 256
    batch = rows["image_to_tokens_pyramid_batch64"]
    assert batch["count"] == 64 * budget_of(256) and batch["images"] == 64 and batch["cores"] >= 1
    assert batch["to_single"] == batch["per_image_and_core_s"] / batch["single_s"] > 0


def test_choosing_too_few_or_one_twice_ends_the_run():
    (benchmark,) = (one for one in token_suite(HOST) if one.name == "pyramid")
    case = benchmark.timing.build(256, HOST)
    right = [np.arange(64)]
    assert case.judge(None, {"hra": right}) == {}
    for wrong in (np.arange(63), np.r_[np.arange(63), 0]):
        with pytest.raises(HraError, match="peer gives a wrong answer"):
            case.judge(None, {"hra": right, "peer": [wrong]})


# ---- peers against plain loops ---


def _features(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 5)).astype(np.float32)


def test_divprune_takes_the_farthest_each_time():
    features = _features(30, 0)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    chosen = [int(np.sort(distance, axis=0)[1].argmax())]
    while len(chosen) < 8:
        chosen.append(int(distance[chosen].min(axis=0).argmax()))
    assert reducers.divprune(torch.as_tensor(features), 8).tolist() == chosen


def test_cdpruner_takes_the_greatest_determinant_each_time():
    features, relevance = _features(20, 1), np.random.default_rng(2).random(20).astype(np.float32)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True) * relevance[:, None]
    kernel = (unit @ unit.T).astype(np.float64)
    chosen: list[int] = []
    while len(chosen) < 4:  # of rank 5
        left = [i for i in range(20) if i not in chosen]
        chosen.append(max(left, key=lambda i: np.linalg.det(kernel[np.ix_([*chosen, i], [*chosen, i])])))
    given = torch.as_tensor(features), torch.as_tensor(relevance)
    assert reducers.cdpruner(*given, 4).tolist() == chosen


def test_tome_merges_the_most_alike_and_keeps_the_mean():
    features = np.array([[1, 0], [0, 1], [4, 4.1], [4, 4]], np.float32)
    merged = reducers.tome(torch.as_tensor(features), 3).numpy()
    assert merged[np.lexsort(merged.T[::-1])] == pytest.approx(np.array([[0, 1], [1, 0], [4, 4.05]]))
    many = _features(64, 3)
    assert reducers.tome(torch.as_tensor(many), 9).shape == (9, 5)


def test_prunevid_makes_the_tokens_of_the_composition():
    # Written twice, once over the rules and merges of the library: the same clusters and means.
    features = np.random.default_rng(0).normal(size=(9, 9, 6)).astype(np.float32)
    allocator = tokens.REDUCERS["prunevid"]()
    chosen = allocator.realize(allocator.allocate(tokens.TokenContext.of_features(features), 20)).pool(features)
    plain = reducers.prunevid(torch.as_tensor(features.reshape(81, 6)), 20).numpy()
    np.testing.assert_allclose(chosen[np.lexsort(chosen.T)], plain[np.lexsort(plain.T)], atol=1e-5)
