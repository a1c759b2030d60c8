"""Ctrl-C at any time: one line, exit code 130, and nothing that is half there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hra.cli import INTERRUPTED, command_line
from hra.domains import meshes
from tests.helpers.seamed_meshes import grid

# What `main` does first is to answer interrupts itself. What it imports next tells that it has.
CALL = """
import sys
from hra.cli import main

class Told:
    def find_spec(self, *_):
        sys.meta_path.remove(self)
        print("ready", flush=True)

sys.meta_path.insert(0, Told())
main()
"""


def stopped(after: float, *words: str | Path, cwd: Path) -> tuple[int, str]:
    """Exit code and what was said on standard error, of a command that is interrupted so many seconds into `main`."""
    command = [sys.executable, "-c", CALL, *map(str, words)]
    # Where the tests run in the background of a shell, interrupts are ignored from the start.
    restore = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=restore
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(after)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mesh that takes seconds to build, whatever the machine."""
    rows, columns = np.indices((600, 600), np.float32)
    points = np.stack([rows, columns, 9 * np.sin(rows / 7) * np.cos(columns / 5)], axis=2).reshape(-1, 3)
    path = tmp_path_factory.mktemp("large") / "large.ply"
    meshes.TriangleMesh(points, grid(599, 599).astype(np.uint32)).export(path)
    return path


@pytest.mark.parametrize("after", [0.0, 0.01, 0.05, 0.2, 0.6])
def test_an_interrupt_is_one_line_and_130(after: float, large: Path, tmp_path: Path) -> None:
    code, said = stopped(after, "mesh", "build", large, "-o", "large.hra", cwd=tmp_path)
    assert code == 130 and said.strip().splitlines()[-1] == INTERRUPTED
    assert "Traceback" not in said and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("turned", [SystemError("returned a result with an exception set"), TypeError("no message")])
def test_an_interrupt_that_became_another_error_is_one(
    turned: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numba's functions make a SystemError of it, and imports of compiled modules a TypeError."""

    def stopped(**_: object) -> None:
        raise turned

    monkeypatch.setattr(command_line, "app", stopped)
    with pytest.raises(type(turned)):  # where nobody interrupted it is a fault
        command_line._run(INTERRUPTED, [])
    assert command_line._run(INTERRUPTED, [signal.SIGINT]) == 130 and capsys.readouterr().err.strip() == INTERRUPTED
