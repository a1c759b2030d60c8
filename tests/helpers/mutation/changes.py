"""Changes of one operator, number, condition or statement of a function at a time."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COUNTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.MatMult: ast.Mult,
}  # fmt: skip


def _changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What may stand in a node's place, each with its name."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                new = copy.deepcopy(node)
                new.ops[place] = _COMPARED[type(operator)]()
                yield f"{type(operator).__name__} to {type(new.ops[place]).__name__}", new
        case ast.BinOp() | ast.AugAssign():
            new = copy.deepcopy(node)
            new.op = _COUNTED[type(node.op)]()
            yield f"{type(node.op).__name__} to {type(new.op).__name__}", new
        case ast.BoolOp():
            new = copy.deepcopy(node)
            new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield f"{type(node.op).__name__} to {type(new.op).__name__}", new
        case ast.UnaryOp():
            yield f"without {type(node.op).__name__}", node.operand
        case ast.Constant(value=bool() as value):
            yield f"{value} to {not value}", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield f"{value} to {value + 1}", ast.Constant(value + 1)
        case ast.If() | ast.While() | ast.IfExp():
            new = copy.deepcopy(node)
            new.test = ast.UnaryOp(ast.Not(), node.test)
            yield f"{type(node).__name__} negated", new
        case ast.Break():
            yield "break to continue", ast.Continue()
        case ast.Continue():
            yield "continue to break", ast.Break()
        case ast.Raise():
            yield "no raise", ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield "no call", ast.Pass()


class _Sites(ast.NodeVisitor):
    """All changes of the bodies of functions, by the number of the node and of the change."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int, int, int, str]] = []
        self._function = 0

    def visit(self, node: ast.AST) -> None:
        """Note the changes of a node and of what it holds; types, words and decorators stay."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts: list[ast.AST] = [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body]
            around, self._function = self._function, min(one.lineno for one in (node, *node.decorator_list))
            for part in parts:
                self._inside(part)
            self._function = around
        elif not isinstance(node, ast.AnnAssign | ast.Import | ast.ImportFrom | ast.If):
            for part in ast.iter_child_nodes(node):
                self.visit(part)

    def _inside(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return self.visit(node)
        for which, (name, _) in enumerate(_changed(node)):
            self.found.append((id(node), which, getattr(node, "lineno", 0), self._function, name))
        for name, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:
                # Messages are words, and so is what they count.
                if isinstance(part, ast.AST) and name != "annotation" and not _left(node):
                    self._inside(part)


def _left(node: ast.AST) -> bool:
    """Whether what a node holds stays: messages, and `strict` of a zip, which finds faults of the library itself."""
    return isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert) or (
        isinstance(node, ast.keyword) and node.arg == "strict"
    )


class _Put(ast.NodeTransformer):
    def __init__(self, target: int, which: int) -> None:
        self.target, self.which = target, which

    def visit(self, node: ast.AST) -> Any:
        """Put the change in its node's place."""
        if id(node) == self.target:
            return ast.copy_location(list(_changed(node))[self.which][1], node)
        return self.generic_visit(node)


@dataclass(frozen=True)
class Mutant:
    """The change ``number`` of a file, in the function that begins at a line."""

    file: str
    number: int
    line: int
    function: int
    name: str

    def tree(self) -> ast.Module:
        """The changed module."""
        return put(ast.parse((ROOT / self.file).read_text("utf-8")), self.number)

    def words(self) -> str:
        """The line that is changed, without its indentation."""
        return (ROOT / self.file).read_text("utf-8").split("\n")[self.line - 1].strip()


def sites(tree: ast.AST) -> list[tuple[int, int, int, int, str]]:
    """Number of the node and of the change, line, line of the function, and name of each change."""
    found = _Sites()
    found.visit(tree)
    return found.found


def put(tree: ast.Module, number: int) -> ast.Module:
    """The tree with one of its changes in place."""
    node, which, *_ = sites(tree)[number]
    return ast.fix_missing_locations(_Put(node, which).visit(tree))


def mutants(sources: Iterable[str]) -> list[Mutant]:
    """All changes of the files of some patterns below the root."""
    files = sorted({file for pattern in sources for file in ROOT.glob(pattern)})
    return [
        Mutant(file.relative_to(ROOT).as_posix(), number, line, function, name)
        for file in files
        for number, (_, _, line, function, name) in enumerate(sites(ast.parse(file.read_text("utf-8"))))
    ]
