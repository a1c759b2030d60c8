"""Writers that are killed, that meet, or whose disk fails at any call: the target is old or new, never torn."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hra.errors import FileError
from hra.files import atomic_write
from tests.helpers.writers import WRITERS, leftovers, prepared, state

CODES = [errno.ENOSPC, errno.EIO, errno.EACCES]


@pytest.mark.case(84, 85, 89)
@pytest.mark.parametrize("kills, rounds", [(3, 1), pytest.param(100, 50, marks=pytest.mark.slow)])
def test_killed_writers_and_eight_at_once_leave_whole_targets(kills: int, rounds: int) -> None:
    command = [sys.executable, "-m", "tests.helpers.killing", str(kills), str(rounds)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    tallies = {line["writer"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert list(tallies) == list(WRITERS), done.stderr
    for tally in tallies.values():
        assert tally["kills"]["mid_write"] == kills, tally
        assert [tally[part][name] for part in ("kills", "builders") for name in ("torn", "not_swept")] == [0] * 4, tally


class Faults:
    """Every call that writes, counted; the one of a number fails, a write after half of its bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls, self.failing, self.code = 0, -1, 0
        claim = atomic_write._claim

        def claimed(*arguments: Any) -> tuple[Path, Any]:
            self.step()
            temporary, stream = claim(*arguments)
            return temporary, Stream(stream, self)

        monkeypatch.setattr(atomic_write, "_claim", claimed)
        for name in ("fsync", "fchmod", "replace"):
            monkeypatch.setattr(os, name, self.failing_like(getattr(os, name)))

    def failing_like(self, real: Any) -> Any:
        def call(*arguments: Any) -> Any:
            self.step()
            return real(*arguments)

        return call

    def step(self) -> None:
        self.calls += 1
        if self.calls == self.failing:
            raise OSError(self.code, os.strerror(self.code))

    def arm(self, number: int, code: int) -> None:
        self.calls, self.failing, self.code = 0, number, code


class Stream:
    """A file whose writes and flushes are counted."""

    def __init__(self, real: Any, faults: Faults) -> None:
        self.real, self.faults = real, faults
        self.fileno = real.fileno

    def write(self, content: bytes) -> None:
        self.real.write(content[: len(content) // 2])
        self.faults.step()
        self.real.write(content[len(content) // 2 :])

    def flush(self) -> None:
        self.faults.step()
        self.real.flush()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *reason: object) -> None:
        self.real.close()


@pytest.mark.case(86, 87, 88)
@pytest.mark.parametrize("kind", WRITERS)
def test_a_disk_that_fails_at_any_call_leaves_the_old_content(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, target, allowed = prepared(kind, tmp_path)
    faults = Faults(monkeypatch)
    writer.write(target, 0)
    calls, old = faults.calls, state(target)
    assert calls >= 6  # claim, write, flush, mode, sync, rename: nothing is written past what is watched
    for number in range(1, calls + 1):
        for code in CODES:
            faults.arm(number, code)
            with pytest.raises(FileError, match=os.strerror(code)) as caught:
                writer.write(target, 1)
            assert caught.value.where and caught.value.fix
            # Only a folder whose files are being renamed is neither: it says so by having no manifest.
            assert state(target) == old or (writer.folder and state(target) == b"")
            assert leftovers(target) == []
            faults.arm(-1, 0)
            if state(target) != old:
                writer.write(target, 0)
    writer.write(target, 1)
    assert state(target) in allowed - {old, b""}
