#!/usr/bin/env python
"""Read made-up, real and damaged files and count what comes of them; prints Markdown tables.

Run ``python scripts/check_readers.py [--inputs N] [--models FOLDER] [--docs docs/readers.md]``:

1. hostile and odd files with the answer that each must get (tests/helpers/hostile);
2. a glTF scene changed property by property, judged by Khronos' validator (where ``HRA_GLTF_VALIDATOR`` names the
   folder in which ``npm i gltf-validator`` ran);
3. the models of packages that `make data` has put into data/models, beside what trimesh reads;
4. N damaged files (the long mode: 100,000), in a process of their own.

``--docs`` puts the tables into that page. The exit code is 1 if an answer is wrong, an error is not typed or says no
fix, or memory or time go beyond the limit: 256 MiB and four times the files, ten seconds.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers import gltf_validator  # noqa: E402
from tests.helpers.hostile import KINDS, fuzzing, sweep  # noqa: E402
from tests.helpers.hostile.judging import Outcome, judged, measured, read  # noqa: E402
from tests.helpers.hostile.seeds import FILE_KINDS, seeds_of  # noqa: E402

_SUFFIXES = {".glb", ".gltf", ".obj", ".off", ".ply", ".stl"}
_BATCH = 500
_VERDICTS = ("wrong", "untyped", "no fix", "over")


def main() -> int:
    """Make the tables; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=2400, help="damaged files; 100,000 in the long mode")
    parser.add_argument("--seed", type=int, default=1, help="of the damaged files")
    parser.add_argument("--models", type=Path, default=Path("data/models"), help="folder of real models")
    parser.add_argument("--docs", type=Path, help="page whose tables are replaced")
    chosen = parser.parse_args()
    read_once()
    tables, faults = {}, []
    for name, (table, found) in {
        "hostile": hostile(),
        "gltf": properties(),
        "models": models(chosen.models),
        "damaged": damaged(chosen.inputs, chosen.seed),
    }.items():
        if table:
            print(f"\n{table}\n", flush=True)
            tables[name] = table
        faults += found
    if chosen.docs is not None:
        _put(chosen.docs, tables)
    for fault in faults:
        print(f"FAULT {fault}", file=sys.stderr)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


def read_once() -> None:
    """Load all modules and compile all kernels, whose memory and time are not file's."""
    for seeds in map(seeds_of, FILE_KINDS):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, content in seeds.beside.items():
                Path(folder, name).write_bytes(content)
            path = Path(folder, f"a{seeds.files[0][1]}")
            path.write_bytes(seeds.files[0][0])
            seeds.run(path)


def hostile() -> tuple[str, list[str]]:
    """The made-up files, each judged against the answer that it must get."""
    rows, faults = [], []
    for kind, module in KINDS.items():
        counts: Counter[str] = Counter()
        for case in module.cases():
            with tempfile.TemporaryDirectory() as folder:
                outcome = judged(case, Path(folder))
            counts[outcome.verdict] += 1
            if outcome.verdict in _VERDICTS:
                faults.append(f"{case.name}: {outcome.verdict}, {outcome.detail}")
        rows.append([kind, counts.total(), counts["accepted"], counts["refused"], *_faults(counts)])
    head = ["kind", "files", "read right", "refused right", "wrong", "untyped", "no fix", "over the limit"]
    return _table(head, rows), faults


def properties() -> tuple[str, list[str]]:
    """The changed glTF scenes beside Khronos' validator."""
    if not gltf_validator.available():
        print("Khronos' validator is not there: no table of glTF properties", file=sys.stderr)
        return "", []
    with tempfile.TemporaryDirectory() as folder:
        names, paths = [], []
        for number, (name, content) in enumerate(sweep.documents()):
            paths.append(Path(folder, f"{number}.gltf"))
            paths[-1].write_bytes(content)
            names.append(name)
        ours = [measured(lambda path=path: read(path), path.stat().st_size)[0] for path in paths]
        theirs = gltf_validator.errors(paths)
    counts, lenient, faults = Counter(), Counter(), []
    for name, outcome, codes in zip(names, ours, theirs, strict=True):
        column, fault = _beside_validator(name, outcome, codes, lenient)
        counts[column] += 1
        if fault:
            faults.append(f"gltf {name}: {fault}")
    columns = ["both read it", "both refuse it", "lenient", "not read", "wrong", *_VERDICTS[1:]]
    table = _table(["files", *columns], [[len(names), *(counts[column] for column in columns)]])
    alone, several = (
        ", ".join(
            f"{name.replace(', ', ' and ')} {count}" for name, count in lenient.most_common() if (", " in name) == more
        )
        for more in (False, True)
    )
    return f"{table}\n\nLenient: {alone}. Several at once: {several}.", faults


