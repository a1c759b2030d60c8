"""Every registered preset: listed, exported, exact, deterministic, and measured like the others."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hra import plugins
from hra.domains import tokens
from hra.errors import HraError

every = pytest.mark.parametrize("name", tokens.PRESETS)


def test_every_allocator_class_is_registered_and_exported():
    """Whoever adds a preset registers it, too."""
    found = set()
    for module in pkgutil.walk_packages(tokens.__path__, "hra.domains.tokens."):
        if "learned" in module.name:
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(kind) and issubclass(kind, tokens.TokenAllocator) and kind is not tokens.TokenAllocator:
                found.add(kind)
    assert found == {*tokens.PRESETS.values(), tokens.Reducer}  # reducers are compositions of one class
    assert {kind.__name__ for kind in found} <= set(dir(tokens))


def test_everything_exported_exists():
    assert all(hasattr(tokens, name) for name in dir(tokens))


def test_the_page_names_every_preset():
    page = (Path(__file__).parents[4] / "docs/tokens.md").read_text("utf-8")
    assert [kind.__name__ for kind in tokens.PRESETS.values() if kind.__name__ not in page] == []


def test_a_preset_is_data():
    """A preset says what it is made of; no step of the allocator is another one in it."""
    steps = {
        name
        for name in vars(tokens.TokenAllocator)
        if name not in ("__init__", "_abc_impl") and not name.startswith("__")
    }
    for kind in (*tokens.PRESETS.values(), tokens.Reducer):
        assert not steps & set(vars(kind)), kind.__name__


@every
def test_a_preset_by_name(name: str):
    assert type(tokens.preset(name)) is tokens.PRESETS[name]


@pytest.mark.parametrize("made", [5, lambda: 5, lambda: 1 // 0, lambda needed: needed])
def test_a_method_of_another_package_that_cannot_be_made_is_named(made: Any, monkeypatch: pytest.MonkeyPatch):
    point = EntryPoint("theirs", "their:method", "hra.methods")
    monkeypatch.setattr(plugins, "find_registered", lambda group: [point])
    monkeypatch.setattr(EntryPoint, "load", lambda _: made)
    with pytest.raises(HraError, match="'theirs'"):
        tokens.preset("theirs")


def test_a_name_of_ours_that_another_package_registers_is_refused(monkeypatch: pytest.MonkeyPatch):
    doubled = EntryPoint("pyramid", "builtins:dict", "hra.methods")
    ours = plugins.find_registered("hra.methods")
    monkeypatch.setattr(plugins, "find_registered", lambda group: [*ours, doubled])
    with pytest.raises(HraError, match="several packages register 'pyramid'"):
        tokens.preset("pyramid")
    assert isinstance(tokens.preset("foveated"), tokens.FoveatedPyramid)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(HraError, match="no method called 'nothing'") as caught:
        tokens.preset("nothing")
    assert all(name in str(caught.value) for name in tokens.PRESETS)


@every
def test_exact_counts_and_finite_reports(name: str, smooth_noise):
    image = smooth_noise(320, 352)  # 440 patches
    allocator = tokens.preset(name)
    judge = tokens.GridTopK().context(image, "left")
    context = allocator.context(image, "left")
    chosen = allocator.realize(allocator.allocate(context, 273))
    again = allocator.realize(allocator.allocate((image, "left"), 273))
    assert np.array_equal(chosen.values, again.values)
    report = tokens.measure(chosen, judge)
    assert report.count == len(chosen) == 273
    assert all(math.isfinite(value) for value in (report.psnr_db, report.ssim, report.gain, report.redundancy))
    assert 0 < report.coverage.area <= 1
    assert tokens.overlay(image, chosen).shape == image.shape
