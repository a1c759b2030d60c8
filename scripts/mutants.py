#!/usr/bin/env python
"""Change one operator, number, condition or statement at a time, and see whether a test fails; prints a Markdown table.

Run ``python scripts/mutants.py [--rooms solver,pool] [--mutants 300] [--seconds S] [--docs docs/promises.md]``
(`make mutants`). Each room's tests run once, to see which lines each of them runs; a mutant is a changed module in a
forked process, judged by the tests that run the changed line or its function, the quickest first, and lies on no disk.
Kernels run without Numba's compiler, so that a change takes no compilation. Killed is one that fails a test, ends the
process, or takes twice as long; the survivors are printed with their lines. Tests of more than two processor
seconds judge only what the others leave, three at most. The sample is drawn by ``--seed`` from all changes of the room.
The exit code is 1 if a share is below ``--least``.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from random import Random
from typing import Any, TextIO

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
BEGIN, END = "<!-- made by scripts/mutants.py -->", "<!-- until here, by scripts/mutants.py -->"
# Seconds of a processor: a test that judges at once, with lines counted; one that judges at all, without; a mutant
# beyond twice its tests.
_SLOW, _LONG, _PATIENCE = 2, 30, 15
# Steps of one function in one test, after which its lines are taken as known.
_EVENTS, _TESTS, _MOST_SLOW, _MEMORY = 2_000, 40, 3, 8 << 30


@dataclass(frozen=True)
class Room:
    """Sources, as patterns below the root, and the tests that judge them."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "solver": Room(
        ("hra/solvers/**/*.py", "hra/traversals/*.py"),
        ("tests/hra/traversals", "tests/hra/solvers", "tests/hra/allocating"),
    ),
    "pool": Room(("hra/pooling/*.py",), ("tests/hra/pooling",)),
    "residency": Room(("hra/residency/*.py",), ("tests/hra/residency",)),
    "readers": Room(
        ("hra/ply/*.py", "domains/meshes/files/*.py", "domains/points/files/*.py", "domains/tiles/files/*.py"),
        ("tests/domains/meshes/files", "tests/domains/points/test_files.py", "tests/domains/tiles/test_reading.py"),
    ),
}


# --- Changes --------------------------------------------------------------------------------------------------------

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
                if isinstance(part, ast.AST) and name != "annotation" and not _message(node):
                    self._inside(part)


def _message(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert)


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

    def code(self) -> Any:
        """The changed module."""
        tree = ast.parse((ROOT / self.file).read_text("utf-8"))
        node, which, *_ = _sites(tree)[self.number]
        return compile(ast.fix_missing_locations(_Put(node, which).visit(tree)), str(ROOT / self.file), "exec")


def _sites(tree: ast.AST) -> list[tuple[int, int, int, int, str]]:
    sites = _Sites()
    sites.visit(tree)
    return sites.found


def mutants(room: Room) -> list[Mutant]:
    """All changes of a room's sources."""
    files = sorted({file for pattern in room.sources for file in ROOT.glob(pattern)})
    return [
        Mutant(file.relative_to(ROOT).as_posix(), number, line, function, name)
        for file in files
        for number, (_, _, line, function, name) in enumerate(_sites(ast.parse(file.read_text("utf-8"))))
    ]


# --- Which tests run which lines ----------------------------------------------------------------------------


