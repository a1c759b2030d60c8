"""Every plug-in that the project registers can be loaded and is what its group promises."""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hra.cli import groups
from hra.domains import tokens
from hra.domains.tokens.methods.registry import METHODS
from hra.model.builder import HierarchyBuilder
from hra.model.metrics import ErrorMetric
from hra.plugins import GROUPS, available, load
from hra.traversals.base import Traversal

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
PROMISED = {
    "hra.metrics": ErrorMetric,
    "hra.hierarchies": HierarchyBuilder,
    "hra.traversals": Traversal,
    "hra.methods": tokens.TokenAllocator,
}
# Groups of programs that the library works with.
FOREIGN = ("lmms_eval.models", "vllm.general_plugins")
REGISTERED = [
    (group, member)
    for group, names in PROJECT["entry-points"].items()
    for name in names
    for member in (METHODS if name == "_methods" else (name,))
]


@pytest.mark.parametrize(("group", "name"), [entry for entry in REGISTERED if entry[0] in PROMISED])
def test_registered_plug_ins_load(group, name):
    if name == "soft_cut":
        pytest.importorskip("torch")
    made = load(group, name)
    # Reducers are compositions, made by a function each.
    assert issubclass(made if isinstance(made, type) else type(made()), PROMISED[group])


def test_registered_commands_load():
    assert groups.failures() == {}


def test_every_group_has_entries():
    assert {group for group, _ in REGISTERED} == {*PROMISED, "hra.commands", *FOREIGN}
    assert {group for group, _ in REGISTERED} <= {*GROUPS, *FOREIGN}


def test_what_is_installed_is_what_the_project_registers():
    # An editable install keeps the entry points that it was made with.
    for group, names in PROJECT["entry-points"].items():
        assert names.items() <= {point.name: point.value for point in entry_points(group=group)}.items()


@pytest.mark.parametrize("group", FOREIGN)
def test_what_other_programs_look_for_is_there_without_them(group):
    (point,) = [point for point in entry_points(group=group) if point.value.startswith("hra.")]
    assert callable(point.load())


def test_the_methods_are_the_presets_and_reducers_by_their_names():
    found = {name: load("hra.methods", name) for name in available("hra.methods")}
    assert found == {**tokens.PRESETS, **tokens.REDUCERS}


def test_every_traversal_of_the_library_is_registered():
    import hra

    public = {value for name in dir(hra) if isinstance(value := getattr(hra, name), type)}
    traversals = {kind for kind in public if issubclass(kind, Traversal) and kind is not Traversal}
    assert traversals == {load("hra.traversals", name) for name in PROJECT["entry-points"]["hra.traversals"]}