def _beside_validator(change: str, outcome: Outcome, codes: list[str], lenient: Counter[str]) -> tuple[str, str]:
    """The column of what comes of a change, and what is wrong with it."""
    if outcome.verdict in _VERDICTS:
        return outcome.verdict, f"{outcome.verdict}, {outcome.detail}"
    if outcome.verdict == "refused":
        if codes:
            return "both refuse it", ""
        known = any(reason in outcome.detail for reason in sweep.NOT_READ)
        return ("not read", "") if known else ("wrong", f"refused, but valid: {outcome.detail}")
    if not codes:
        return "both read it", ""
    name = sweep.leniency(codes, change)
    lenient[name] += 1
    return ("lenient", "") if name else ("wrong", f"read in spite of {', '.join(codes)}")


def models(folder: Path) -> tuple[str, list[str]]:
    """Real models by package, and whether trimesh reads the same surface."""
    if not folder.is_dir():
        print(f"no models in {folder}; `make data` fetches some", file=sys.stderr)
        return "", []
    rows, faults = [], []
    for package in sorted({path.relative_to(folder).parts[0] for path in folder.glob("*/*")}):
        counts: Counter[str] = Counter()
        for path in sorted(file for file in (folder / package).rglob("*") if file.suffix.lower() in _SUFFIXES):
            beside = sum(file.stat().st_size for file in path.parent.iterdir() if file.is_file())
            outcome, mesh = measured(lambda path=path: read(path), beside)
            counts[outcome.verdict] += 1
            if outcome.verdict in _VERDICTS:
                faults.append(f"{path}: {outcome.verdict}, {outcome.detail}")
            elif mesh is not None:
                counts[_beside_trimesh(path, mesh)] += 1
        columns = ["accepted", "refused", "same surface", "other surface", "trimesh fails"]
        total = counts["accepted"] + counts["refused"] + sum(counts[name] for name in _VERDICTS)
        rows.append([package, total, *(counts[name] for name in columns), *_faults(counts)[1:]])
    head = ["package", "files", "read", "refused", "same as trimesh", "another surface", "trimesh fails"]
    return _table([*head, *_VERDICTS[1:]], rows), faults


def _beside_trimesh(path: Path, mesh) -> str:
    """Whether what trimesh finds has the same area, without duplicate faces."""
    import trimesh

    from hra.domains import meshes

    try:
        found = trimesh.load_scene(path, process=False).to_mesh()
        theirs = meshes.from_arrays(found.vertices, found.faces)
    except Exception:
        return "trimesh fails"
    bare = meshes.from_arrays(mesh.positions, mesh.triangles)
    return "same surface" if np.isclose(_area(bare), _area(theirs), rtol=1e-3) else "other surface"


def _area(mesh) -> float:
    corners = mesh.positions[mesh.triangles].astype(float)
    edges = corners[:, 1:] - corners[:, :1]
    return float(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum() / 2)


def damaged(inputs: int, seed: int) -> tuple[str, list[str]]:
    """Damaged files of every kind, read in another process, which they may end."""
    rows, faults, per_kind = [], [], -(-inputs // len(FILE_KINDS))
    for kind in FILE_KINDS:
        tally = _in_batches(kind, seed, per_kind)
        faults += [f"{kind} {number} of seed {seed}: {verdict}, {detail}" for number, verdict, detail in tally.faults]
        counts = tally.verdicts
        row = [kind, counts.total(), counts["accepted"], counts["refused"], *_faults(counts)[1:], counts["ended"]]
        rows.append([*row, f"{tally.peak / 2**20:.0f}"])
        print(f"{kind}: {dict(counts)}", file=sys.stderr, flush=True)
    sums = [sum(row[column] for row in rows) for column in range(1, len(rows[0]) - 1)]
    rows.append(["all", *sums, max(rows, key=lambda row: int(row[-1]))[-1]])
    head = ["kind", "files", "read", "refused", "untyped", "no fix", "over the limit", "ended the process", "peak MiB"]
    return _table(head, rows), faults


def _in_batches(kind: str, seed: int, count: int) -> fuzzing.Tally:
    tally = fuzzing.Tally()
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    for begin in range(0, count, _BATCH):
        numbers = range(begin, min(begin + _BATCH, count))
        try:
            tally.add(pool.submit(fuzzing.run, kind, seed, numbers).result())
        except BrokenProcessPool:
            tally.verdicts["ended"] += len(numbers)
            tally.faults.append((begin, "ended", "the process ended within this batch"))
            pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    pool.shutdown()
    return tally


def _faults(counts: Counter[str]) -> list[int]:
    return [counts[name] for name in _VERDICTS]


def _table(head: list[str], rows: list[list[object]]) -> str:
    ruler = ["---", *["---:"] * (len(head) - 1)]
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ruler, *cells])


def _put(page: Path, tables: dict[str, str]) -> None:
    """Replace what stands between the markers of each table."""
    text = page.read_text()
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        text = re.sub(f"{begin}.*?{end}", lambda _, t=table, b=begin, e=end: f"{b}\n{t}\n{e}", text, flags=re.DOTALL)
    page.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
