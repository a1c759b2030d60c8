#!/usr/bin/env python
"""Feed every reader with inputs that coverage guides, and count what comes of them; prints a Markdown table.

Run ``python scripts/fuzz.py [--kinds ply,obj] [--inputs N] [--seconds S] [--docs docs/promises.md]``. Seeds are the
valid files of tests/helpers/hostile. A fault is an error that is not typed or says no fix, an input that takes ten
seconds, and one that ends the process; one of each place is kept in tests/fixtures/crashers, where the tests read it
from then on. Memory is that of the process beyond what it took to start, with what the fuzzer itself keeps. Needs
atheris (extra ``fuzz``, Linux and macOS); without it ``python scripts/check_readers.py`` damages files at random. The
exit code is 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
CRASHERS = ROOT / "tests" / "fixtures" / "crashers"
BEGIN, END = "<!-- made by scripts/fuzz.py -->", "<!-- until here, by scripts/fuzz.py -->"
_LARGEST, _SECONDS, _RSS_MIB, _OFTEN = 20_000, 10, 2_048, 1_000
# Inputs of one process: the fuzzer itself keeps up to two kilobytes of each.
_BATCH = 100_000


def main() -> int:
    """Fuzz every kind in a process of its own; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", help="only these, separated by commas")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="for each kind")
    parser.add_argument("--seconds", type=int, default=0, help="at most, for each kind; 0 for no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="page in whose table the rows of these kinds are replaced")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        return _child(chosen.child[0], Path(chosen.child[1]), chosen)
    from tests.helpers.hostile.seeds import FILE_KINDS

    rows = [_fuzzed(kind, chosen) for kind in (chosen.kinds.split(",") if chosen.kinds else FILE_KINDS)]
    table = _table(rows)
    print(table)
    if chosen.docs is not None:
        head, _, rest = chosen.docs.read_text().partition(BEGIN)
        old, _, rest = rest.partition(END)
        chosen.docs.write_text(f"{head}{BEGIN}\n{_merged(old, table)}\n{END}{rest}")
    return 1 if any(row["faults"] for row in rows) else 0


def _table(rows: list[dict[str, Any]]) -> str:
    names = {"kind": "reader", "inputs": "inputs", "read": "read", "refused": "refused", "minutes": "CPU minutes"}
    names |= {"peak": "MiB beyond the start", "faults": "faults"}
    lines = [f"| {' | '.join(names.values())} |", "| -- |" + " --: |" * (len(names) - 1)]
    for row in rows:
        cells = [row[name] if isinstance(row[name], str) else f"{row[name]:,.10g}" for name in names]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _merged(old: str, new: str) -> str:
    """The new table, with the old rows of kinds that were not run now."""
    kinds = [{line.split("|")[1]: line for line in table.strip().splitlines()[2:]} for table in (old, new)]
    return "\n".join([*new.splitlines()[:2], *(kinds[0] | kinds[1]).values()])


def _fuzzed(kind: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """One row; after an input that ends the process the others are still tried."""
    row: dict[str, Any] = {"kind": kind, "inputs": 0, "read": 0, "refused": 0, "minutes": 0.0, "peak": 0, "faults": 0}
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # files there cost the disk nothing
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        while row["inputs"] < chosen.inputs and not (chosen.seconds and 60 * row["minutes"] >= chosen.seconds):
            left = chosen.seconds and max(int(chosen.seconds - 60 * row["minutes"]), 1)
            seed = chosen.seed + row["inputs"] + row["faults"]
            command = [sys.executable, __file__, "--child", kind, folder, "--seed", str(seed)]
            command += ["--inputs", str(min(chosen.inputs - row["inputs"], _BATCH)), "--seconds", str(left)]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            counts = json.loads(Path(folder, "counts").read_text()) if Path(folder, "counts").exists() else None
            if counts is None:
                raise SystemExit(f"{kind}: nothing was read:\n{ended.stderr[-3000:]}")
            for name in ("inputs", "read", "refused", "minutes"):
                row[name] += counts[name]
            row["peak"] = max(row["peak"], counts["peak"])
            row["faults"] += counts["faults"] + _kept(kind, Path(folder, "kept"))
            Path(folder, "counts").unlink()
            print(f"{kind}: {counts}", file=sys.stderr, flush=True)
    row["minutes"] = round(row["minutes"], 1)
    return row


def _kept(kind: str, folder: Path) -> int:
    """Inputs that ended the process or took too long, moved to those that the tests read."""
    files = [file for file in folder.iterdir() if file.is_file()]
    for file in files:
        _keep(kind, file.read_bytes(), file.name.split("-")[0])
        file.unlink()
    return len(files)


def _keep(kind: str, content: bytes, why: str) -> None:
    from tests.helpers.hostile.seeds import seeds_of

    suffix, content = _taken_apart(content, sorted({suffix for _, suffix in seeds_of(kind).files}))
    CRASHERS.mkdir(exist_ok=True)
    name = f"{kind.split(',')[0]}-{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
    (CRASHERS / name).write_bytes(content)
    print(f"FAULT {kind}: {why}; kept as {name}", file=sys.stderr, flush=True)


def _taken_apart(data: bytes, suffixes: list[str]) -> tuple[str, bytes]:
    """The first byte says which suffix the file has, the others are its content."""
    return suffixes[data[0] % len(suffixes)], data[1:]


class _Counts:
    """What came of the inputs so far, written down now and then: the fuzzer ends the process without another word."""

    def __init__(self, file: Path) -> None:
        self.file, self.of = file, {"inputs": 0, "read": 0, "refused": 0, "faults": 0}
        self.places: set[str] = set()
        self.cpu, self.start = time.process_time(), _resident()

    def write(self) -> None:
        """Write the counts; only whole ones are seen."""
        used = {"minutes": (time.process_time() - self.cpu) / 60, "peak": (_resident() - self.start) // 1024}
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.of | used))
        os.replace(part, self.file)


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _child(kind: str, folder: Path, chosen: argparse.Namespace) -> int:
    import atheris  # it states no types

    instrument_imports: Any = getattr(atheris, "instrument_imports")  # noqa: B009
    warnings.simplefilter("ignore")
    with instrument_imports(include=["hra"], exclude=_compiled()):
        from tests.helpers.hostile.seeds import seeds_of

        seeds = seeds_of(kind)
        for number, (content, suffix) in enumerate(seeds.files):
            path = folder / f"seed{number}{suffix}"
            path.write_bytes(content)
            _beside(seeds, folder)
            with contextlib.suppress(Exception):
                seeds.run(path)  # loads all modules and compiles all kernels
            path.unlink()
    suffixes = sorted({suffix for _, suffix in seeds.files})
    corpus, kept = folder / "corpus", folder / "kept"
    for made in (corpus, kept):
        made.mkdir(exist_ok=True)  # what an earlier process found is gone on from
    for number, (content, suffix) in enumerate(seeds.files):
        (corpus / str(number)).write_bytes(bytes([suffixes.index(suffix)]) + content)
    counts = _Counts(folder / "counts")

    def one(data: bytes) -> None:
        counts.of["inputs"] += 1
        if data:
            _read(kind, seeds, data, suffixes, folder, counts)
        if counts.of["inputs"] % _OFTEN == 0 or counts.of["inputs"] == chosen.inputs:
            counts.write()

    options = [f"-runs={chosen.inputs}", f"-seed={chosen.seed}", f"-max_len={_LARGEST}", f"-timeout={_SECONDS}"]
    options += [f"-rss_limit_mb={_RSS_MIB}", f"-artifact_prefix={kept}/", "-verbosity=0", str(corpus)]
    if chosen.seconds:
        options.append(f"-max_total_time={chosen.seconds}")
    counts.write()
    atheris.Setup([sys.argv[0], *options], one, enable_python_coverage=True)
    atheris.Fuzz()
    return 0


def _compiled() -> list[str]:
    """Modules that Numba compiles functions of, in which coverage cannot be counted."""
    roots = {"hra": "hra", "domains": "hra.domains", "kernels": "hra.kernels"}
    files = [(Path(folder), file) for folder in roots for file in (ROOT / folder).rglob("*.py")]
    inside = [(folder, file.relative_to(ROOT / folder)) for folder, file in files if "njit" in file.read_text("utf-8")]
    return [".".join([roots[folder.name], *name.with_suffix("").parts]) for folder, name in inside]


def _beside(seeds: Any, folder: Path) -> None:
    for name, content in seeds.beside.items():
        (folder / name).write_bytes(content)


def _read(kind: str, seeds: Any, data: bytes, suffixes: list[str], folder: Path, counts: _Counts) -> None:
    from hra.errors import HraError

    suffix, content = _taken_apart(data, suffixes)
    path = folder / f"a{suffix}"
    path.write_bytes(content)
    try:
        seeds.run(path)
        counts.of["read"] += 1
    except HraError as error:
        counts.of["refused"] += 1
        if error.where and error.fix:
            return
        _note(kind, data, f"no {'fix' if error.where else 'place'}: {error.what}", error, counts)
    except Exception as error:
        _note(kind, data, repr(error), error, counts)


def _note(kind: str, data: bytes, why: str, error: Exception, counts: _Counts) -> None:
    """Keep the first input of each place that a fault comes from."""
    place = str(traceback.extract_tb(error.__traceback__)[-1])
    if place not in counts.places:
        counts.places.add(place)
        counts.of["faults"] += 1
        _keep(kind, data, f"{why} at {place}")


if __name__ == "__main__":
    raise SystemExit(main())
