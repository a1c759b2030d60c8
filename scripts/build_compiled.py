#!/usr/bin/env python
"""A wheel with compiled code in it, out of the pure one: for this Python, this system and the packages installed here.

Run ``python scripts/build_compiled.py FOLDER OUT``; FOLDER holds the pure wheel (``python -m build --wheel``). This
runs ``hra warm-up`` on what is in the wheel, for the processors of a common level (`hra.shipped.LEVELS`), puts what was
compiled into the wheel as one file, and names the wheel for the systems of Numba's own: no code in it needs more of a
system. All packages of the extra ``demo`` are needed, and the code serves beside their very versions of NumPy and Numba
alone.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import pickle
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

CALL = "import sys; from hra.cli import main; sys.argv[0] = 'hra'; main()"


def main(wheel: Path, out: Path) -> Path:
    """Compile, and write the wheel; its path."""
    with tempfile.TemporaryDirectory() as name:
        folder, record = Path(name, "wheel"), Path(name, "warm-up.json")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        content = compiled(folder, [sys.executable, "-c", CALL, "warm-up", "--json", str(record)])
        skipped = {name: row["said"] for name, row in json.loads(record.read_text()).items() if row["skipped"]}
        if skipped:
            raise SystemExit(f"not everything was compiled: {skipped}; install the extra demo")
        return with_code(wheel, content, out)


def compiled(folder: Path, command: list[str]) -> bytes:
    """What a command compiles, with hra out of a folder, for all processors of this one's level."""
    from numba.core.serialize import dumps

    from hra import shipped

    processor, features = shipped.LEVELS[platform.machine().lower()]
    with tempfile.TemporaryDirectory() as cache:
        told = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}
        # Code that came with the folder would not be compiled again.
        (folder / "hra" / shipped.PATH.name).unlink(missing_ok=True)
        environment = {**os.environ, **told, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(folder)}
        subprocess.run(command, env=environment, cwd=cache, check=True)
        kept = list(_kept(Path(cache)))
    targets = {target for target, _ in kept}
    if len(targets) != 1:
        raise SystemExit(f"one target is compiled for, not {len(targets)}: {sorted(targets)}")
    return shipped.pack((entry for _, entry in kept), targets.pop(), dumps)


def _kept(cache: Path) -> Iterator[tuple[tuple[str, str, str], tuple[Any, tuple[Any, ...], bytes]]]:
    """What `hra.compiling` keeps in a folder, and what each was compiled for."""
    seal = hashlib.blake2b().digest_size
    for path in sorted(cache.rglob("*.nbc")):
        (what, target, _), parts, bitcode = pickle.loads(path.read_bytes()[:-seal])
        yield target, (what, parts, bitcode)


def with_code(wheel: Path, content: bytes, out: Path) -> Path:
    """A copy of a wheel with the file in it, named for the Python and the systems that Numba's wheel is for."""
    lines = (distribution("numba").read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
    if not tags:
        raise SystemExit("Numba was not installed from a wheel, so the systems that code for it runs on are unknown")
    python, abi, _ = tags[0].split("-")
    systems = ".".join(sorted(tag.split("-")[2] for tag in tags))
    package, version, *_ = wheel.name.split("-")
    target = out / f"{package}-{version}-{python}-{abi}-{systems}.whl"
    information = f"{package}-{version}.dist-info"
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        when = old.getinfo(f"{information}/WHEEL").date_time
        record = []
        for entry in old.infolist():
            said = old.read(entry)
            if entry.filename == f"{information}/RECORD":
                continue
            if entry.filename == f"{information}/WHEEL":
                kept = [line for line in said.decode().splitlines() if line and not line.startswith(("Tag", "Root"))]
                said = "\n".join([*kept, "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in tags), ""]).encode()
            record.append(_write(new, entry, said))
        record.append(_write(new, zipfile.ZipInfo("hra/compiled.bin", when), content, zipfile.ZIP_STORED))
        last = "\n".join([*record, f"{information}/RECORD,,", ""]).encode()
        _write(new, zipfile.ZipInfo(f"{information}/RECORD", when), last)
    return target


def _write(wheel: zipfile.ZipFile, entry: zipfile.ZipInfo, content: bytes, how: int = zipfile.ZIP_DEFLATED) -> str:
    """Write a file into a wheel; its line of the list of all."""
    entry.external_attr = entry.external_attr or 0o644 << 16
    wheel.writestr(entry, content, how)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{entry.filename},sha256={digest},{len(content)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args()
    found = list(chosen.folder.resolve().glob("hra-*-py3-none-any.whl"))
    if len(found) != 1:
        parser.error(f"{chosen.folder} holds {len(found)} pure wheels of hra; build one: python -m build --wheel")
    made = main(found[0], chosen.out)
    print(f"{made}: {made.stat().st_size:,} bytes")
