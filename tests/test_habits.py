"""Configuration of the forge and of commits: it parses, names what exists, and pins what it runs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.helpers.scripts import ROOT

yaml = pytest.importorskip("yaml")
FILES = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def loaded(path: Any) -> Any:
    """The content of a YAML file; ``on`` is a boolean in YAML 1.1."""
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_parses(path: Any) -> None:
    assert isinstance(loaded(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_name_their_version(path: Any) -> None:
    steps = [step for job in loaded(path)["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(PINNED.fullmatch(one) for one in used)
    lines = [line for line in path.read_text("utf-8").splitlines() if "uses:" in line]
    assert all(re.search(r"# v\d+\.\d+\.\d+$", line) for line in lines)


def test_jobs_run_targets_files_and_folders_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    runs = [
        step["run"]
        for path in WORKFLOWS
        for job in loaded(path)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert {word for run in runs for word in re.findall(r"make ([a-z-]+)", run)} <= targets
    named = [word for run in runs for word in run.split() if word.startswith(("scripts/", "tests/"))]
    assert named and all((ROOT / word).exists() for word in named)


def test_jobs_that_call_pytest_have_installed_all_that_their_tests_import() -> None:
    for job in loaded(ROOT / ".github/workflows/tests.yml")["jobs"].values():
        runs = [step["run"] for step in job["steps"] if "run" in step]
        folders = [word for run in runs if " pytest " in run for word in run.split() if word.startswith("tests/")]
        sources = [file.read_text("utf-8") for folder in folders for file in (ROOT / folder).rglob("*.py")]
        if any(re.search(r"^(from|import) hra_lab", source, re.MULTILINE) for source in sources):
            assert any("-e examples/lab" in run for run in runs)


def test_every_habit_has_a_job() -> None:
    tests, slow = (loaded(ROOT / f".github/workflows/{name}.yml") for name in ("tests", "slow"))
    assert {"tests", "coverage", "docs", "release", "systems", "versions", "wheels"} <= tests["jobs"].keys()
    assert tests["jobs"]["systems"]["strategy"]["matrix"]["system"] == ["macos-latest", "windows-latest"]
    assert "schedule" in slow[True] and tests["permissions"] == slow["permissions"] == {"contents": "read"}
    updates = {one["package-ecosystem"] for one in loaded(ROOT / ".github/dependabot.yml")["updates"]}
    assert updates == {"pip", "github-actions"}


def test_the_changelog_has_sections_by_version_and_kind() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## [Unreleased]" and all(
        re.match(r"## \[(Unreleased|\d+\.\d+\.\d+)\]", one) for one in versions
    )
    kinds = {line[4:] for line in lines if line.startswith("### ")}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
