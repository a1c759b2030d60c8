"""OBJ files: what the format defines of v, vt, vn, f, l, p and line ends, and what it does not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.helpers.hostile.cases import FACES, QUAD, TETRAHEDRON, Case

V = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
F = "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES.tolist())
VT = "vt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\n"
_UV = np.array([[0, 1], [1, 1], [0, 0], [1, 0]], np.float32)  # (0, 0) is the upper left corner here
_FIRST = TETRAHEDRON[:1]


def cases() -> Iterator[Case]:
    """All of them."""
    for name, text in _tetrahedra().items():
        yield Case(f"obj {name}", text.encode(), ".obj", TETRAHEDRON)
    for name, text in _textured().items():
        yield Case(f"obj {name}", text.encode(), ".obj", TETRAHEDRON, uv=_UV[FACES])
    square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    yield Case("obj quad", f"{square}f 1 2 3 4\n".encode(), ".obj", QUAD)
    blocks = "".join(f"v {x} 0 0\nvt 0 0\nv {x + 1} 0 0\nv {x} 1 0\nf -3/-1 -2/-1 -1/-1\n" for x in (0, 5))
    corners = np.array([[[x, 0, 0], [x + 1, 0, 0], [x, 1, 0]] for x in (0, 5)], np.float32)
    yield Case("obj negative indices in blocks", blocks.encode(), ".obj", corners)
    yield Case("obj names that are not UTF-8", b"o S\xe4ule\nusemtl gr\xfcn\n" + (V + F).encode(), ".obj", TETRAHEDRON)
    for name, text in _refused().items():
        yield Case(f"obj {name}", text.encode(), ".obj")


def _tetrahedra() -> dict[str, str]:
    whole = V + F
    return {
        "plain": whole,
        "without a last line end": whole[:-1],
        "with CRLF": whole.replace("\n", "\r\n"),
        "with CR alone": whole.replace("\n", "\r"),
        "indented by blanks": "  " + whole.replace("\n", "\n  "),
        "indented by tabs": "\t" + whole.replace("\n", "\n\t"),
        "separated by tabs": whole.replace(" ", "\t"),
        "separated by many blanks": whole.replace(" ", "     "),
        "with blanks at line ends": whole.replace("\n", "  \t\n"),
        "with a byte order mark": "\ufeff" + whole,
        "with comments": whole.replace("\n", " # f 1 2 3\n# v 1 2 3\n"),
        "faces before the vertices": F + V,
        "a face continued on the next line": whole.replace("f 1 3 2", "f 1 \\\n3 \\\n 2"),
        "a face continued over CRLF": whole.replace("\n", "\r\n").replace("f 1 3 2", "f 1 \\\r\n3 2"),
        "a vertex continued on the next line": whole.replace("v 0 1 0", "v 0 \\\n1 0"),
        "lines and points": whole + "l 1 2 3\np 1 2\n",
        "groups and smoothing": "o a\ng b c\ns 1\n" + whole + "s off\n",
        "weights of vertices": whole.replace("v 1 0 0", "v 1 0 0 1"),
        "normals only": V
        + "vn 0 0 1\n"
        + "".join(f"f {a + 1}//1 {b + 1}//1 {c + 1}//1\n" for a, b, c in FACES.tolist()),
        "negative indices": V + "".join(f"f {a - 4} {b - 4} {c - 4}\n" for a, b, c in FACES.tolist()),
        "exponents": whole.replace("v 1 0 0", "v 1e0 0.0E+00 -0"),
        "a face of two corners": whole + "f 1 2\n",
        "the old word fo": whole.replace("f ", "fo "),
        "colours of some vertices": whole.replace("v 1 0 0", "v 1 0 0 0.5 0.5 0.5"),
        "a bare slash behind an index": whole.replace("f 1 3 2", "f 1/ 3/ 2/"),
    }


def _textured() -> dict[str, str]:
    faces = "".join(f"f {a + 1}/{a + 1} {b + 1}/{b + 1} {c + 1}/{c + 1}\n" for a, b, c in FACES.tolist())
    normal = "".join(f"f {a + 1}/{a + 1}/1 {b + 1}/{b + 1}/1 {c + 1}/{c + 1}/1\n" for a, b, c in FACES.tolist())
    return {
        "coordinates": V + VT + faces,
        "coordinates of three numbers": V + VT.replace("\n", " 0\n") + faces,
        "coordinates and normals": V + VT + "vn 0 0 1\n" + normal,
        "coordinates, negative": V
        + VT
        + "".join(f"f {a - 4}/{a - 4} {b - 4}/{b - 4} {c - 4}/{c - 4}\n" for a, b, c in FACES.tolist()),
        "coordinates indented": V + "\t" + VT.replace("\n", "\n\t") + faces,
    }


def _refused() -> dict[str, str]:
    whole = V + F
    return {
        "no faces": V,
        "lines only": V + "l 1 2 3 4\n",
        "vertex 0": whole + "f 0 1 2\n",
        "vertex 5 of 4": whole + "f 1 2 5\n",
        "vertex -5 of 4": whole + "f -5 1 2\n",
        "vertex 4e18": whole + "f 1 2 4000000000000000000\n",
        "vertex of 5,000 digits": whole + f"f 1 2 {'9' * 5000}\n",
        "vertex 1.5": whole + "f 1 2 1.5\n",
        "vertex one": whole + "f 1 2 one\n",
        "vertex 1_2": whole + "f 1 2 1_2\n",
        "vertex +1": whole + "f 2 3 +-1\n",
        "an index after /": whole + "f /1 /2 /3\n",
        "four indices": V + VT + "f 1/1/1/1 2/2/2/2 3/3/3/3\n",
        "coordinate 9 of 4": V + VT + "f 1/1 2/2 3/9\n",
        "coordinate 0": V + VT + "f 1/0 2/2 3/3\n",
        "coordinate -5 of 4": V + VT + "f 1/-5 2/2 3/3\n",
        "coordinates that are not there": V + "f 1/1 2/2 3/3\n",
        "normal 2 of 1": V + "vn 0 0 1\nf 1//2 2//1 3//1\n",
        "corners of different kinds in a face": V + VT + "f 1/1 2 3/3\n",
        "a face of no corner": whole + "f\n",
        "a vertex of two numbers": whole.replace("v 1 0 0", "v 1 0"),
        "vertices of two and four numbers": whole.replace("v 1 0 0\nv 0 1 0", "v 1 0\nv 0 1 0 0"),
        "a vertex of eight numbers": whole.replace("v 1 0 0", "v 1 0 0 0 0 0 0 0"),
        "a vertex of words": whole.replace("v 1 0 0", "v one 0 0"),
        "a vertex with a comma": whole.replace("v 1 0 0", "v 1,0 0 0"),
        "a vertex of nan": whole.replace("v 1 0 0", "v nan 0 0"),
        "a vertex of 1e400": whole.replace("v 1 0 0", "v 1e400 0 0"),
        "a normal of two numbers": V + "vn 0 1\nf 1//1 2//1 3//1\n",
        "a coordinate without a number": V + "vt\nf 1/1 2/1 3/1\n",
        "a face cut off": (V + VT + "f 1/1 2/2 3/"),
        "a library outside of the folder": "mtllib ../a.mtl\n" + whole + "usemtl a\nf 1 2 3\n",
        "a library at an address": "mtllib http://127.0.0.1/a.mtl\n" + whole + "usemtl a\nf 1 2 3\n",
        "a page of a web site": "<!doctype html><title>404</title>",
    }
