"""Every plug-in that the project registers can be loaded and is what its group promises."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hra.model.builder import HierarchyBuilder
from hra.model.metrics import ErrorMetric
from hra.plugins import load
from hra.traversals.base import Traversal

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
PROMISED = {"hra.metrics": ErrorMetric, "hra.hierarchies": HierarchyBuilder, "hra.traversals": Traversal}
REGISTERED = [(group, name) for group, names in PROJECT["entry-points"].items() for name in names]


@pytest.mark.parametrize(("group", "name"), REGISTERED)
def test_registered_plug_ins_load(group, name):
    if name == "soft_cut":
        pytest.importorskip("torch")
    assert issubclass(load(group, name), PROMISED[group])


def test_every_group_has_entries():
    assert {group for group, _ in REGISTERED} == set(PROMISED)
