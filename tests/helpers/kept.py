"""What readers of clouds and of plain meshes keep, lose by a warning, and refuse: each row is tried on a file.

``python -m tests.helpers.kept`` writes the table into docs/readers.md.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hra.domains import meshes, points
from hra.errors import HraError
from hra.files.ply import binary_table
from tests.domains.meshes.files.test_losses import PLACES, ply, rgb, stl, textured
from tests.domains.meshes.files.test_polygons import PRISM, shoelace, star
from tests.domains.meshes.test_origin import UTM, absolute, ball, farthest
from tests.domains.points.files.test_kept import EXTRA, WKT, las
from tests.domains.points.files.test_splat_formats import packed_ply, spz, with_harmonics
from tests.helpers.hostile.clouds import SOG

PAGE, BEGIN, END = Path(__file__).parents[2] / "docs/readers.md", "<!-- kept -->\n", "<!-- end kept -->"


class Case(NamedTuple):
    """One row: a file that ``make`` writes into a folder, and whether what was read has what it carries."""

    kind: str
    what: str
    make: Callable[[Path], Path]
    has: Callable[[Any], bool]


def written(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / name

    return make


def at_utm(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        positions, triangles = ball(400)
        if name.endswith(".ply"):
            return written(name, binary_table(dict(zip("xyz", positions.T, strict=True)), triangles=triangles))(folder)
        text = "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in positions.tolist())
        return written(name, text + "".join(f"f {a} {b} {c}\n" for a, b, c in (triangles + 1).tolist()))(folder)

    return make


def near_utm(found: Any) -> bool:
    return farthest(absolute(found), ball(400)[0]) < 1e-4


def made_las(name: str, kind: int) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        las(folder / name, kind, 60)
        return folder / name

    return make


def splats(name: str, changed: tuple[bytes, bytes] = (b"", b"")) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        points.save_points(folder / name, with_harmonics(15, 6))
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content.replace(*changed) if changed[0] else content)
        return folder / name

    return make


def waves(folder: Path) -> Path:
    import laspy

    found = laspy.LasData(laspy.LasHeader(point_format=4, version="1.3"))
    found.x = found.y = found.z = np.arange(5.0)
    found.wavepacket_index = np.ones(5, np.uint8)
    found.write(str(folder / "a.las"))
    return folder / "a.las"


def with_record(folder: Path) -> Path:
    import laspy

    found = laspy.read(str(made_las("a.las", 6)(folder)))
    found.header.vlrs.append(laspy.VLR("Maker", 7, "", b"lens"))
    found.write(str(folder / "a.las"))
    return folder / "a.las"


def labelled(folder: Path) -> Path:
    """Three harmonics, and what else has a name that nobody knows."""
    path = splats("a.ply")(folder)
    path.write_bytes(re.sub(rb"f_rest_(9|[1-4][0-9])\n", rb"label_\1\n", path.read_bytes()))
    return path


def flat_splats(folder: Path) -> Path:
    """Two deviations: the third is another property."""
    return splats("a.ply", (b"property float scale_2", b"property float nxyzq_2"))(folder)


QUAD = [f"{place} 7" for place in PLACES]
CASES = (
    Case("PLY mesh", "doubles of maps", at_utm("a.ply"), near_utm),
    Case(
        "PLY mesh",
        "colours of faces",
        written("a.ply", ply("", rgb(), PLACES, ["3 0 1 2 255 0 0"])),
        lambda m: m.attributes.colors is not None,
    ),
    Case(
        "PLY mesh",
        "colours of faces beside those of vertices",
        written("a.ply", ply(rgb(), rgb(), [f"{p} 9 9 9" for p in PLACES], ["3 0 1 2 255 0 0"])),
        lambda m: bool((m.attributes.colors[:, 0] == 255).any()),
    ),
    Case(
        "PLY mesh",
        "other properties of vertices",
        written("a.ply", ply("property float quality\n", "", QUAD, ["3 0 1 2"])),
        lambda m: False,
    ),
    Case(
        "PLY mesh",
        "other properties of faces",
        written("a.ply", ply("", "property int label\n", PLACES, ["3 0 1 2 7"])),
        lambda m: False,
    ),
    Case(
        "PLY mesh",
        "several textures (`texnumber`)",
        written("a.ply", ply("", "property int texnumber\n", PLACES, ["3 0 1 2 1"])),
        lambda m: False,
    ),
    Case("OBJ", "decimals of maps", at_utm("a.obj"), near_utm),
    Case(
        "OBJ",
        "area of concave polygons",
        written("a.obj", PRISM),
        lambda m: abs(volume(m) - shoelace(star(24))) < 1e-5,
    ),
    Case(
        "OBJ",
        "`-s`, `-o`, `-clamp` of textures",
        lambda f: textured(f, "-s 2 2 -o 0.5 -clamp on my map 2.png"),
        lambda m: float(m.attributes.uv.max()) == 2.5,
    ),
    Case("OBJ", "other options of textures", lambda f: textured(f, "-mm 0.5 2 my map 2.png"), lambda m: False),
    Case(
        "OBJ",
        "other textures (`map_Bump` ...)",
        lambda f: textured(f, "my map 2.png\nmap_Bump my map 2.png"),
        lambda m: False,
    ),
    Case("OBJ", "smoothing groups without normals", written("a.obj", "s 1\n" + PRISM), lambda m: False),
    Case("OBJ", "lines and points", written("a.obj", PRISM + "l 1 2\n"), lambda m: False),
    Case(
        "STL",
        "colours, by Magics or VisCAM",
        written("a.stl", stl([0x8000, 0x8001])),
        lambda m: m.attributes is not None,
    ),
    Case(
        "STL",
        "numbers of triangles that are not colours",
        written("a.stl", stl([7, 0])),
        lambda m: m.attributes is not None,
    ),
    Case(
        "OFF",
        "colours of faces",
        written("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 255 0 0\n"),
        lambda m: m.attributes is not None,
    ),
    Case(
        "LAS",
        "coordinates, to .1 mm at UTM",
        made_las("a.las", 8),
        lambda c: bool((np.abs(np.array(c.origin) - UTM) < 70).all()),
    ),
    Case(
        "LAS",
        "intensity, returns, flags, classification, time, ...",
        made_las("a.las", 8),
        lambda c: {"classification", "gps_time", "return_number", "nir", "withheld"} <= set(c.fields),
    ),
    Case("LAZ", "extra dimensions", made_las("a.laz", 7), lambda c: set(EXTRA) <= set(c.fields)),
    Case("LAZ", "the coordinate system", made_las("a.laz", 6), lambda c: c.crs[2112].rstrip(b"\0") == WKT.encode()),
    Case("LAS", "waveforms", waves, lambda c: False),
    Case("LAS", "other records", with_record, lambda c: False),
    Case("PLY points", "doubles of maps", at_utm("a.ply"), near_utm),
    Case(
        "PLY points",
        "other properties",
        written("a.ply", ply("property float quality\n", "", QUAD, ["3 0 1 2"])),
        lambda c: c.fields["quality"].tolist() == [7] * 4,
    ),
    Case("PLY splats", "harmonics of bands 1 to 3", splats("a.ply"), lambda c: c.harmonics.shape[1] == 15),
    Case(
        "PLY splats", "two deviations (2D Gaussian Splatting)", flat_splats, lambda c: isinstance(c, points.SplatCloud)
    ),
    Case("PLY splats", "other properties", labelled, lambda c: False),
    Case(
        "compressed PLY", "splats and harmonics", written("a.ply", packed_ply(15)), lambda c: c.harmonics.shape[1] == 15
    ),
    Case("SPZ 2", "splats and harmonics", written("a.spz", spz(2, 8)), lambda c: c.harmonics.shape[1] == 8),
    Case("SPZ 3", "splats and harmonics", written("a.spz", spz(3, 15)), lambda c: c.harmonics.shape[1] == 15),
    Case("SPZ 4", "splats and harmonics", written("a.spz", spz(4, 15)), lambda c: c.harmonics.shape[1] == 15),
    Case("SOG", "splats", lambda f: SOG, lambda c: len(c) == 300),
    Case(
        ".splat",
        "splats (it has no harmonics)",
        written("a.splat", bytes([0] * 12 + [0, 0, 128, 63] * 3 + [9] * 8)),
        lambda c: len(c) == 1,
    ),
    Case(".ksplat", "splats", written("a.ksplat", bytes(5000)), lambda c: True),
)


def volume(mesh: Any) -> float:
    corners = mesh.positions[mesh.triangles].astype(float)
    return float(np.einsum("fa,fa->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


def outcome(case: Case, folder: Path) -> str:
    """ "kept", "lost, with a warning", "lost" or "refused"."""
    cloud = case.kind.startswith(("LA", "PLY p", "PLY s", "comp", "SPZ", "SOG", "."))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = (points.load_points if cloud else meshes.load)(case.make(folder))
        except HraError:
            return "refused"
    if case.has(found):
        return "kept"
    return "lost, with a warning" if any("left out" in str(one.message) for one in said) else "lost"


def table() -> str:
    """The rows of the page."""
    lines = ["| file | what it carries | |", "| --- | --- | --- |"]
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(f"| {case.kind} | {case.what} | {outcome(case, Path(folder))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], "utf-8")
