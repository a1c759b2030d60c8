"""Names with options: what they make, and how what does not fit is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra import plugins
from hra.console import choose, choose_metric, choose_traversal
from hra.domains import meshes, tokens
from hra.errors import HraError

MADE = {
    "hull": hra.Hull(),
    "hull:": hra.Hull(),
    "hull:finish=none": hra.Hull(finish="none"),
    "hull:spend_all=true,finish=fill": hra.Hull(spend_all=True),
    "hull: spend_all = false": hra.Hull(),
    "best_first": hra.BestFirst(),
    "threshold:tau=0.5": hra.Threshold(tau=0.5),
    "threshold:tau=none": hra.Threshold(),
    "exact:max_states=100": hra.Exact(max_states=100),
    "coherent:hysteresis=0.25,max_churn=3": hra.Coherent(hysteresis=0.25, max_churn=3),
    "coherent:traversal=exact,traversal.max_states=9": hra.Coherent(hra.Exact(max_states=9)),
    "level_shares:shares.3=0.1,shares.0=0.5,level=none": hra.LevelShares({3: 0.1, 0: 0.5}, level=None),
    "apportion:importance=share": hra.Apportion(importance="share"),
}


@pytest.mark.parametrize(("text", "made"), MADE.items())
def test_a_name_with_options_makes_a_traversal(text: str, made: hra.Traversal):
    assert choose_traversal(text) == made


def test_metrics_and_methods_take_options_too():
    assert choose_metric("screen_error:error=quadric") == meshes.ScreenError("quadric")
    assert choose("hra.methods", "grid:patch=8", tokens.TokenAllocator).patch == 8


REFUSED = {
    "best": ("nothing is registered as 'best'", "hull, level_shares"),
    "": ("nothing is registered as ''", "best_first"),
    "best_first:speed=3": ("no option 'speed'", "it has by"),
    "hull:finnish=none": ("no option 'finnish'", "finish, spend_all"),
    "hull:finish=None": ("'None' is not a value", "fill or none"),
    "hull:spend_all=yes": ("'yes' is not a value", "true or false"),
    "hull:spend_all": ("'spend_all' is not an option", "KEY=VALUE"),
    "hull:=none": ("'=none' is not an option", "KEY=VALUE"),
    "hull:spend_all=true,spend_all=false": ("'spend_all' is given twice", "leave one"),
    "hull:spend_all.x=true": ("is not a value", "true or false"),
    "hull:finish=none,finish.x=fill": ("'none' is not a value", "fill or none"),
    "exact:max_states=1.5": ("'1.5' is not a value", "int"),
    "exact:max_states=0": ("from 1 to 2147483647", ""),
    "threshold:tau=-1": ("tau must be", ""),
    "soft_cut": ("'soft_cut' cannot be made", "temperature"),
    "apportion:rule=tiers": ("'tiers' is not a value", ""),
    "coherent:traversal=best": ("nothing is registered as 'best'", "hull"),
    "level_shares:shares=3": ("'3' is not a value", "OPTION.ITEM=VALUE"),
    "level_shares:shares.x=0.1": ("is not a value", ""),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_what_does_not_fit_is_refused(text: str, said: tuple[str, str]):
    with pytest.raises(HraError, match=said[0]) as caught:
        choose_traversal(text)
    assert said[1] in caught.value.fix


@given(st.text(alphabet="hul:=,.nofish3e \n()[]_'\"", max_size=30))
def test_any_text_makes_a_traversal_or_is_refused(text: str):
    try:
        made = choose_traversal(text)
    except HraError:
        return
    assert isinstance(made, hra.Traversal)


@dataclass(frozen=True)
class Odd:
    """A plug-in that is not a traversal, or fails when it is made."""

    weights: Mapping[str, float] | None = None
    label: str | None = None
    fail: bool = False
    other: Any = None

    def __post_init__(self) -> None:
        if self.fail:
            raise ValueError("out of range")


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("odd", f"{__name__}:Odd", "hra.traversals")
    monkeypatch.setattr(plugins, "find_registered", lambda group: [point])
    monkeypatch.setattr(EntryPoint, "load", lambda _: Odd)


@pytest.mark.usefixtures("odd")
def test_options_are_what_the_annotations_say():
    assert choose("hra.traversals", "odd:weights.a=1.5,label=3", Odd) == Odd({"a": 1.5}, "3")
    assert choose("hra.traversals", "odd:label=none", Odd) == Odd()


@pytest.mark.usefixtures("odd")
def test_what_is_no_traversal_is_refused():
    with pytest.raises(HraError, match="makes a Odd, which is not a Traversal"):
        choose_traversal("odd")
    with pytest.raises(HraError, match="'odd' cannot be made: ValueError: out of range"):
        choose_traversal("odd:fail=true")
    with pytest.raises(HraError, match="'3' is not a value"):
        choose_traversal("odd:other=3")


@pytest.mark.parametrize("thing", [5, None, SimpleNamespace()])
def test_what_cannot_be_called_is_refused(monkeypatch: pytest.MonkeyPatch, thing: Any):
    monkeypatch.setattr(plugins, "find_registered", lambda group: [EntryPoint("odd", "its:place", group)])
    monkeypatch.setattr(EntryPoint, "load", lambda _: thing)
    with pytest.raises(HraError, match=r"'odd' is .*, which cannot be called"):
        choose_traversal("odd")


def test_whatever_a_constructor_raises_is_the_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plugins, "find_registered", lambda group: [EntryPoint("odd", "its:place", group)])
    monkeypatch.setattr(EntryPoint, "load", lambda _: lambda: 1 // 0)
    with pytest.raises(HraError, match="'odd' cannot be made: ZeroDivisionError"):
        choose_traversal("odd")
