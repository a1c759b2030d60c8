#!/usr/bin/env python
"""Install hra with the lowest or the newest versions of its packages into new environments, and try it; prints a table.

Run ``python scripts/check_matrix.py [--packages lowest,newest] [--extras "demo,gl;hf"] [--pythons python3.11]
[--docs docs/promises.md]`` (`make matrix`). Every Python is tried with every choice of versions and every group of
extras (``--extras`` separates groups by semicolons; nothing stands for the core alone). Wheels are built of the library
and of the laboratory; each environment gets the first, with ``learn`` the second as well, and runs the programs of
``scripts/trials`` for the core and for each of its extras.

The lowest versions are the bounds of pyproject.toml of what these extras need. Torch is that of constraints.txt
everywhere, and tried on the first Python only, because each version is a download of gigabytes. A Python that is not
there is said to be so. In ``--docs`` the rows of what was tried are replaced, and others stay. The exit code is 1 if
installing or trying failed, but for lowest versions that have no wheels for a Python that came after them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIALS = ROOT / "scripts" / "trials"
BEGIN, END = "<!-- made by scripts/check_matrix.py -->", "<!-- until here, by scripts/check_matrix.py -->"
HEAD = ["| Python | packages | extras | result |", "| -- | -- | -- | -- |"]
_LIGHT, _MACHINES = "demo,draco,formats,networkx,gl,points,corpus,serve,slides,usd,viz,ocr,window", "gpu,ray"
_LEARNING = ("learn,torch", "vlm,imagenet", "hf")
# The lowest versions of all extras do not go together, the newest do; but torch is not tried everywhere.
GROUPS = {
    "lowest": ("", _LIGHT, _MACHINES, *_LEARNING),
    "newest": ("", f"{_LIGHT},{_MACHINES}", ",".join(_LEARNING)),
}
_WORKS, _NONE, _NO_WHEELS = "installed and works", "not on this machine", "no wheels of these versions"
_COMPILED = (
    "numba,llvmlite,numpy,scipy,scikit-image,scikit-learn,pillow,pyarrow,matplotlib,onnxruntime,safetensors,torch"
)


def main() -> int:
    """Install and try each; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default="lowest,newest")
    parser.add_argument("--extras", help="extras to install, or nothing for the core alone; all by default")
    parser.add_argument("--pythons", default=sys.executable)
    parser.add_argument("--docs", type=Path, help="page whose table is brought up to date")
    chosen = parser.parse_args()
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        wheels = built(Path(folder))
        for first, python in enumerate(chosen.pythons.split(",")):
            for packages, extras in _choices(chosen.packages, chosen.extras):
                if first and needs_torch(extras):
                    continue
                version = _version(python)
                if version is None:
                    rows.append(f"| {Path(python).name.removeprefix('python')} | - | - | {_NONE} |")
                    break
                result = _tried(python, packages, extras, *wheels)
                failed |= not result.startswith((_WORKS, _NO_WHEELS)) or (result == _NO_WHEELS and packages == "newest")
                rows.append(f"| {version} | {packages} | {extras.replace(',', ', ') or 'none'} | {result} |")
                print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join([*HEAD, *rows]))
    if chosen.docs is not None:
        chosen.docs.write_text(with_rows(chosen.docs.read_text(), rows))
    return 1 if failed else 0


def _choices(packages: str, extras: str | None) -> Iterator[tuple[str, str]]:
    """What is installed on a Python: versions, and extras."""
    for each in packages.split(","):
        yield from ((each, group) for group in (GROUPS[each] if extras is None else extras.split(";")))


def built(folder: Path) -> tuple[Path, Path]:
    """Wheels of the library and of the laboratory, from copies without what earlier builds left."""
    for source, root, folders, files in (
        ("hra", ROOT, ("hra", "domains", "kernels", "LICENSES"), ("LICENSE", "NOTICE", "README.md", "pyproject.toml")),
        ("hra_lab", ROOT / "examples" / "lab", ("hra_lab",), ("README.md", "pyproject.toml")),
    ):
        for name in folders:
            shutil.copytree(root / name, folder / source / name, ignore=_left_over)
        for name in files:
            shutil.copy(root / name, folder / source)
        wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, folder / source]
        subprocess.run(wheel, check=True)
    return next(folder.glob("hra-*.whl")), next(folder.glob("hra_lab-*.whl"))


def _left_over(folder: str, names: list[str]) -> list[str]:
    """What is not copied: caches, and the links by which editors find domains and kernels."""
    return [name for name in names if name == "__pycache__" or Path(folder, name).is_symlink()]


