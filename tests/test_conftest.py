"""What `conftest.py` promises of the way that tests are called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_tests_of_the_laboratory_are_found_without_those_of_the_library() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # From another folder: `python -m` puts its own on the path.
    asked = [*command, f"--rootdir={ROOT}", f"-c={ROOT / 'pyproject.toml'}", str(ROOT / "examples/lab/tests/vqa")]
    done = subprocess.run(asked, cwd=ROOT / "docs", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
