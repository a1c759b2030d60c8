"""The startup suite: every row is there and well formed. Nothing here depends on time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hra.errors import HraError
from hra_lab.bench.startup import QuestionBenchmark, StartupBenchmark, startup_suite
from tests.helpers.command import run_hra


def test_the_suite_covers_what_a_new_user_calls_first():
    assert [row.name for row in startup_suite()] == [
        "python",
        "import_hra",
        "import_numba",
        "help",
        "doctor",
        "tokens_allocate",
        "tokens_allocate_page",
        "mesh_lods",
        "mesh_build",
        "mesh_cut",
        "points_render",
        "points_render_budget",
        "explore_question",
        "texture_replay",
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


def test_a_peer_is_measured_where_it_is_found_and_missed_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "packer"
    program.write_text("#!/bin/sh\necho $1 >> $2/said\n")
    program.chmod(0o755)
    said = ("packer", "one", str(tmp_path)), ("packer", "two", str(tmp_path))
    row = StartupBenchmark("packed", ("-c", "pass"), peer=said)
    missed = row.measure("small", 2, 0.0)
    assert missed["peer"] is None and missed["absent"] == {"packer": "not found on the path"}
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = row.measure("small", 2, 0.0)
    assert found["peer"] == "packer" and found["peer_cpu_s"] >= 0
    assert (tmp_path / "said").read_text().split() == ["one", "two"] * 2


@pytest.mark.slow
def test_a_question_is_timed_within_a_server_that_ends_with_it(tmp_path: Path):
    image = pytest.importorskip("PIL.Image").new("RGB", (160, 160), "white")
    image.save(tmp_path / "a.png")
    row = QuestionBenchmark("question", str(tmp_path / "a.png")).measure("small", 1, 0.0)
    assert row["wall_s"] > 0 and row["cpu_s"] >= 0 and row["cold_wall_s"] > 0
