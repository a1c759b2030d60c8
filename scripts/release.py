#!/usr/bin/env python
"""Build wheel and sdist twice, compare their bytes, and write them with a bill of materials and the licences.

Run ``python scripts/release.py OUT``. The time in the archives is that of the last commit (SOURCE_DATE_EPOCH). OUT gets
the wheel, the sdist, sbom.json (CycloneDX, of the environment that runs this) and licences.md. Exit code 1 if the two
builds differ.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(out: Path) -> int:
    """Build, compare, write; the exit code."""
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    epoch = int(commit.stdout)
    first, second = built(epoch), built(epoch)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in first.items():
        (out / name).write_bytes(content)
        same = "the same twice" if second.get(name) == content else "DIFFERS"
        print(f"{name}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}, {same}")
    sbom = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "-o", out / "sbom.json"]
    subprocess.run(sbom, check=True)
    (out / "licences.md").write_text(licences())
    return 0 if first == second else 1


def built(epoch: int) -> dict[str, bytes]:
    """Wheel and sdist of what is committed, by name."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "hra"), Path(folder, "dist")
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(source, filter="tar")
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(made)]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}
        subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
        return {
            file.name: file.read_bytes() if file.suffix == ".whl" else settled(file.read_bytes(), epoch)
            for file in sorted(made.iterdir())
        }


def settled(sdist: bytes, epoch: int) -> bytes:
    """An sdist whose entries have one time and no owner: setuptools writes the times of the build."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(sdist)) as old, tarfile.open(fileobj=plain, mode="w") as new:
        for entry in sorted(old.getmembers(), key=lambda member: member.name):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            entry.pax_headers = {}
            new.addfile(entry, old.extractfile(entry) if entry.isfile() else None)
    return gzip.compress(plain.getvalue(), mtime=epoch)


def licences() -> str:
    """Every installed package with its version and licence, as Markdown."""
    rows = sorted(
        {(each.name, each.version, licence(each)) for each in distributions()}, key=lambda row: row[0].lower()
    )
    lines = [f"| {name} | {version} | {text} |" for name, version, text in rows]
    return "\n".join(["| package | version | licence |", "| --- | --- | --- |", *lines]) + "\n"


def licence(package: Distribution) -> str:
    """What a package says of its licence, in short."""
    said = package.metadata
    classified = [line.split(" :: ")[-1] for line in said.get_all("Classifier") or [] if line.startswith("License")]
    expression, text = ((said.get_all(name) or [""])[0] for name in ("License-Expression", "License"))
    stated = expression or "; ".join(classified) or text.strip()
    return (stated.split("\n")[0][:80] or "not stated").replace("|", "/")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    sys.exit(main(parser.parse_args().out))
