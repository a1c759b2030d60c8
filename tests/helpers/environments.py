"""Wheels, and environments that hold nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy

SKIPPED = (".*", "*.egg-info", "__pycache__", "build", "dist", "out", "tests", "docs")


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that has to succeed."""
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def clean_copy(source: Path, target: Path) -> Path:
    """A copy to build from (an old egg-info would add files of earlier builds)."""
    return Path(shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(*SKIPPED)))


def build_wheel(source: Path, out: Path) -> Path:
    """The wheel of the sdist of a package; ``source`` is left with the traces of its build."""
    out = out / source.name
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, cwd=source)
    return next(out.glob("*.whl"))


def clean_environment(folder: Path, *wheels: Path) -> Path:
    """The Python of an environment with these wheels; it borrows the third-party packages of this one."""
    folder.mkdir(parents=True, exist_ok=True)
    venv.create(folder, with_pip=False)
    python = folder / "bin/python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    # Most modules are imported by no test: what is imported is compiled then.
    run(*pip, "install", "-q", "--no-compile", "--no-deps", "--no-index", *wheels, cwd=folder)
    # Folders named in a .pth file do not get their own .pth files read, so this environment's editable hra stays out.
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    (site / "borrowed.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    return python
