"""``hra tokens``: every method by its name, comparisons with their sheet, and names that do not exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from hra.domains import tokens
from hra.domains.tokens.commands import app
from hra.errors import HraError


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_methods_are_listed_with_a_sentence():
    printed = run("methods")
    assert all(name in printed for name in tokens.PRESETS)


@pytest.mark.parametrize(("method", "told"), [("fastv", True), ("tome", True), ("pixelprune", False), ("grid", False)])
def test_what_stands_for_the_features_of_a_model_is_told(picture: Path, method: str, told: bool):
    printed = run("allocate", picture, "--method", method, "--budget", 12)
    assert (f"{method}: chosen by a model's features and attention" in printed) == told


@pytest.mark.parametrize("method", ["grid", "log-polar", "residual-scales"])
def test_allocate_by_name(method: str, picture: Path):
    record = picture.parent / "t.json"
    run("allocate", picture, "--method", method, "--budget", "0.012k", "-o", picture.parent / "o.png", "--json", record)
    result = json.loads(record.read_text())
    assert result["method"] == method
    assert result["count"] == len(result["boxes"]) == len(result["detail"]) == 12
    proven = result["status"] != "heuristic"
    assert proven == (method != "log-polar")
    assert proven == (result["gap"] is not None) == (result["residual_gap"] is not None)
    assert Image.open(picture.parent / "o.png").width == 2 * (5 * 112 + 16)  # enlarged, beside each other


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--method", "best"), "'best'"),
        (("--method", "foveated:patches=3"), "no option 'patches'"),
        (("--method", "foveated:patch=fine"), "'fine' is not a value"),
        (("--traversal", "best"), "'best'"),
        (("--metric", "texel_error"), "feedback"),
        (("--metric", "screen_error"), "Camera"),
        (("--method", "two-pass", "--budget", 35, "--metric", "relevance_gain"), "metric of its own"),
    ],
)
def test_names_that_do_not_fit_are_refused(picture: Path, options: tuple[object, ...], what: str):
    with pytest.raises(HraError, match=what):
        run("allocate", picture, "--budget", 12, *options)


def test_another_traversal_and_metric_are_used(picture: Path):
    record = picture.parent / "t.json"
    gaps = {}
    for traversal in ("best_first", "exact"):
        run("allocate", picture, "--method", "pyramid", "--budget", 12, "--traversal", traversal, "--json", record)
        gaps[traversal] = json.loads(record.read_text())["gap"]
    assert 0 <= gaps["exact"] < gaps["best_first"]
    run(
        "allocate",
        picture,
        "--method",
        "foveated:patch=8",
        "--budget",
        60,
        "--metric",
        "relevance_error",
        "--json",
        record,
    )
    assert json.loads(record.read_text())["count"] == 60


@pytest.mark.parametrize(
    ("options", "used", "relevance"),
    [
        (("--query", "on the left", "--relevance", "cues"), True, "cues"),
        (("--query", "how many dogs are there?", "--relevance", "cues"), False, "cues"),
        (("--query", "on the left", "--method", "foveated", "--relevance", "uniform"), False, "uniform"),
        (("--query", "on the left", "--method", "even-pyramid"), False, "UniformRelevance"),
        (("--query", "at the top", "--relevance", "layout"), True, "layout"),
    ],
)
def test_a_query_that_was_not_used_is_named(picture: Path, options: tuple[str, ...], used: bool, relevance: str):
    record = picture.parent / "t.json"
    printed = run("allocate", picture, "--budget", 12, "--json", record, *options)
    assert ("was not used" in printed) is not used
    found = json.loads(record.read_text())
    assert found["query_used"] is used and found["relevance"] == relevance


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--relevance", "telepathy"), "relevance 'telepathy' is unknown"),
        (("--relevance", "cues", "--method", "difficulty-aware"), "relevance of its own"),
    ],
)
def test_a_relevance_that_does_not_fit_is_refused(picture: Path, options: tuple[str, ...], what: str):
    with pytest.raises(HraError, match=what):
        run("allocate", picture, "--budget", 12, *options)
