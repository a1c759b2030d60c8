"""The startup suite: every row is there and well formed. Nothing here depends on time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hra.errors import HraError
from hra_lab.bench.startup import StartupBenchmark, startup_suite
from tests.helpers.command import run_hra


def test_the_suite_covers_what_a_new_user_calls_first():
    assert [row.name for row in startup_suite()] == [
        "python",
        "import_hra",
        "import_numba",
        "help",
        "doctor",
        "tokens_allocate",
        "mesh_build",
        "mesh_cut",
        "demo",
    ]


def test_rows_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    record = tmp_path / "b.json"
    options = ("--scale", "small", "--repeat", 1, "--names", "import_hra,help", "--json", record)
    assert run_hra("bench", "startup", *options) == 0
    rows = json.loads(record.read_text())["rows"]
    assert [row["name"] for row in rows] == ["import_hra", "help"]
    for row in rows:
        assert row["wall_s"] > 0 and row["cpu_s"] > 0
        assert row["cold_wall_s"] is None and row["cold_cpu_s"] is None
    assert "import_hra" in capsys.readouterr().out


def test_cold_runs_compile_into_a_cache_of_their_own(tmp_path: Path):
    code = (
        "import os, sys; from pathlib import Path; folder = Path(os.environ['NUMBA_CACHE_DIR']); "
        f"Path({str(tmp_path / 'seen')!r}).open('a').write(f'{{len(list(folder.iterdir()))}}\\n'); "
        "(folder / 'compiled').touch()"
    )
    row = StartupBenchmark("files", ("-c", code)).measure("full", 2, 0.0)
    assert (tmp_path / "seen").read_text().split() == ["0", "1", "1"]
    assert row["cold_wall_s"] > 0 and row["cold_cpu_s"] > 0


def test_a_command_that_fails_is_no_row():
    with pytest.raises(HraError, match="broken ended with exit code 2"):
        StartupBenchmark("broken", ("nothing",)).measure("small", 1, 0.0)


def test_what_comes_before_is_made_in_the_same_folder_and_not_measured():
    make = ("-c", "import sys; open(sys.argv[1], 'x').write('made')", "{folder}/made")
    read = ("-c", "import sys; sys.exit(open(sys.argv[1]).read() != 'made')", "{folder}/made")
    row = StartupBenchmark("read", read, before=make).measure("small", 2, 0.0)
    assert row["name"] == "read" and row["cold_wall_s"] is None and row["wall_s"] > 0
    with pytest.raises(HraError, match="exit code 1"):
        StartupBenchmark("read", read).measure("small", 1, 0.0)
