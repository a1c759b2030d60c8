"""Every kind of writer of the library, each with two contents for one target."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hra
from hra.files.atomic_write import MANIFEST, write_folder


@dataclass(frozen=True)
class Writer:
    """One target and what is written there.

    Attributes
    ----------
    name : of the file; of a folder for the report. write : takes the target and which of the two contents, 0 or 1.
    folder : whether the target is a folder that a manifest lists.
    """

    name: str
    write: Callable[[Path, int], None]
    folder: bool = False


def _asset() -> Writer:
    from hra.domains import meshes

    corners = [np.random.default_rng(seed).random((9000, 3), np.float32) for seed in range(2)]
    faces = np.arange(9000, dtype=np.uint32).reshape(-1, 3)
    built = [meshes.build(meshes.from_arrays(points, faces), certified=False) for points in corners]
    return Writer("a.hra", lambda path, which: built[which].save(path))


def _mesh() -> Writer:
    from hra.domains import meshes

    rng = np.random.default_rng(0)
    faces = np.arange(30_000, dtype=np.uint32).reshape(-1, 3)
    both = [meshes.from_arrays(rng.random((30_000, 3), np.float32), faces) for _ in range(2)]
    return Writer("a.glb", lambda path, which: both[which].export(path))


def _allocation() -> Writer:
    tree = hra.Hierarchy.tree(np.r_[-1, np.arange(20_000) // 4], np.ones(20_001))
    gains = [np.random.default_rng(seed).random(20_001) for seed in range(2)]
    both = [hra.solve(tree, 9_000, gains=gain) for gain in gains]
    return Writer("a.npz", lambda path, which: both[which].save(path))


def _trace() -> Writer:
    from hra.residency import Trace, save_trace

    rng, frames, demands = np.random.default_rng(0), np.arange(0, 200_001, 1000), np.tile(np.arange(1000), 200)
    both = [Trace(frames, demands, rng.integers(1, 99, 1000)) for _ in range(2)]
    return Writer("trace.npz", lambda path, which: save_trace(path, both[which]))


def _record() -> Writer:
    from hra.console import write_json

    return Writer("a.json", lambda path, which: write_json(path, {"rows": list(range(which, 40_000))}))


def _picture() -> Writer:
    from hra.files.images import save_png

    both = [np.random.default_rng(seed).random((300, 300, 3), np.float32) for seed in range(2)]
    return Writer("a.png", lambda path, which: save_png(path, both[which]))


def _checkpoint() -> Writer:
    import torch

    from hra_lab.evidence.reader import Reader, Size
    from hra_lab.evidence.training import save_state

    reader = Reader(Size(width=64, layers=1, heads=2))
    optimiser = torch.optim.AdamW(reader.parameters())
    return Writer("a.safetensors", lambda path, which: save_state(path, reader, optimiser, which))


def _report() -> Writer:
    both: list[dict[str, bytes]] = [
        {name: bytes([65 + which]) * size for name, size in (("report.html", 300_000), ("a.png", 700_000))}
        for which in range(2)
    ]
    return Writer("report", lambda path, which: write_folder(path, both[which]), folder=True)


WRITERS: dict[str, Callable[[], Writer]] = {
    "asset": _asset,
    "mesh file": _mesh,
    "allocation": _allocation,
    "trace": _trace,
    "JSON record": _record,
    "picture": _picture,
    "checkpoint": _checkpoint,
    "report folder": _report,
}


def states(target: Path, writer: Writer) -> set[bytes]:
    """What the target may be: each of both contents, written in peace."""
    found = set()
    for which in (1, 0):
        writer.write(target, which)
        found.add(state(target))
    return found


def state(target: Path) -> bytes:
    """Everything that a reader of the target trusts: the file, or what the manifest lists; no manifest is nothing."""
    if not target.is_dir():
        return target.read_bytes()
    return b"".join(_listed(target)) if (target / MANIFEST).exists() else b""


def _listed(folder: Path) -> list[bytes]:
    files: dict[str, dict[str, Any]] = json.loads((folder / MANIFEST).read_text())["files"]
    contents = [(folder / name).read_bytes() for name in files]
    for content, entry in zip(contents, files.values(), strict=True):
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            return [b"torn"]
    return contents


@functools.cache  # two contents of a mesh take seconds to build
def _writer(kind: str) -> Writer:
    return WRITERS[kind]()


def prepared(kind: str, folder: Path) -> tuple[Writer, Path, set[bytes]]:
    """A writer, its target with one of the contents, and what the target may ever be."""
    writer = _writer(kind)
    target = folder / writer.name
    if writer.folder:
        target.mkdir()
    # A folder without a manifest says of itself that it is not whole.
    return writer, target, states(target, writer) | ({b""} if writer.folder else set())


def leftovers(target: Path) -> list[Path]:
    """What killed writers left behind beside the target."""
    return sorted((target if target.is_dir() else target.parent).glob(".hra-*.tmp"))


def endless(writer: Writer, target: Path, first: int) -> Callable[[], None]:
    """Both contents in turn for ever."""

    def run() -> None:
        which = first
        while True:
            writer.write(target, which)
            which = 1 - which

    return run
