"""Entry points of third parties."""

from __future__ import annotations

from functools import partial
from importlib.metadata import EntryPoint, EntryPoints

import pytest
import typer

import hra
from hra import plugins
from hra.domains import tokens
from hra.errors import HraError


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entry points in one group, of which one can be loaded."""
    points = {
        "hra.traversals": [
            EntryPoint("mine", "hra.traversals.hull:Hull", "hra.traversals"),
            EntryPoint("gone", "hra.traversals.hull:Nothing", "hra.traversals"),
            EntryPoint("broken", "no_such_package.module:Thing", "hra.traversals"),
        ],
        "hra.metrics": [
            EntryPoint("same", "hra.domains.meshes.metrics.screen_error:ScreenError", "hra.metrics"),
            EntryPoint("same", "hra.domains.meshes.metrics.screen_error:ScreenError", "hra.metrics"),
            EntryPoint("twice", "hra.domains.meshes.metrics.screen_error:ScreenError", "hra.metrics"),
            EntryPoint("twice", "hra.domains.textures.metrics:TexelError", "hra.metrics"),
            EntryPoint("raises", "tests.helpers.raises:Thing", "hra.metrics"),
            EntryPoint("exits", "tests.helpers.exits:Thing", "hra.metrics"),
        ],
    }
    monkeypatch.setattr(plugins, "find_registered", lambda group: points.get(group, []))


@pytest.mark.usefixtures("registered")
def test_an_entry_point_is_loaded_by_name():
    assert plugins.load("hra.traversals", "mine") is hra.Hull
    assert set(plugins.available("hra.traversals")) == {"mine", "gone", "broken"}
    assert plugins.available("hra.hierarchies") == {}


@pytest.mark.usefixtures("registered")
def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(HraError, match="'other'") as caught:
        plugins.load("hra.traversals", "other")
    assert caught.value.where == "hra.traversals"
    assert caught.value.fix == "choose one of: broken, gone, mine"
    with pytest.raises(HraError, match="none"):
        plugins.load("hra.hierarchies", "other")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["gone", "broken"])
def test_an_entry_point_that_cannot_be_imported_says_where_it_points(name):
    with pytest.raises(HraError, match="cannot be loaded") as caught:
        plugins.load("hra.traversals", name)
    assert caught.value.where == plugins.available("hra.traversals")[name].value
    assert caught.value.__cause__ is not None


@pytest.mark.usefixtures("registered")
def test_what_several_packages_register_is_nobodys():
    with pytest.raises(HraError, match="several packages register 'twice'") as caught:
        plugins.load("hra.metrics", "twice")
    assert "ScreenError" in caught.value.where and "TexelError" in caught.value.where
    assert plugins.load("hra.metrics", "same").__name__ == "ScreenError"


@pytest.mark.usefixtures("registered")
def test_whatever_a_module_raises_at_import_is_the_reason():
    with pytest.raises(HraError, match="'raises' cannot be loaded: ZeroDivisionError"):
        plugins.load("hra.metrics", "raises")
    with pytest.raises(HraError, match="'exits' cannot be loaded: SystemExit: 3"):
        plugins.load("hra.metrics", "exits")
    assert plugins.failures("hra.metrics").keys() == {"twice", "raises", "exits"}
    assert plugins.failures("hra.traversals").keys() == {"gone", "broken"}


def test_the_own_traversals_are_registered():
    assert {"best_first", "hull", "threshold"} <= set(plugins.available("hra.traversals"))
    assert plugins.load("hra.traversals", "threshold") is hra.Threshold


def test_a_mapping_registers_its_items(monkeypatch):
    points = [
        EntryPoint("_many", "hra.domains.tokens.methods.registry:PRESETS", "hra.methods"),
        EntryPoint("_gone", "hra.domains.tokens.methods.registry:NOTHING", "hra.methods"),
    ]
    monkeypatch.setattr(plugins, "_find_installed", lambda: EntryPoints(points))
    assert set(plugins.available("hra.methods")) == {*tokens.PRESETS, "_gone"}
    assert plugins.load("hra.methods", "pyramid") is tokens.PyramidSampling
    assert list(plugins.failures("hra.methods")) == ["_gone"]


@pytest.mark.parametrize("kind", ["partial", "lambda", "typer"])
def test_items_of_a_mapping_may_be_anything(monkeypatch, kind):
    item = {"partial": partial(hra.Hull, finish="none"), "lambda": lambda: hra.Hull(), "typer": typer.Typer()}[kind]
    monkeypatch.setattr(plugins, "ITEMS", {"mine": item, "threshold": hra.Threshold}, raising=False)
    points = EntryPoints([EntryPoint("_many", "hra.plugins:ITEMS", "hra.traversals")])
    monkeypatch.setattr(plugins, "_find_installed", lambda: points)
    assert set(plugins.available("hra.traversals")) == {"mine", "threshold"}
    assert plugins.load("hra.traversals", "mine") is item
    assert plugins.failures("hra.traversals") == {}


@pytest.mark.parametrize("items", [{3: hra.Hull}, {3: hra.Hull, "mine": hra.Hull}, [hra.Hull]])
def test_what_is_no_mapping_of_names_breaks_nothing_else(monkeypatch, items):
    monkeypatch.setattr(plugins, "ITEMS", items, raising=False)
    points = [EntryPoint("_many", "hra.plugins:ITEMS", "hra.traversals")]
    points.append(EntryPoint("mine", "hra.traversals.hull:Hull", "hra.traversals"))
    monkeypatch.setattr(plugins, "_find_installed", lambda: EntryPoints(points))
    assert plugins.load("hra.traversals", "mine") is hra.Hull
    assert "_many" in plugins.failures("hra.traversals")
