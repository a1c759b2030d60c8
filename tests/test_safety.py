"""What the package never does: run code out of data, start shells, speak to a network."""

from __future__ import annotations

import ast
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(file for folder in ("hra", "domains", "kernels") for file in (ROOT / folder).rglob("*.py"))
MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "socket",
    "ssl",
    "requests",
    "httpx",
}
MODULES |= {
    "ftplib",
    "smtplib",
    "telnetlib",
    "http.client",
    "urllib.request",
    "urllib3",
    "aiohttp",
    "xml",
    "lxml",
    "yaml",
}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.loads", "input"}
# NumPy reads headers of arrays as Python literals; hra.files.plain_arrays does not. What is mapped is hra's own.
CALLS |= {"np.load", "np.lib.format.read_array", "np.lib.format.open_memmap"}
# Compiled code is kept as Numba keeps it; what comes with the package is a part of it, as its modules are.
OWN = {"kernels/chunking/octree.py": ["np.load"], "hra/shipped.py": ["pickle", "pickle.loads"]}
# Pages are served to this machine alone, from a port that is taken before they are made.
OWN |= {"hra/cli/explore.py": ["socket"]}


def offences(source: str) -> Iterator[str]:
    """What a module imports or calls and must not; methods such as re.compile and model.eval are others."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (name for name in names if {name, name.partition(".")[0]} & MODULES)
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in CALLS:
                yield called
            for keyword in node.keywords:
                said = ast.unparse(keyword.value)
                if (keyword.arg, said) in {("shell", "True"), ("allow_pickle", "True"), ("weights_only", "False")}:
                    yield f"{keyword.arg}={said}"
            needed = {"torch.load": "weights_only"}.get(called)
            if needed and needed not in {keyword.arg for keyword in node.keywords}:
                yield called


def test_no_module_runs_data_or_opens_a_connection() -> None:
    found = {str(file.relative_to(ROOT)): list(offences(file.read_text())) for file in SOURCES}
    assert {file: names for file, names in found.items() if names} == OWN
    assert len(found) > 300


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from http.client import HTTPConnection",
        "eval(text)",
        "subprocess.run(command, shell=True)",
        "np.load(path)",
        "np.lib.format.read_array(stream)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path)",
    ],
)
def test_an_offence_would_be_found(source: str) -> None:
    assert list(offences(source))


def test_the_tests_run_without_a_network() -> None:
    for address in (("192.0.2.1", 80), ("localhost.invalid", 443)):
        with pytest.raises(RuntimeError, match="no network"):
            socket.create_connection(address, timeout=0.1)


def test_the_package_works_without_assertions() -> None:
    code = "import hra; assert False; print(hra.solve(hra.Hierarchy.flat([1.0, 2.0]), -1, gains=[1.0, 1.0]))"
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "hra.errors.InvalidBudget" in done.stderr
