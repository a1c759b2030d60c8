"""Run a reader on a file and say what came of it: the right answer, a typed refusal, or one of the faults."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.compiling import Stopwatch
from hra.errors import HraError
from tests.helpers.hostile.cases import Case

IMAGES = (
    ".png",
    ".jpg",
    ".webp",
    ".tif",
    ".bmp",
    ".gif",
    ".tga",
    ".ppm",
    ".jp2",
    ".svg",
    ".eps",
    ".exr",
    ".hdr",
    ".dds",
)
# Beside what the file takes; an image that is accepted may take its samples and the decoder's copies as well.
_BASE, _PER_BYTE, _PER_PIXEL = 2**28, 4, 40
_SECONDS = 10.0


@dataclass(frozen=True)
class Outcome:
    """What came of one file.

    Attributes
    ----------
    verdict : "accepted", "refused", or a fault: "wrong", "untyped", "no fix", "over".
    detail : what is wrong, or the refusal's first line.
    seconds, peak : time, and bytes of memory beyond what was held before.
    """

    verdict: str
    detail: str
    seconds: float
    peak: int


def judged(case: Case, folder: Path) -> Outcome:
    """Write the files of a case to ``folder``, read them, and compare with the right answer."""
    path = written(case, folder)
    outcome, result = measured(lambda: read(path), case.bytes)
    if outcome.verdict == "accepted" and not case.accepted:
        return Outcome("wrong", "accepted, but must be refused", outcome.seconds, outcome.peak)
    if outcome.verdict == "refused" and case.accepted:
        return Outcome("wrong", f"refused, but must be read: {outcome.detail}", outcome.seconds, outcome.peak)
    if outcome.verdict == "accepted" and (fault := _difference(case, result)):
        return Outcome("wrong", fault, outcome.seconds, outcome.peak)
    return outcome


def written(case: Case, folder: Path) -> Path:
    """The file of a case, with the others beside it."""
    for name, content in case.beside.items():
        (folder / name).write_bytes(content)
    path = folder / f"case{case.suffix}"
    path.write_bytes(case.content)
    return path


def read(path: Path) -> Any:
    """What the reader for the file's suffix makes of it; images are read by both image readers."""
    from hra.domains import meshes

    suffix = path.suffix.lower()
    if suffix in IMAGES:
        return _image(path)
    if suffix == ".npz":
        from hra.residency import load_trace

        return load_trace(path)
    if suffix == ".hra":
        return meshes.load_clusters(path)
    return meshes.load(path)


def _image(path: Path) -> np.ndarray:
    from hra.files.images import load_image

    return load_image(path)


def texels(path: Path) -> np.ndarray:
    """All texels of an image file, through the tile cache."""
    from hra.domains.textures import open_image

    return np.asarray(open_image(path).mips[0][:])


def measured(run: Callable[[], Any], size: int) -> tuple[Outcome, Any]:
    """What came of ``run``, which reads files of ``size`` bytes, and what it returned."""
    verdict, detail, result = "accepted", "", None
    with peak_memory() as peak, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watch = Stopwatch()  # on a machine with other work the clock tells little, and compiling is not the reader's
        try:
            result = run()
        except HraError as error:
            verdict, detail = "refused", error.what
            if not (error.where and error.fix):
                verdict, detail = "no fix", f"says no {'fix' if error.where else 'place'}: {error.what}"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            verdict, detail = "untyped", f"{type(error).__name__}: {error}"
        seconds = watch.cpu
    if verdict in ("accepted", "refused") and (seconds > _SECONDS or peak[0] > allowed(size, result)):
        verdict, detail = "over", f"{peak[0] / 2**20:.0f} MB in {seconds:.1f} s, {verdict}: {detail}"
    return Outcome(verdict, detail[:300], seconds, peak[0]), result


def allowed(size: int, result: Any) -> int:
    """Bytes of memory that reading files of ``size`` bytes may take."""
    pixels = result.shape[0] * result.shape[1] if isinstance(result, np.ndarray) and result.ndim == 3 else 0
    return _BASE + _PER_BYTE * size + _PER_PIXEL * pixels


@contextlib.contextmanager
def peak_memory() -> Iterator[list[int]]:
    """The most memory that the process held beyond what it held before; Linux."""
    status, peak = Path("/proc/self/status"), [0]
    Path("/proc/self/clear_refs").write_text("5")
    before = _field(status, "VmRSS")
    try:
        yield peak
    finally:
        peak[0] = max(_field(status, "VmHWM") - before, 0)


def _field(status: Path, name: str) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def _difference(case: Case, result: Any) -> str:
    """How a result differs from what the case promises; "" if it does not."""
    if case.suffix == ".npz":
        found = (len(result), result.cost.size)
        return "" if found == case.size else f"{found} frames and items, not {case.size}"
    if case.size is not None:
        return "" if result.shape[:2] == case.size else f"an image of {result.shape}, not {case.size}"
    assert case.corners is not None
    corners = result.positions[result.triangles]
    ours, theirs = _canonical(corners), _canonical(np.asarray(case.corners, np.float32))
    if ours.shape != theirs.shape or not np.allclose(ours, theirs, atol=1e-6):
        return f"{len(ours)} other triangles than the {len(theirs)} that it has"
    if case.uv is None:
        return ""
    if result.attributes is None or result.attributes.uv is None:
        return "no texture coordinates"
    both = _canonical(np.concatenate([corners, result.attributes.uv[result.triangles]], axis=2))
    right = _canonical(np.concatenate([np.asarray(case.corners, np.float32), case.uv], axis=2))
    return "" if np.allclose(both, right, atol=1e-6) else "other texture coordinates"


def _canonical(corners: np.ndarray) -> np.ndarray:
    """Rows of triangles [F, 3, k] that do not depend on their order, nor on where each begins."""
    rolled = [min(list(np.roll(triangle, -i, axis=0).ravel()) for i in range(3)) for triangle in corners.astype(float)]
    return np.array(sorted(rolled))
