"""Put a changed module in place of the one that runs: code of its functions, and what their arguments default to."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tests.helpers.mutation.changes import ROOT, Mutant


class Unchanged(Exception):
    """No function that is alive is changed."""


def living(files: Iterable[str]) -> dict[str, list[FunctionType]]:
    """The functions that are alive, by the files of their code; domains are imported through links."""
    found: dict[str, list[FunctionType]] = {file: [] for file in files}
    names: dict[str, str] = {}
    gc.unfreeze()  # what was imported before the tests began is not listed otherwise
    for one in gc.get_objects():
        if type(one) is FunctionType:  # isinstance would ask stand-ins of modules for their class
            name = one.__code__.co_filename
            if name not in names:
                path = Path(name).resolve()
                names[name] = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
            if names[name] in found:
                found[names[name]].append(one)
    return found


def put(mutant: Mutant, functions: list[FunctionType]) -> None:
    """Change what is alive of a file; `Unchanged` if nothing is."""
    tree = mutant.tree()
    codes = {_place(code): code for code in _codes(compile(tree, str(ROOT / mutant.file), "exec"))}
    changed = 0
    for function in functions:
        old, new = function.__code__, codes.get(_place(function.__code__))
        if new is not None and not _same(old, new):
            function.__code__ = new.replace(co_filename=old.co_filename)
            changed += 1
    if not changed and not _defaults(tree, mutant, functions):
        raise Unchanged(mutant)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _same(old: CodeType, new: CodeType) -> bool:
    """Whether two codes do the same; names of files and what code in code is called do not count."""
    if (old.co_code, old.co_names, len(old.co_consts)) != (new.co_code, new.co_names, len(new.co_consts)):
        return False
    return all(
        _same(ours, theirs)
        if isinstance(ours, CodeType) and isinstance(theirs, CodeType)
        else _key(ours) == _key(theirs)
        for ours, theirs in zip(old.co_consts, new.co_consts, strict=True)
    )


def _key(constant: object) -> tuple[type, str]:
    # 1, 1.0 and True are equal, and 0.0 is -0.0.
    return type(constant), repr(constant)


def _defaults(tree: ast.Module, mutant: Mutant, functions: list[FunctionType]) -> bool:
    """Whether the change is in what arguments default to; then it is made."""
    found = [one for one in functions if one.__code__.co_firstlineno == mutant.function]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _line(node) == mutant.function:
            for function in found:
                place = function.__globals__
                plain = [_value(one, place) for one in node.args.defaults]
                pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                function.__defaults__ = tuple(plain) or None
                function.__kwdefaults__ = {key.arg: _value(one, place) for key, one in pairs if one is not None}
            return bool(found)
    return False


def _line(node: ast.FunctionDef) -> int:
    return min(one.lineno for one in (node, *node.decorator_list))


def _value(node: ast.expr, place: dict[str, object]) -> object:
    return eval(compile(ast.Expression(node), "default", "eval"), place)
