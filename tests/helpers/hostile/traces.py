"""Trace files: archives whose members and headers lie."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping

import numpy as np

from tests.helpers.hostile.cases import Case

ARRAYS = {"frames": np.array([0, 2, 3], "<i8"), "demands": np.array([0, 1, 1], "<i4"), "cost": np.array([5, 7], "<i8")}


def _npy(array: np.ndarray, *, pickled: bool = False) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=pickled)
    return out.getvalue()


def archive(
    members: Mapping[str, bytes] | None = None, header: object = None, method: int = zipfile.ZIP_STORED
) -> bytes:
    """A trace file; ``members`` replace or add files of the archive."""
    lengths = {name: int(array.size) for name, array in ARRAYS.items()}
    content = {"header.json": json.dumps(header or {"format": "hra-trace", "version": 1, "arrays": lengths}).encode()}
    content |= {f"{name}.npy": _npy(array) for name, array in ARRAYS.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in (content | dict(members or {})).items():
            file.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def cases() -> Iterator[Case]:
    """All of them; the size of a trace stands for (frames, items)."""
    whole, head = archive(), _npy(ARRAYS["cost"])
    yield Case("trace", whole, ".npz", size=(2, 2))
    yield Case("trace, deflated", archive(method=zipfile.ZIP_DEFLATED), ".npz", size=(2, 2))
    faulty = {
        "of no bytes": b"",
        "that is text": b"frames",
        "cut off": whole[:-30],
        "without a header": whole.replace(b"header.json", b"holder.json"),
        "of another format": archive(header={"format": "x"}),
        "of version 2": archive(header={"format": "hra-trace", "version": 2, "arrays": {}}),
        "whose header is a list": archive(header=[1]),
        "whose header is not UTF-8": archive({"header.json": b'{"format": "\xff"}'}),
        "whose header is deep": archive({"header.json": b"[" * 100_000}),
        "whose header has 5,000 digits": archive({"header.json": b'{"version": ' + b"9" * 5000 + b"}"}),
        "of pickled objects": archive({"cost.npy": _npy(np.array([{}, 1], object), pickled=True)}),
        "whose member has no header": archive({"cost.npy": b"x" * len(head)}),
        "whose member's header is not a Python": archive({"cost.npy": head[:10] + b"{'descr': (" + head[21:]}),
        "whose member's header is open text": archive({"cost.npy": head[:10] + b"'''" + b" " * 115 + head[128:]}),
        "whose member's header calls": archive(
            {"cost.npy": head[:10] + b"__import__('os').getcwd()".ljust(117) + b"\n" + head[128:]}
        ),
        "of LZMA that is damaged": _damaged(archive(method=zipfile.ZIP_LZMA)),
        "of bzip2 that is damaged": _damaged(archive(method=zipfile.ZIP_BZIP2)),
        "of deflate that is damaged": _damaged(archive(method=zipfile.ZIP_DEFLATED)),
        "that is a bomb": archive({"zeros.bin": bytes(50_000_000)}, method=zipfile.ZIP_DEFLATED),
    }
    for name, content in faulty.items():
        yield Case(f"trace {name}", content, ".npz")


def _damaged(content: bytes) -> bytes:
    damaged = bytearray(content)
    at = content.index(b"header.json") + 20
    damaged[at : at + 24] = bytes(255 - byte for byte in content[at : at + 24])
    return bytes(damaged)