@dataclass(eq=False)  # pytest puts plug-ins into sets
class _Watch:
    """A plug-in of pytest that notes seconds, outcome and lines of each test."""

    roots: frozenset[str]
    out: TextIO
    passed: bool = True
    lines: set[tuple[str, int]] = field(default_factory=set)
    counts: Counter[Any] = field(default_factory=Counter)
    begin: float = 0.0

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        """Begin a test."""
        self.lines, self.counts, self.begin = set(), Counter(), time.process_time()
        self.passed = True
        sys.settrace(self._called)

    def pytest_runtest_call(self, item: Any) -> None:
        """Begin the part that is neither set-up nor tidying up: what is too slow is stopped, and no judge."""
        signal.setitimer(signal.ITIMER_VIRTUAL, _SLOW)

    def pytest_runtest_teardown(self, item: Any) -> None:
        """Let the clock go."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End a part of it."""
        self.passed &= report.outcome == "passed"
        if report.when == "teardown":
            sys.settrace(None)
            lines = [(Path(file).resolve().relative_to(ROOT).as_posix(), line) for file, line in sorted(self.lines)]
            one = {"seconds": time.process_time() - self.begin, "passed": self.passed, "lines": lines}
            # One by one: what is stopped has told of the tests before.
            self.out.write(json.dumps({report.nodeid: one}) + "\n")
            self.out.flush()

    def _called(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self.roots or self.counts[code] > _EVENTS:
            return None
        self.lines.add((code.co_filename, code.co_firstlineno))
        return self._line

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        self.counts[frame.f_code] += 1
        frame.f_trace_lines = self.counts[frame.f_code] <= _EVENTS
        return self._line


def _baseline(room: Room, out: Path) -> None:
    """In a process of its own: the tests of a room, as they are."""
    import pytest

    sources = {str(file) for pattern in room.sources for file in ROOT.glob(pattern)}
    # Domains are imported through links.
    links = {file.replace(str(ROOT / "domains"), str(ROOT / "hra" / "domains")) for file in sources}
    signal.signal(signal.SIGVTALRM, _too_slow)
    with _silent(), out.open("w") as stream:
        pytest.main([*_OPTIONS, *room.tests], plugins=[_Watch(frozenset(sources | links), stream)])


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {_SLOW} seconds")


_OPTIONS = ["-q", "-n", "0", "-p", "no:cacheprovider", "--disable-warnings", "--no-header", "--tb=no"]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


class Judges:
    """The tests of a room that judge a line."""

    def __init__(self, seen: dict[str, Any]) -> None:
        self.seconds = {test: one["seconds"] for test, one in seen.items()}
        self.quick = {test for test, one in seen.items() if one["passed"] and one["seconds"] <= _SLOW}
        self.slow = {test for test, one in seen.items() if one["seconds"] > _SLOW}
        self.passes: dict[str, bool] = {}
        self.of_line: dict[tuple[str, int], set[str]] = {}
        for test, one in seen.items():
            for file, line in one["lines"]:
                self.of_line.setdefault((file, line), set()).add(test)

    def of(self, mutant: Mutant, among: set[str]) -> list[str]:
        """The quickest that run its line, then those that run its function; none if none does."""
        line, function = (self.of_line.get((mutant.file, at), set()) for at in (mutant.line, mutant.function))
        ordered = [sorted(some & among, key=self.seconds.__getitem__) for some in (line, function - line)]
        return [*ordered[0], *ordered[1]]

    def judge(self, mutant: Mutant) -> int | None:
        """0 for a mutant that survives, nothing for one that takes too long, else an exit code."""
        tests = self.of(mutant, self.quick)[:_TESTS]
        limit = _PATIENCE + int(2 * sum(map(self.seconds.__getitem__, tests)))
        found = _judged(mutant, tests, limit) if tests else 0
        for test in self.of(mutant, self.slow)[:_MOST_SLOW]:
            if found == 0 and self._passes(test):
                found = _judged(mutant, [test], 2 * _LONG)
        return found

    def _passes(self, test: str) -> bool:
        """Whether a slow test passes without a change; what was stopped may have failed."""
        if test not in self.passes:
            self.passes[test] = _judged(None, [test], _LONG) == 0
        return self.passes[test]


# --- Judging ------------------------------------------------------------------------------------------------


class _Changed(SourceLoader):
    def __init__(self, plain: SourceFileLoader, code: Any) -> None:
        self.plain, self.code = plain, code

    def get_code(self, fullname: str) -> Any:
        """The changed module."""
        return self.code

    def get_data(self, path: str) -> bytes:
        """The file."""
        return self.plain.get_data(path)

    def get_filename(self, fullname: str) -> str:
        """Its name."""
        return self.plain.path


@dataclass
class _Finder(MetaPathFinder):
    mutant: Mutant

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """The changed module in the place of the one of the same file."""
        spec = PathFinder.find_spec(fullname, path) if fullname.startswith("hra") else None
        if spec is None or spec.origin is None or Path(spec.origin).resolve() != ROOT / self.mutant.file:
            return None
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Changed(spec.loader, self.mutant.code())
        return spec


def _judge(mutant: Mutant | None, tests: list[str], seconds: int) -> None:
    """In a process of its own; its exit code is 0 only if all tests pass."""
    import pytest

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds))
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    with _silent():
        found = pytest.main([*_OPTIONS, "-x", *tests])
    os._exit(int(found))


