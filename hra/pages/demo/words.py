"""The report's figures in plain words: what each number is called, its unit, and one conclusion for each section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Show = Callable[[Any], str]
# Gaps of rounding.
_NOTHING = 1e-12


def _count(value: Any) -> str:
    return f"{value:,.0f}"


def _mebibytes(value: Any) -> str:
    return f"{value / 2**20:,.2f} MiB"


def _percent(value: Any) -> str:
    return f"{100 * value:.2g} %" if value > _NOTHING else "0 %, proven"


def _decibels(value: Any) -> str:
    return f"{value:.2f} dB"


def _pixels(value: Any) -> str:
    return f"{value:g} px"


def _seconds(value: Any) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.1f} ms"


def _weighted(value: Any) -> str:
    return f"{value:.4g}"


# The name of a figure in report.json, what it is called on the page, and how it is shown.
LABELS: dict[str, tuple[str, Show]] = {
    "source_triangles": ("triangles of the scan", _count),
    "clusters": ("clusters at all levels", _count),
    "levels": ("levels of detail", _count),
    "triangles": ("triangles drawn", _count),
    "pixel_error_px": ("pixel error asked for", _pixels),
    "pixel_triangles": ("triangles that this pixel error takes", _count),
    "build_s": ("time to build the hierarchy", _seconds),
    "gap": ("gain that any other choice could add", _percent),
    "residual_gap": ("error that any other choice could take away", _percent),
    "frames": ("frames of the flight", _count),
    "pool_bytes": ("pool", _mebibytes),
    "texture_bytes": ("bytes of texture", _mebibytes),
    "mesh_bytes": ("bytes of geometry", _mebibytes),
    "peak_bytes": ("most that was resident in any frame", _mebibytes),
    "uploads_bytes": ("loaded over the whole flight", _mebibytes),
    "budget_bytes": ("budget", _mebibytes),
    "query": ("question", str),
    "budget": ("budget", _count),
    "count": ("tokens", _count),
    "grid_gain": ("weighted error removed by grid top-K", _weighted),
    "hull_gain": ("weighted error removed by pyramid and hull", _weighted),
    "grid_psnr_db": ("whole image from grid top-K", _decibels),
    "hull_psnr_db": ("whole image from pyramid and hull", _decibels),
    "uniform_psnr_db": ("whole image from uniform down-sampling", _decibels),
    "oracle_psnr_db": ("whole image from the pyramid, no question asked", _decibels),
    "select_s": ("time to choose", _seconds),
}


def label(name: str) -> str:
    """What a figure of report.json is called on the page; one that has no words keeps its name."""
    return LABELS[name][0] if name in LABELS else name.replace("_", " ")


def shown(name: str, value: Any) -> str:
    """Its value with its unit."""
    return LABELS[name][1](value) if name in LABELS else str(value)


def conclusion(section: str, figures: dict[str, Any]) -> str:
    """What a section shows, in one sentence of this run's own numbers."""
    return _CONCLUSIONS[section](figures)


def _meshes(found: dict[str, Any]) -> str:
    share = found["triangles"] / found["source_triangles"]
    bound = (
        f"an error that no other choice within the budget could lower by more than {_percent(found['residual_gap'])}"
    )
    left = (
        bound if found["residual_gap"] > _NOTHING else "the least error that any choice within the budget can: proven"
    )
    return f"{_count(found['triangles'])} triangles, {share:.0%} of the scan, leave {left}."


def _textures(found: dict[str, Any]) -> str:
    share = found["peak_bytes"] / found["texture_bytes"]
    bound = f"no other choice could gain more than {_percent(found['gap'])} in any frame"
    best = bound if found["gap"] > _NOTHING else "no other choice could gain more in any frame"
    resident = f"In none of {found['frames']} frames was more than {_mebibytes(found['peak_bytes'])} resident"
    return f"{resident}, {share:.1%} of the texture, and {best}."


def _tokens(found: dict[str, Any]) -> str:
    images = found.get("images", {"": found})
    ahead = [
        f"{name}: {_decibels(one['oracle_psnr_db'])} from the pyramid against {_decibels(one['uniform_psnr_db'])} "
        "down-sampled"
        for name, one in images.items()
    ]
    return f"With the same {_count(found['count'])} tokens and no question asked, {'; '.join(ahead)}."


def _pool(found: dict[str, Any]) -> str:
    share = found["mesh_bytes"] / (found["mesh_bytes"] + found["texture_bytes"])
    return (
        f"Of one budget of {_mebibytes(found['budget_bytes'])} geometry gets {share:.0%} and texture the rest, because "
        "that is where a byte removes most error on the screen."
    )


_CONCLUSIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "meshes": _meshes,
    "textures": _textures,
    "tokens": _tokens,
    "pool": _pool,
}
