"""OFF and STL files."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from tests.helpers.hostile.cases import FACES, QUAD, TETRAHEDRON, Case

_ROWS = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
_FACES = "".join(f"3 {a} {b} {c}\n" for a, b, c in FACES.tolist())
OFF = f"OFF\n4 4 6\n{_ROWS}{_FACES}"


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _off()
    yield from _stl()


def _off() -> Iterator[Case]:
    tetrahedra = {
        "plain": OFF,
        "with CRLF": OFF.replace("\n", "\r\n"),
        "counts beside the word": OFF.replace("OFF\n", "OFF "),
        "with comments and empty lines": OFF.replace("OFF\n", "OFF # a\n\n# b\n").replace("1 0 0\n", "1 0 0 # c\n\n"),
        "no number of edges": OFF.replace("4 4 6", "4 4"),
        "colours of vertices": OFF.replace("OFF", "COFF")
        .replace(" 0\n", " 0 255 0 0 255\n")
        .replace("0 0 1\n", "0 0 1 1 2 3 4\n"),
        "colours of faces": OFF.replace("3 0 2 1", "3 0 2 1 0.5 0.5 0.5"),
        "indented": OFF.replace("\n", "\n\t "),
    }
    for name, text in tetrahedra.items():
        yield Case(f"off {name}", text.encode(), ".off", TETRAHEDRON)
    square = "OFF\n4 1 4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"
    yield Case("off quad", square.encode(), ".off", QUAD)
    refused = {
        "faces missing": OFF[: OFF.rindex("3 ")],
        "a vertex missing": OFF.replace("0 1 0\n", ""),
        "rows beyond the promise": OFF + "3 0 1 2\n",
        "a corner missing": OFF.replace("3 0 2 1", "3 0 2"),
        "a coordinate missing": OFF.replace("1 0 0\n", "1 0\n", 1),
        "an index of 4": OFF.replace("3 0 2 1", "3 0 4 1"),
        "an index of -1": OFF.replace("3 0 2 1", "3 0 -1 1"),
        "an index of 1.5": OFF.replace("3 0 2 1", "3 0 1.5 1"),
        "a face of -3": OFF.replace("3 0 2 1", "-3 0 2 1"),
        "a face of two corners": OFF.replace("3 0 2 1", "2 0 2"),
        "a count of 10**18": OFF.replace("4 4 6", f"{10**18} 4 6"),
        "a count of 5,000 digits": OFF.replace("4 4 6", "9" * 5000 + " 4 6"),
        "a count of -4": OFF.replace("4 4 6", "-4 4 6"),
        "a count of 4.5": OFF.replace("4 4 6", "4.5 4 6"),
        "not counts": "OFF\n",
        "no word": OFF.replace("OFF", "FOO"),
        "four dimensions": OFF.replace("OFF", "4OFF").replace(" 0\n", " 0 1\n"),
        "binary": "OFF BINARY\n" + "\0" * 40,
        "no faces": "OFF\n4 0 0\n" + _ROWS,
        "nan": OFF.replace("1 0 0", "nan 0 0", 1),
        "words": OFF.replace("1 0 0", "one 0 0", 1),
        "OFF in the middle": "x OFF\n" + OFF,
    }
    for name, text in refused.items():
        yield Case(f"off {name}", text.encode(), ".off")


def stl_binary(corners: np.ndarray = TETRAHEDRON, count: int | None = None, head: bytes = b"") -> bytes:
    """A binary STL file; ``count`` is what its header says."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *triangle.ravel().tolist(), 0) for triangle in corners)
    return head.ljust(80, b"\0") + struct.pack("<I", len(corners) if count is None else count) + rows


def stl_text(corners: np.ndarray = TETRAHEDRON) -> str:
    """A text STL file."""
    lines = ["solid a name"]
    for triangle in corners.tolist():
        lines += ["facet normal 0 0 1", "  outer loop", *(f"    vertex {x:g} {y:g} {z:g}" for x, y, z in triangle)]
        lines += ["  endloop", "endfacet"]
    return "\n".join([*lines, "endsolid a name", ""])


def _stl() -> Iterator[Case]:
    text = stl_text()
    yield Case("stl binary", stl_binary(), ".stl", TETRAHEDRON)
    yield Case("stl binary that begins with solid", stl_binary(head=b"solid x"), ".stl", TETRAHEDRON)
    for name, content in {
        "text": text,
        "text with CRLF": text.replace("\n", "\r\n"),
        "text in capitals": text.upper(),
        "text without a name": text.replace(" a name", ""),
        "text of two solids": stl_text(TETRAHEDRON[:2]) + stl_text(TETRAHEDRON[2:]),
        "text with empty lines": text.replace("\n", "\n \n\n"),
        "text separated by tabs": text.replace(" ", "\t"),
    }.items():
        yield Case(f"stl {name}", content.encode(), ".stl", TETRAHEDRON)
    for name, content in {
        "binary of 4e9 triangles": stl_binary(count=4_000_000_000),
        "binary, a triangle missing": stl_binary()[:-50],
        "binary, a byte missing": stl_binary()[:-1],
        "binary, a byte too many": stl_binary() + b"\0",
        "binary of none": stl_binary(TETRAHEDRON[:0]),
        "binary of nan": stl_binary(np.full((1, 3, 3), np.nan, np.float32)),
        "text cut off": text[: text.index("endsolid")].encode(),
        "text, a vertex missing": text.replace("    vertex 1 0 0\n", "", 1).encode(),
        "text, a fourth vertex": text.replace("  endloop", "    vertex 1 1 1\n  endloop", 1).encode(),
        "text, an end of facet missing": text.replace("endfacet\n", "", 1).encode(),
        "text, a coordinate missing": text.replace("vertex 1 0 0", "vertex 1 0", 1).encode(),
        "text of words": text.replace("vertex 1 0 0", "vertex 1 zero 0", 1).encode(),
        "text of nan": text.replace("vertex 1 0 0", "vertex nan 0 0", 1).encode(),
        "text without triangles": b"solid x\nendsolid x\n",
        "a web page": b"<!doctype html><title>404</title>",
    }.items():
        yield Case(f"stl {name}", content, ".stl")
