"""Mutants: every kind of change is found, put in place of the module, and seen by a test."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from tests.helpers.mutation import putting
from tests.helpers.mutation.changes import ROOT, Mutant, mutants, put, sites
from tests.helpers.mutation.explained import explained
from tests.helpers.mutation.rooms import ROOMS

SOURCE = '''
"""Words stay."""
LIMIT = 3


def f(x: int, y: int = 4) -> int:
    """Words stay."""
    while x < y and not done:
        x += 1
        if x is None:
            raise ValueError(f"{x + 1} of {LIMIT}")
        g(x)
        break
    return -x * y if True else 0
'''
KINDS = {
    *("4 to 5", "Lt to LtE", "And to Or", "without Not", "Add to Sub", "1 to 2", "Is to IsNot", "If negated"),
    *("While negated", "IfExp negated", "no raise", "no call", "break to continue", "without USub", "Mult to Div"),
    *("True to False", "0 to 1"),
}


def test_every_kind_of_change_is_found_once() -> None:
    found = sites(ast.parse(SOURCE))
    assert {name for *_, name in found} == KINDS and len(found) == len(KINDS)
    assert {function for *_, function, _ in found} == {6}


def test_a_change_is_one_and_no_other() -> None:
    plain = ast.unparse(ast.parse(SOURCE))
    for number in range(len(KINDS)):
        changed = ast.unparse(put(ast.parse(SOURCE), number))
        pairs = zip(plain.split("\n"), changed.split("\n"), strict=True)
        assert sum(ours != theirs for ours, theirs in pairs) == 1, changed
        compile(changed, "changed", "exec")


def test_rooms_name_files_and_tests_that_are_there() -> None:
    for room in ROOMS.values():
        assert len(mutants(room.sources)) > 200
        assert all((ROOT / tests).exists() for tests in room.tests)


def test_what_is_explained_is_a_change_that_there_is() -> None:
    lines: dict[str, set[tuple[str, str]]] = {one.file: set() for one in explained()}
    for one in mutants(lines):
        lines[one.file].add((one.words(), one.name))
    for one in explained():
        assert one.why and {(one.line, change) for change in one.changes} <= lines[one.file], one


RUNS = """
import functools


class C:
    @staticmethod
    def first(x, y=4, *, z=1):
        return x + y * z


@functools.cache
def second(x):
    def inner():
        return x - 1
    return inner()
"""


@dataclass(frozen=True)
class _Text(Mutant):
    def tree(self) -> ast.Module:
        return put(ast.parse(RUNS), self.number)


@pytest.mark.parametrize(
    ("name", "function", "found"),
    [("Add to Sub", 6, (-1, 2)), ("4 to 5", 6, (8, 2)), ("1 to 2", 6, (7 + 4, 2)), ("Sub to Add", 13, (7, 4))],
)
def test_what_runs_is_changed_at_once(name: str, function: int, found: tuple[int, int]) -> None:
    space: dict[str, Any] = {}
    exec(compile(RUNS, "text", "exec"), space)
    place = next(place for place, one in enumerate(sites(ast.parse(RUNS))) if one[3:] == (function, name))
    alive = [space["C"].first, space["second"].__wrapped__]
    putting.put(_Text("scripts/none", place, 0, function, name), alive)
    assert (space["C"].first(3), space["second"](3)) == found


def test_a_function_that_is_not_alive_is_no_mutant() -> None:
    with pytest.raises(putting.Unchanged):
        putting.put(_Text("scripts/none", 0, 0, 6, ""), [])


def test_tests_see_changes() -> None:
    small = "Room(('hra/files/json_text.py',), ('tests/hra/files/test_json_text.py',))"
    code = f"import sys; from mutants import *; from tests.helpers.mutation.rooms import Room; ROOMS['small'] = {small}"
    command = [
        sys.executable,
        "-c",
        f"{code}; sys.exit(main())",
        "--rooms",
        "small",
        "--mutants",
        "12",
        "--least",
        "60",
    ]
    ended = subprocess.run(
        command,
        cwd=ROOT / "scripts",
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "| small |" in ended.stdout
