"""What `conftest.py` promises of the way that tests are called."""

from __future__ import annotations

import os
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


def test_threads_are_told_to_sleep_while_they_wait_before_numpy_is_imported() -> None:
    code = (
        "import os, sys, pytest\n"
        "class See:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy': print('seen', *map(os.getenv, ['OPENBLAS_THREAD_TIMEOUT', 'OMP_WAIT_POLICY']))\n"
        "sys.meta_path.insert(0, See())\n"
        "pytest.main(['-q', '-s', '--collect-only', '-p', 'no:cacheprovider', 'tests/test_conftest.py'])"
    )
    own = {
        name: value for name, value in os.environ.items() if name not in ("OPENBLAS_THREAD_TIMEOUT", "OMP_WAIT_POLICY")
    }
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert "seen 4 PASSIVE" in done.stdout, done.stdout + done.stderr
