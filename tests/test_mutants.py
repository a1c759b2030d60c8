"""Mutants: every kind of change is found, put in place of the module, and seen by a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
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


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = spec_from_file_location("mutants", ROOT / "scripts/mutants.py")
    assert spec is not None and spec.loader is not None
    command = module_from_spec(spec)
    sys.modules["mutants"] = command  # dataclasses look for it
    spec.loader.exec_module(command)
    return command


def test_every_kind_of_change_is_found_once(mutants: ModuleType) -> None:
    found = mutants._sites(ast.parse(SOURCE))
    assert {name for *_, name in found} == KINDS and len(found) == len(KINDS)
    assert {function for *_, function, _ in found} == {6}


def test_a_change_is_one_and_no_other(mutants: ModuleType) -> None:
    plain = ast.unparse(ast.parse(SOURCE))
    for number in range(len(KINDS)):
        tree = ast.parse(SOURCE)
        node, which, *_ = mutants._sites(tree)[number]
        changed = ast.unparse(ast.fix_missing_locations(mutants._Put(node, which).visit(tree)))
        pairs = zip(plain.split("\n"), changed.split("\n"), strict=True)
        assert sum(ours != theirs for ours, theirs in pairs) == 1, changed
        compile(changed, "changed", "exec")


def test_rooms_name_files_and_tests_that_are_there(mutants: ModuleType) -> None:
    for room in mutants.ROOMS.values():
        assert len(mutants.mutants(room)) > 200
        assert all((ROOT / tests).exists() for tests in room.tests)


def test_tests_see_changes() -> None:
    small = "mutants.Room(('hra/safety/json_text.py',), ('tests/hra/test_json_text.py',))"
    code = f"import sys, mutants; mutants.ROOMS['small'] = {small}; sys.exit(mutants.main())"
    command = [sys.executable, "-c", code, "--rooms", "small", "--mutants", "2", "--least", "40"]
    ended = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "| small |" in ended.stdout