def _version(python: str) -> str | None:
    """Its number, or None where it is not there."""
    if shutil.which(python) is None:
        return None
    asked = _run([python, "-c", "import platform; print(platform.python_version())"])
    return None if asked.returncode else asked.stdout.strip()


def _tried(python: str, packages: str, extras: str, wheel: Path, laboratory: Path) -> str:
    """What came of installing some extras and of trying them; ``learn`` serves the laboratory, which comes with it."""
    with tempfile.TemporaryDirectory() as folder:
        inside, bounds = f"{folder}/env/bin/python", Path(folder, "bounds.txt")
        learns = "learn" in extras.split(",")
        bound = lowest(f"{extras},demo" if learns else extras) if packages == "lowest" else []
        bounds.write_text("\n".join([torch_version(), *bound]))
        targets = [f"{wheel}[{extras}]" if extras else str(wheel), *([str(laboratory)] if learns else [])]
        # What has no wheel for this Python is not built from its sources.
        install = [inside, "-m", "pip", "install", "-q", f"--only-binary={_COMPILED}", *targets, "-c", str(bounds)]
        programs = ["core", *(f"with_{extra}" for extra in extras.split(",") if extra)]
        steps = {
            "venv": [python, "-m", "venv", f"{folder}/env"],
            "pip": install,
            "python -O": [inside, "-O", "-I", "-c", "import hra"],
            **{program: [inside, "-I", str(TRIALS / f"{program}.py")] for program in programs},
        }
        said: list[str] = []
        for name, step in steps.items():
            done = _run(step, folder)
            if done.returncode and name == "pip" and _no_wheels(done.stderr, python):
                return _NO_WHEELS
            if done.returncode:
                print(f"{done.stdout[-2000:]}{done.stderr[-2000:]}", file=sys.stderr)
                return f"FAILED: {name}: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}"
            said += re.findall(r"^(?:\w+ [\d.+a-z]+(?:, )?)+$", done.stdout, re.MULTILINE)  # of versions
    return f"{_WORKS}: {', '.join(dict.fromkeys(said))}"


def _no_wheels(said: str, python: str) -> bool:
    """Whether pip found none; it may call that a conflict, as which it counts on the lowest Python alone."""
    conflict = "ResolutionImpossible" in said and not (_version(python) or "").startswith("3.11.")
    return conflict or "No matching distribution" in said


def _run(command: list[str], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def with_rows(page: str, rows: Iterable[str]) -> str:
    """A page whose table has these rows, and of its others those of another Python, packages or extras."""
    head, _, rest = page.partition(BEGIN)
    old, _, tail = rest.partition(END)
    kept = {_key(row): row for row in old.splitlines() if row.startswith("|") and row not in HEAD}
    kept.update((_key(row), row) for row in rows)
    return "\n".join([head + BEGIN, *HEAD, *(kept[key] for key in sorted(kept, key=_order)), END]) + tail


def _key(row: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row.split("|")[1:4])


def _order(key: tuple[str, ...]) -> tuple[str, str, int, str]:
    groups, extras = GROUPS.get(key[1], ()), "" if key[2] == "none" else key[2].replace(", ", ",")
    return key[0], key[1], groups.index(extras) if extras in groups else len(groups), key[2]


def needs_torch(extras: str) -> bool:
    """Whether any of them brings it."""
    return any(re.match(r"torch\b", requirement) for requirement in requirements(extras))


def torch_version() -> str:
    """The one that is tested with."""
    return next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))


def requirements(extras: str) -> set[str]:
    """What the core and some extras need directly, through the extras that these name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, waiting = set(project["dependencies"]), [extra for extra in extras.split(",") if extra]
    while waiting:
        for requirement in project["optional-dependencies"][waiting.pop()]:
            own = re.fullmatch(r"hra\[([\w,]+)\]", requirement)
            if own:
                waiting += own[1].split(",")
            else:
                found.add(requirement)
    return found


def lowest(extras: str) -> list[str]:
    """The bounds of what some extras need as exact versions, torch left out."""
    found = (re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", each) for each in requirements(extras))
    bounds: dict[str, list[str]] = {}
    for match in filter(None, found):
        bounds.setdefault(match[1], []).append(match[2])
    # Where several extras state one, all of them together take the highest.
    return sorted(f"{name}=={max(some, key=_numbers)}" for name, some in bounds.items() if name != "torch")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    sys.exit(main())
