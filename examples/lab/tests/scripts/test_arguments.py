"""Scripts say what they take, and do nothing before they have it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
# They write what the code says into one page, and take nothing.
PLAIN = {f"{name}.py" for name in ("bibliography", "check_prose", "draw_architecture", "notebooks", "public_api")}
SCRIPTS = [
    file
    for folder in ("scripts", "examples/lab/scripts")
    for file in sorted((ROOT / folder).glob("*.py"))
    if file.name not in PLAIN and '"__main__"' in file.read_text("utf-8")
]


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_help_is_told_and_nothing_is_run(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(script), "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0 and done.stdout.startswith(f"usage: {script.name}"), done.stderr[-500:]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("script", "arguments", "says"),
    [
        ("scripts/release.py", [], "the following arguments are required: out"),
        ("scripts/build_compiled.py", [".", "out"], "holds 0 pure wheels"),
        ("examples/lab/scripts/foreign_sets.py", ["pdf", "folder"], "the following arguments are required: out"),
    ],
)
def test_what_lacks_is_named(script: str, arguments: list[str], says: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / script), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
