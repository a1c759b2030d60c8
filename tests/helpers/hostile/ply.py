"""PLY files: every list type and order of bytes, strips, promises that are not kept."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from tests.helpers.hostile.cases import FACES, POINTS, QUAD, SQUARE, TETRAHEDRON, Case

_INTEGERS = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I"}
_XYZ = "property float x\nproperty float y\nproperty float z\n"


def header(
    layout: str,
    vertices: object,
    faces: object,
    face: str = "property list uchar int vertex_indices\n",
    vertex: str = _XYZ,
) -> str:
    """A PLY header of two elements."""
    return f"ply\nformat {layout} 1.0\nelement vertex {vertices}\n{vertex}element face {faces}\n{face}end_header\n"


def _text(points: np.ndarray, faces: list[list[int]], **changes: object) -> str:
    counts = {"vertices": len(points), "faces": len(faces)} | changes
    rows = [" ".join(f"{value:g}" for value in point) for point in points.tolist()]
    rows += [" ".join(str(number) for number in [len(face), *face]) for face in faces]
    return header("ascii", counts["vertices"], counts["faces"]) + "\n".join(rows) + "\n"


def _binary(order: str, length: str, index: str, faces: list[list[int]], points: np.ndarray = POINTS) -> bytes:
    layout = "binary_little_endian" if order == "<" else "binary_big_endian"
    body = points.astype(f"{order}f4").tobytes()
    for face in faces:
        body += struct.pack(f"{order}{_INTEGERS[length]}{len(face)}{_INTEGERS[index]}", len(face), *face)
    lists = f"property list {length} {index} vertex_indices\n"
    return header(layout, len(points), len(faces), lists).encode() + body


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _valid()
    yield from _refused()


def _valid() -> Iterator[Case]:
    triangles = FACES.tolist()
    yield Case("ply text", _text(POINTS, triangles).encode(), ".ply", TETRAHEDRON)
    yield Case("ply text with CRLF", _text(POINTS, triangles).replace("\n", "\r\n").encode(), ".ply", TETRAHEDRON)
    for order in "<>":
        for length in _INTEGERS:
            for index in _INTEGERS:
                content = _binary(order, length, index, triangles)
                yield Case(f"ply list {length} {index} {order}", content, ".ply", TETRAHEDRON)
    pyramid = np.concatenate([SQUARE, [[0.5, 0.5, 1]]]).astype(np.float32)
    mixed = [[0, 3, 2, 1], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    corners = pyramid[[[0, 3, 2], [0, 2, 1], *mixed[1:]]]
    yield Case("ply text of quads and triangles", _text(pyramid, mixed).encode(), ".ply", corners)
    for order in "<>":
        content = _binary(order, "uchar", "int", mixed, pyramid)
        yield Case(f"ply binary of quads and triangles {order}", content, ".ply", corners)
    strip = header("ascii", 4, 1).replace("element face 1", "element tristrips 1") + (
        "0 0 0\n1 0 0\n0 1 0\n1 1 0\n10 0 1 2 3 -1 2 1 0 -1 3\n"
    )
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
    yield Case("ply strips with restarts", strip.encode(), ".ply", flat[[[0, 1, 2], [2, 1, 3], [2, 1, 0]]])
    extra = header("ascii", 4, 4, "property uchar tag\nproperty list uchar int vertex_indices\nproperty float q\n")
    rows = "\n".join(f"7 3 {a} {b} {c} 0.5" for a, b, c in triangles)
    body = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n" + rows + "\n"
    yield Case("ply with properties around the list", (extra + body).encode(), ".ply", TETRAHEDRON)
    late = header("ascii", 4, 4).replace("element vertex", "element camera 1\nproperty float f\nelement vertex")
    body = "1.5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n" + "\n".join(f"3 {a} {b} {c}" for a, b, c in triangles) + "\n"
    yield Case("ply with an element before the vertices", (late + body).encode(), ".ply", TETRAHEDRON)
    doubles = header("binary_little_endian", 4, 4, vertex=_XYZ.replace("float", "double"))
    body = POINTS.astype("<f8").tobytes() + b"".join(struct.pack("<B3i", 3, *face) for face in triangles)
    yield Case("ply of doubles", doubles.encode() + body, ".ply", TETRAHEDRON)
    yield Case(
        "ply with vertex_index", _text(POINTS, triangles).replace("_indices", "_index").encode(), ".ply", TETRAHEDRON
    )
    comment = _text(POINTS, triangles).replace("format", "comment " + " " * 20_000 + "x\nformat")
    yield Case("ply with a comment of 20,000 blanks", comment.encode(), ".ply", TETRAHEDRON)
    quad = _text(SQUARE, [[0, 1, 2, 3]])
    yield Case("ply quad", quad.encode(), ".ply", QUAD)


def _refused() -> Iterator[Case]:
    text, triangles = _text(POINTS, FACES.tolist()), FACES.tolist()
    whole = _binary("<", "uchar", "int", triangles)
    faulty = {
        "faces missing": "\n".join(text.splitlines()[:-2]) + "\n",
        "a vertex missing": text.replace("0 0 1\n", ""),
        "a coordinate missing": text.replace("1 0 0\n", "1 0\n", 1),
        "a coordinate too many": text.replace("1 0 0\n", "1 0 0 0\n", 1),
        "one coordinate too many, one missing": text.replace("1 0 0\n0 1 0\n", "1 0 0 0\n1 0\n"),
        "a corner missing": text.replace("3 0 2 1", "3 0 2"),
        "more rows than promised": text + "3 0 1 2\n",
        "a list length of -3": text.replace("3 0 2 1", "-3 0 2 1"),
        "a list length of 2.5": text.replace("3 0 2 1", "2.5 0 2 1"),
        "a face of two corners": text.replace("3 0 2 1", "2 0 2"),
        "an index of 1.5": text.replace("3 0 2 1", "3 0 1.5 1"),
        "an index of -1": text.replace("3 0 2 1", "3 0 -1 1"),
        "an index of 4e9": text.replace("3 0 2 1", "3 0 4000000000 1"),
        "words for numbers": text.replace("1 0 0\n", "1 zero 0\n", 1),
        "underscores in numbers": text.replace("1 0 0\n", "1_0 0 0\n", 1),
        "nan": text.replace("1 0 0\n", "nan 0 0\n", 1),
        "1e400": text.replace("1 0 0\n", "1e400 0 0\n", 1),
        "a count of 5,000 digits": text.replace("vertex 4", "vertex " + "9" * 5000),
        "a count of -4": text.replace("vertex 4", "vertex -4"),
        "a count of 4.0": text.replace("vertex 4", "vertex 4.0"),
        "a count of +4": text.replace("vertex 4", "vertex +4"),
        "a claim of 2**62 vertices": text.replace("vertex 4", f"vertex {2**62}"),
        "a claim of 2**31 faces": text.replace("face 4", f"face {2**31}"),
        "no x": text.replace("float x", "float w"),
        "x twice": text.replace("float y", "float x"),
        "two vertex elements": text.replace("element face", "element vertex 0\nelement face"),
        "an unknown type": text.replace("float y", "quaternion y"),
        "an unknown layout": text.replace("ascii", "packed"),
        "no layout": text.replace("format ascii 1.0\n", ""),
        "version 2": text.replace("ascii 1.0", "ascii 2.0"),
        "a property before any element": text.replace("element vertex", "property float q\nelement vertex"),
        "a list of floats": text.replace("uchar int", "uchar float").replace("3 0 2 1", "3 0 2.5 1"),
        "a length that is a float": text.replace("uchar int", "float int"),
        "no faces": _text(POINTS, []),
        "no vertices": _text(POINTS[:0], triangles),
        "no end of the header": text.replace("end_header", "end"),
        "nothing after the magic": "ply\n",
        "a header of a million lines": text.replace("format", "comment x\n" * 1_000_000 + "format"),
        "a header line of 20,000 blanks": text.replace("element vertex", "element" + " " * 20_000),
        "texturefile before 20,000 blanks": text.replace("format", "comment texturefile" + " " * 20_000 + "\nformatt"),
    }
    for name, content in faulty.items():
        yield Case(f"ply {name}", content.encode(), ".ply")
    for cut in (1, 4, 13, 52, 70):
        yield Case(f"ply binary, {cut} bytes missing", whole[:-cut], ".ply")
    yield Case("ply binary, bytes too many", whole + bytes(40), ".ply")
    lists = header("binary_little_endian", 4, 4, "property list uint int vertex_indices\n").encode()
    yield Case("ply list of 2**32 - 1 corners", lists + POINTS.tobytes() + b"\xff\xff\xff\xff" * 16, ".ply")
    negative = header("binary_little_endian", 4, 4, "property list char int vertex_indices\n").encode()
    yield Case("ply list of -1 corners", negative + POINTS.tobytes() + b"\xff" + bytes(12) * 4, ".ply")
    bare = "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nelement face 1\n"
    yield Case(
        "ply elements without properties",
        (bare + "property list uchar int vertex_indices\nend_header\n").encode(),
        ".ply",
    )
