"""The table of suites, whose functions are imported only once they are asked for."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getsource

import pytest

from hra_lab.commands import evaluate

NAMES = sorted(set(re.findall(r'"((?:evaluation|evidence)[\w.]*:\w+)"', getsource(evaluate))))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_table_names_is_there(name: str) -> None:
    module, _, function = name.partition(":")
    found = import_module(f"hra_lab.{module}")
    assert callable(getattr(found, function))
    if function.startswith("run"):
        assert found.FULL != found.SMALL