def _judged(mutant: Mutant | None, tests: list[str], seconds: int) -> int | None:
    # A busy machine takes longer than its processor does; one that waits for ever is ended, too.
    return _forked(lambda: _judge(mutant, tests, seconds), 20 * seconds)


def _forked(work: Callable[[], None], seconds: float) -> int | None:
    """Exit code of ``work`` in a process of its own; nothing if it takes longer."""
    child = os.fork()
    if child == 0:
        os.setsid()
        with contextlib.suppress(BaseException), open(os.devnull, "wb") as nowhere:
            for stream in (1, 2):
                os.dup2(nowhere.fileno(), stream)
            work()
            os._exit(0)
        os._exit(3)
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _warm() -> None:
    """Import what every process would import again; nothing of hra."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything imports Numba
    os.environ.setdefault("HRA_NO_GL", "1")
    for name in ("hypothesis.strategies", "numba", "numpy.testing", "pytest", "scipy.optimize", "scipy.sparse"):
        import_module(name)


def room_row(name: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Judge a sample of a room's mutants."""
    room, begin = ROOMS[name], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(ROOT)
        seen = Path(chosen.seen or folder, f"{name}.json")
        if not seen.exists():
            # With a limit, the tests of half of the time are those that judge.
            _forked(lambda: _baseline(room, seen), chosen.seconds / 2 or 7200)
        lines = seen.read_text().split("\n") if seen.exists() else []
        judges = Judges({test: one for line in lines[:-1] for test, one in json.loads(line).items()})
    if not judges.quick:
        raise SystemExit(f"{name}: no test passes")
    every = mutants(room)
    row: dict[str, Any] = {"room": name, "all": len(every), "tests": len(judges.quick | judges.slow)}
    row |= {"judged": 0, "killed": 0, "timeout": 0}
    counts = f"{len(judges.quick)} quick tests and {len(judges.slow)} slow ones"
    print(f"{name}: {counts} after {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    for mutant in Random(chosen.seed).sample(every, min(chosen.mutants, len(every))):
        if chosen.seconds and time.monotonic() - begin > chosen.seconds:
            break
        found = judges.judge(mutant)
        row["judged"] += 1
        row["killed"] += found != 0
        row["timeout"] += found in (None, -signal.SIGXCPU, -signal.SIGKILL)
        if found == 0:
            print(f"{name}: survives {mutant.file}:{mutant.line} {mutant.name}", file=sys.stderr, flush=True)
    row["share"] = f"{100 * row['killed'] / max(row['judged'], 1):.1f} %"
    row["minutes"] = round((time.monotonic() - begin) / 60)
    return row


def main() -> int:
    """Judge the rooms one after another; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", help="only these, separated by commas")
    parser.add_argument("--mutants", type=int, default=300, help="of each room")
    parser.add_argument("--seconds", type=int, default=0, help="at most, of each room; 0 for no limit")
    parser.add_argument("--least", type=float, default=85, help="percent that have to be killed")
    parser.add_argument("--seen", type=Path, help="folder that keeps which tests run which lines, of a tree as it is")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    _warm()
    rows = [room_row(name, chosen) for name in (chosen.rooms.split(",") if chosen.rooms else ROOMS)]
    names = {"room": "room", "all": "changes there are", "judged": "judged", "tests": "tests", "killed": "killed"}
    names |= {"timeout": "of these by time", "share": "share", "minutes": "minutes"}
    lines = [f"| {' | '.join(names.values())} |", "| -- |" + " --: |" * (len(names) - 1)]
    lines += [f"| {' | '.join(str(row[name]) for name in names)} |" for row in rows]
    print("\n".join(lines))
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        chosen.docs.write_text("\n".join([head + BEGIN, *lines, END]) + rest.partition(END)[2])
    return 1 if any(100 * row["killed"] < chosen.least * row["judged"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
