"""Entry points of third parties."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

import hra
from hra import plugins
from hra.errors import HraError


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entry points in one group, of which one can be loaded."""
    points = {
        "hra.traversals": [
            EntryPoint("mine", "hra.traversals.hull:Hull", "hra.traversals"),
            EntryPoint("gone", "hra.traversals.hull:Nothing", "hra.traversals"),
            EntryPoint("broken", "no_such_package.module:Thing", "hra.traversals"),
        ]
    }
    monkeypatch.setattr(plugins, "entry_points", lambda group: points.get(group, []))


@pytest.mark.usefixtures("registered")
def test_an_entry_point_is_loaded_by_name():
    assert plugins.load("hra.traversals", "mine") is hra.Hull
    assert set(plugins.available("hra.traversals")) == {"mine", "gone", "broken"}
    assert plugins.available("hra.metrics") == {}


@pytest.mark.usefixtures("registered")
def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(HraError, match="'other'") as caught:
        plugins.load("hra.traversals", "other")
    assert caught.value.where == "hra.traversals"
    assert caught.value.fix == "choose one of: broken, gone, mine"
    with pytest.raises(HraError, match="none"):
        plugins.load("hra.metrics", "other")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["gone", "broken"])
def test_an_entry_point_that_cannot_be_imported_says_where_it_points(name):
    with pytest.raises(HraError, match="cannot be loaded") as caught:
        plugins.load("hra.traversals", name)
    assert caught.value.where == plugins.available("hra.traversals")[name].value
    assert caught.value.__cause__ is not None


def test_the_own_traversals_are_registered():
    assert {"best_first", "hull", "threshold"} <= set(plugins.available("hra.traversals"))
    assert plugins.load("hra.traversals", "threshold") is hra.Threshold
