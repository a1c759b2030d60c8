"""Jobs: processes that pass on results and errors, folders that know their job, and lists of files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import pytest

from hra.errors import FileError, HraError
from hra.files.job_folder import JOB, open_job
from hra.files.processes import in_processes


def test_results_of_all_items_and_errors_that_are_passed_on():
    assert sorted(in_processes(abs, range(-5, 6), 2)) == sorted(map(abs, range(-5, 6)))
    with pytest.raises(TypeError):
        list(in_processes(int, [[]], 1))  # pyright: ignore[reportArgumentType]
    with pytest.raises(HraError, match="was killed"):
        list(in_processes(os._exit, [3], 1))


def test_what_processes_warn_of_is_warned_of_here():
    with pytest.warns(UserWarning) as caught:
        assert list(in_processes(warnings.warn, ["frames", "colours"], 2)) == [None, None]
    assert sorted(str(each.message) for each in caught) == ["colours", "frames"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="frames"):
            list(in_processes(warnings.warn, ["frames"], 1))


@pytest.mark.parametrize("jobs", [0, 1025, 1.0, True])
def test_numbers_of_processes(jobs: object):
    with pytest.raises(HraError, match="processes"):
        list(in_processes(abs, [1], jobs))  # pyright: ignore[reportArgumentType]


def test_each_process_computes_on_one_thread():
    assert list(in_processes(os.getenv, ["NUMBA_NUM_THREADS", "OMP_NUM_THREADS"], 1)) == ["1", "1"]


def test_processes_do_not_hear_ctrl_c_and_this_one_does():
    heard = partial(signal.pthread_sigmask, signal.SIG_BLOCK)
    assert all(signal.SIGINT in blocked for blocked in in_processes(heard, [[], []], 2))
    assert signal.SIGINT not in heard([])


def test_ctrl_c_ends_processes_in_the_middle_of_their_work():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    begin = time.monotonic()
    typed = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
    typed.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(in_processes(time.sleep, [300, 300], 2))
    finally:
        typed.cancel()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 200, "nobody waited for the work"


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = f"from hra.files.processes import in_processes\nlist(in_processes(open, [{str(pipe)!r}] * 2, 2))"
    running = subprocess.Popen([sys.executable, "-c", script])
    # The end that is written to opens when a child has opened the other one: the child works then.
    with pipe.open("w"):
        children = _children(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        while any(map(_lives, children)):
            time.sleep(0.05)
    assert children


def _children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(number) for number in text.split()]


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_folder_knows_its_job(tmp_path: Path):
    facts = {"budget": 12, "sizes": (1, 2), "name": "ä"}
    assert open_job(tmp_path / "a" / "b", facts) == {**facts, "sizes": [1, 2]}
    assert open_job(tmp_path / "a" / "b", facts) == open_job(tmp_path / "a" / "b", dict(reversed(facts.items())))
    with pytest.raises(HraError, match="another job: budget, more differ"):
        open_job(tmp_path / "a" / "b", {**facts, "budget": 13, "more": 1})
    (tmp_path / "a" / "b" / JOB).write_text("{")
    with pytest.raises(FileError, match="not valid JSON"):
        open_job(tmp_path / "a" / "b", facts)
    (tmp_path / "a" / "b" / "piece-1").write_text("")
    (tmp_path / "a" / "b" / JOB).unlink()
    with pytest.raises(HraError, match=f"holds results and no {JOB}"):
        open_job(tmp_path / "a", facts, "piece-*")
    assert not (tmp_path / "a" / JOB).exists()
    assert open_job(tmp_path / "a", facts, "other-*")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot create"):
        open_job(tmp_path / "file", facts)
