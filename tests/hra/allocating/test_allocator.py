"""The abstract class: every step can be replaced by a method, and what looks like a step and is none is named."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes, tokens
from hra.errors import HookWarning, HraError
from tests.helpers.allocators import Plain, Table
from tests.helpers.hierarchies import KINDS, case

RULES = (hra.Hull(), hra.Exact(), hra.BestFirst(), hra.Coherent(), hra.Hull(spend_all=True))
TREE = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 1, 1], attributes={"error": [8.0, 5.0, 1.0, 0.5, 0.5]})


class Blur(hra.ErrorMetric):
    """The attribute "error", as often as the context says."""

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        return hierarchy.attribute("error") * context


class Alone(hra.HierarchicalResourceAllocator):
    """Nothing is given to the constructor."""

    def hierarchy_for(self, context: Any) -> hra.Hierarchy:
        return TREE

    def error_metric(self, context: Any) -> hra.ErrorMetric:
        return Blur() * 2.0

    def realize(self, allocation: hra.Allocation) -> list[int]:
        return allocation.cut.tolist()


class Given(hra.HierarchicalResourceAllocator):
    """All is given to the constructor."""

    def realize(self, allocation: hra.Allocation) -> list[int]:
        return allocation.cut.tolist()


def test_methods_alone_make_an_allocator():
    allocation = Alone().allocate(3.0, 2)
    assert allocation.residual == 36.0 and Alone().realize(allocation) == [1, 2]
    assert isinstance(allocation.metric, hra.ErrorMetric) and hra.verify(allocation).ok


@pytest.mark.paths
@given(kind=st.sampled_from(list(KINDS)), seed=st.integers(0, 2**32 - 1))
def test_methods_and_arguments_give_one_answer(kind: str, seed: int):
    """By arguments, by methods alone, by a method over an argument that it replaces, and by solving the problem."""
    tree, values, rng = case(kind, seed)
    metric, rule, budget = Table(kind="gain"), RULES[seed % len(RULES)], tree.base_cost + float(rng.integers(0, 12))

    class Methods(Given):
        def hierarchy_for(self, context: Any) -> hra.Hierarchy:
            return tree

        def error_metric(self, context: Any) -> hra.ErrorMetric:
            return metric

        def traverse_and_select(self, problem: hra.Problem) -> hra.Solution:
            return rule.solve(problem)

    allocators = Given(tree, metric, rule), Methods(), Methods(tree, metric * 2.0, hra.Hull(finish="none"))
    answers = [allocator.allocate(values, budget) for allocator in allocators]
    answers.append(hra.solve(tree, budget, gains=values, traversal=rule))
    for answer in answers:
        np.testing.assert_array_equal(answer.selected, answers[0].selected)
        assert (answer.gain, answer.cost, answer.status) == (answers[0].gain, answers[0].cost, answers[0].status)


def test_attributes_of_the_class_stand_in_for_arguments():
    class Fixed(Given):
        hierarchy, metric, traversal = TREE, Blur(), hra.Exact()

    assert Fixed().allocate(1.0, 3).cut.tolist() == [2, 3, 4]
    assert Fixed(traversal=hra.BestFirst()).traversal == hra.BestFirst()


def test_a_metric_of_a_method_goes_before_the_one_that_was_given():
    class Twice(Given):
        def error_metric(self, context: Any) -> hra.ErrorMetric:
            return self.metric * 2.0

    plain, twice = (kind(TREE, Blur()).allocate(1.0, 2) for kind in (Given, Twice))
    assert twice.residual == 2 * plain.residual
    adopted = Twice(TREE, Blur()).adopt(plain, 1.0)
    assert isinstance(adopted.metric, type(Blur() * 2.0))
    pooled = hra.pool(Twice(TREE, Blur()), Given(TREE, Blur())).allocate([1.0, 1.0], 5)
    assert [member.base_error for member in pooled.members] == [16.0, 8.0]


def test_the_choice_of_a_method_is_the_answer():
    class Nothing(Given):
        def traverse_and_select(self, problem: hra.Problem) -> hra.Solution:
            return hra.Solution(np.zeros(len(problem.hierarchy), np.bool_))

    class Mask(Given):
        def traverse_and_select(self, problem: hra.Problem) -> Any:
            return np.zeros(len(problem.hierarchy), np.bool_)

    assert Nothing(TREE, Blur()).allocate(1.0, 5).cost == 1.0
    with pytest.raises(HraError, match=r"hra\.Solution\(selected\)"):
        Mask(TREE, Blur()).allocate(1.0, 5)
    with pytest.raises(HraError, match=r"curves need hra\.Hull"):
        Nothing(TREE, Blur()).curve(1.0)


def test_domains_ask_the_method_too():
    class Nearer(meshes.MeshAllocator):
        def error_metric(self, context: Any) -> hra.ErrorMetric:
            return self.metric * 4.0

    skull = meshes.build(hra.samples.path("skull.ply"))
    camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1))
    plain, nearer = (kind(skull).allocate(camera, 4000) for kind in (meshes.MeshAllocator, Nearer))
    assert nearer.base_error == pytest.approx(4 * plain.base_error)

    class Finer(tokens.PyramidSampling):
        def error_metric(self, context: Any) -> hra.ErrorMetric:
            return self.metric * 4.0

    image = np.random.default_rng(0).random((64, 96, 3), dtype=np.float32)
    one, other = (kind().allocate((image, ""), 8) for kind in (tokens.PyramidSampling, Finer))
    assert other.base_error == pytest.approx(4 * one.base_error)
    assert Finer().allocate_batch([(image, "")], 8)[0].base_error == pytest.approx(other.base_error)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("error_metrics", "error_metric"),
        ("get_error_metric", "error_metric"),
        ("evaluate", "error_metric"),
        ("traverse_select", "traverse_and_select"),
        ("select", "traverse_and_select"),
        ("build_hierarchy", "hierarchy_for"),
        ("realise", "realize"),
        ("traverseAndSelect", "traverse_and_select"),
    ],
)
def test_methods_that_look_like_steps_are_named(name, meant):
    with pytest.warns(HookWarning, match=rf"{name} is never called by hra: the step is called {meant}"):
        type("Typo", (Given,), {name: lambda self, context: None})


def test_other_methods_are_not():
    own = {name: lambda self: None for name in ("allocate_batch", "realize_batch", "export", "camera", "_errors")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        type("Own", (Given,), own | {"evaluations": 3, "error_metric": lambda self, context: self.metric})


def test_what_is_missing_is_said_at_once():
    with pytest.raises(HraError, match=r"override hierarchy_for\(context\)"):
        Given()
    with pytest.raises(HraError, match=r"override error_metric\(context\)"):
        Given(TREE)

    class Wrong(Given):
        def error_metric(self, context: Any) -> Any:
            return [1.0, 2.0]

    with pytest.raises(HraError, match=r"return an hra\.ErrorMetric"):
        Wrong(TREE).allocate(1.0, 2)


def test_an_allocator_is_shown_by_its_parts_and_without_addresses():
    shown = repr(Plain(TREE, Blur(), hra.Exact()))
    assert shown.startswith("Plain(hierarchy=Hierarchy(") and "traversal=Exact(" in shown
    made = [Alone(), tokens.PyramidSampling(), *(tokens.preset(name) for name in tokens.PRESETS)]
    for one in made:
        text = repr(one)
        assert text.startswith(f"{type(one).__name__}(") and "0x" not in text and len(text) < 400
