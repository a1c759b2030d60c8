"""The cases of tests/cases.toml with the tests that carry their numbers, and what tests/promises.toml names."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Promise:
    """One case of bad input or of a failing machine.

    Attributes
    ----------
    number : its own, from 1; area : its section; case : what happens; outcome : what hra does then.
    """

    number: int
    area: str
    case: str
    outcome: str


@dataclass(frozen=True)
class Everywhere:
    """What holds for everything.

    Attributes
    ----------
    promise : its words; files : of tests; long : command that shows it at length, or nothing.
    """

    promise: str
    files: tuple[str, ...]
    long: str = ""


def everywhere() -> list[Everywhere]:
    """All promises of tests/promises.toml."""
    found = tomllib.loads((ROOT / "tests/promises.toml").read_text())["promise"]
    return [Everywhere(one["promise"], tuple(one["tests"]), one.get("long", "")) for one in found]


def promises() -> list[Promise]:
    """All cases in the order of the file."""
    areas = tomllib.loads((ROOT / "tests/cases.toml").read_text())
    return [Promise(int(n), area, **words) for area, cases in areas.items() for n, words in cases.items()]


_MARKER = "pytest.mark.case"


def marked_tests() -> dict[int, list[str]]:
    """For each number the tests that are marked with it, as "folder/file.py::name", without importing them."""
    found: dict[int, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        source = file.read_text()
        for name, numbers in _marked(ast.parse(source)) if _MARKER in source else ():
            for number in numbers:
                found.setdefault(number, []).append(f"{file.relative_to(ROOT)}::{name}")
    return found


def _marked(module: ast.Module) -> Iterator[tuple[str, list[int]]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == _MARKER:
                    yield node.name, [ast.literal_eval(argument) for argument in call.args]
