"""Errors say what, where and how to fix it, in three lines, and survive a process border."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from hra import errors
from hra.domains import meshes
from hra.errors import HraError, HraWarning, MissingExtra, RepairWarning, UnitMismatch, needs

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, HraError)]


@pytest.mark.parametrize("kind", CLASSES)
def test_the_message_is_what_where_fix_in_three_lines(kind):
    error = kind("it broke", where="node 3", fix="mend it")
    assert str(error).splitlines() == ["it broke", "where: node 3", "fix: mend it"] == error.lines()
    assert (error.what, error.where, error.fix) == ("it broke", "node 3", "mend it")
    assert kind("it broke", fix="mend it").lines() == ["it broke", "fix: mend it"]
    assert kind.usual_fix
    assert kind("it broke").lines() == ["it broke", f"fix: {kind.usual_fix}"]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("clone", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_pickling_and_copying_keep_everything(kind, clone):
    error = clone(kind("it broke", where="node 3", fix="mend it"))
    assert type(error) is kind
    assert error.lines() == ["it broke", "where: node 3", "fix: mend it"]


def fail() -> None:
    raise UnitMismatch("it broke", where="node 3", fix="mend it")


def test_an_error_of_another_process_arrives_whole():
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as processes, pytest.raises(UnitMismatch) as caught:
        processes.submit(fail).result()
    assert caught.value.fix == "mend it"


def test_every_class_has_its_own_stable_code_and_docstring():
    codes = {kind.code: kind for kind in CLASSES}
    assert len(codes) == len(CLASSES)
    assert set(codes) == {
        "error", "invalid-array", "invalid-hierarchy", "invalid-metric", "unit-mismatch", "invalid-budget",
        "budget-too-small", "infeasible-shares", "invalid-camera", "invalid-file", "invalid-mesh", "invalid-image",
        "backend-unavailable", "missing-extra", "limit-exceeded", "out-of-memory", "refuted",
    }  # fmt: skip
    assert all(inspect.getdoc(kind) for kind in CLASSES)


def test_what_is_not_about_metrics_is_not_a_metric_error():
    assert issubclass(UnitMismatch, errors.MetricError)
    assert not issubclass(errors.BudgetTooSmall, errors.InvalidBudget)


def test_a_missing_extra_prints_the_install_command():
    error = MissingExtra.of("trimesh", "meshes")
    assert error.fix == "pip install 'hra[meshes]'"
    assert "'trimesh'" in error.what


def test_imports_that_need_an_extra_name_it_and_other_errors_stay():
    with pytest.raises(MissingExtra, match="pip install 'hra\\[meshes\\]'") as caught, needs("trimesh", "meshes"):
        importlib.import_module("hra_is_not_installed")
    assert caught.value.package == "trimesh" and isinstance(caught.value.__cause__, ImportError)
    with pytest.raises(KeyError), needs("trimesh", "meshes"):
        raise KeyError


def test_warnings_can_be_filtered_as_one_family():
    assert issubclass(RepairWarning, HraWarning)
    assert issubclass(HraWarning, UserWarning)


def test_a_warning_names_the_line_that_called_the_library(tmp_path: Path):
    """However deep it comes from, and through what of the standard library."""
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\ncurv 1 2\nvp 1\nmtllib none.mtl\n")
    with pytest.warns(RepairWarning) as said:
        meshes.load(tmp_path / "a.obj")
    assert len(said) > 1 and {warning.filename for warning in said} == {__file__}
    assert len({warning.lineno for warning in said}) == 1


def test_a_warning_of_a_thread_is_one_of_its_first_line():
    with pytest.warns(RepairWarning, match="lost"), ThreadPoolExecutor(1) as pool:
        pool.submit(errors.warn, "lost").result()


@pytest.mark.parametrize("wrong", ["x", "", None, 3, ["a"], {}, np.array(["a", "b"])])
def test_a_choice_is_one_of_its_texts(wrong: object):
    """Whatever is given, also what no table can be asked for."""
    errors.check_choice("way", "a", {"a": 1, "b": 2})
    with pytest.raises(errors.MetricError, match=r"way .* is unknown") as caught:
        errors.check_choice("way", wrong, {"a": 1, "b": 2}, errors.MetricError)
    assert caught.value.where == "way" and caught.value.fix == "use one of a, b"
