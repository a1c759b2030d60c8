"""The page about frames, and its picture. The picture needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import Any

import numpy as np

from hra_lab.evaluation.frames.pixel_cuts import LIMIT, PIXELS_PER_DEGREE, TOLERANCES
from hra_lab.evaluation.frames.sequences import FADE_FRAMES, FULL

Rows = Sequence[dict[str, Any]]

_BOUNDS = ("certified", "appearance")
_ERRORS = (*_BOUNDS, "quadric")
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#E69F00", "#999999")
_PAGE = Template("""# What frames of a mesh look like

Written by one command, which needs OpenGL 4.5 (Mesa's software renderer will do) and, for the scans, `make data`:

    hra eval frames --out examples/lab/docs

Scans are used only where their SHA-256 is the one in `hra_lab.evaluation.frames.subjects`. Drawn by $driver.

## Cuts at one pixel beside full detail

Threshold cuts, `Threshold(1.0)`, beside all triangles of the source: mean LDR-FLIP over the pixels that either
covers, at $density pixels per degree, $views views of $width x $height pixels, one sample per pixel, lit from the eye.
Flat: each triangle has its own grey. Smooth: vertices carry normals, which the build then keeps. "Certified" bounds the
displacement of every visible point, "quadric" is the simplifier's estimate, "appearance" bounds displacement as
"certified" does and keeps the mean change of the picture, normals included, within its tolerance. The mark is $limit.

$counts

$pixels

$verdicts

## A tolerance that is below the mark

One pixel of displacement bounds where a surface is, and not how it is lit. The first of $tolerances
pixels whose certified cuts stay below the mark, in the same views, and beside it what "appearance" draws at 1:

$tolerated

$tolerances_needed
$compared

## What pops on a slow zoom

$frames frames of $zoom_width x $zoom_height pixels, flat shading, each one nearer by the same share; root mean
squares over the covered pixels, percent of the brightest. A *pop* is this frame's surface beside the last one's, both
seen by this frame's camera, so that the camera's own motion does not count. *In excess* is how much more the picture
changes from frame to frame than that of full detail. *Error* is the difference from full detail. Pixel cuts and the
discrete chain of whole meshes keep one pixel by the same estimate; budgets are what the pixel cut draws on average. A
cross-fade mixes two pictures for $fade frames, in which both are drawn.

$popping

![Pops frame by frame](pictures/frame_pops.png)

$findings
$skipped""")


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """The page and its picture by their paths in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.frames.run.run`.
    """
    width, height = record["viewport"]
    zoom_width, zoom_height = record["zoom_viewport"]
    skipped = "".join(f"- {entry['mesh']} was left out: {entry['reason']}\n" for entry in record["skipped"])
    text = _PAGE.substitute(
        driver=record["driver"],
        density=f"{PIXELS_PER_DEGREE:g}",
        views=record["views"],
        width=width,
        height=height,
        limit=LIMIT,
        counts=below_the_mark(record["pixels"]),
        pixels=_pixel_table(record["pixels"]),
        verdicts="\n".join(verdicts(record["pixels"])),
        tolerances=", ".join(f"{tolerance:g}" for tolerance in TOLERANCES),
        tolerated=_tolerance_table(record["pixels"]),
        tolerances_needed=tolerances_needed(record["pixels"]),
        compared=compared(record["pixels"]),
        frames=max((len(row["pops"]) + 1 for row in record["popping"]), default=0),
        zoom_width=zoom_width,
        zoom_height=zoom_height,
        fade=FADE_FRAMES,
        popping=_popping_table(record["popping"]),
        findings="\n".join(findings(record["popping"])),
        skipped=skipped and f"\n{skipped}",
    )
    return {"frame-quality.md": text.encode(), "pictures/frame_pops.png": _picture(record["popping"])}


def verdicts(rows: Rows) -> Iterator[str]:
    """One sentence per shading, distance and bound: the largest mean FLIP of all meshes, and if it is low enough."""
    rows = _at_one_pixel(rows)
    for shading, view in dict.fromkeys((row["shading"], row["view"]) for row in rows):
        for error in _BOUNDS:
            found = [row for row in rows if (row["shading"], row["view"], row["error"]) == (shading, view, error)]
            if not found:
                continue
            worst = max(found, key=lambda row: row["flip"])
            verdict = "below the mark" if worst["flip"] <= LIMIT else "above the mark"
            above = sum(row["flip"] > LIMIT for row in found)
            yield (
                f"- {shading}, {view}, {error}: at most {worst['flip']:.4f} ({worst['mesh']}), {verdict}; "
                f"{above} of {len(found)} meshes above it."
            )


def below_the_mark(rows: Rows) -> str:
    """How many cases each error brings below the mark at a tolerance of 1, and with how many triangles on average."""
    parts, cases = [], 0
    for error in _ERRORS:
        found = [row for row in _at_one_pixel(rows) if row["error"] == error]
        passed, cases = sum(row["flip"] <= LIMIT for row in found), len(found)
        drawn = float(np.mean([row["triangles"] / row["source_triangles"] for row in found]))
        parts.append(f'{passed} with "{error}" (drawing {drawn:.0%} of the source on average)')
    return f"Of {cases} cases below the mark: {', '.join(parts)}."


def compared(rows: Rows) -> str:
    """What "appearance" draws beside the first certified tolerance that is low enough, in one sentence."""
    ratios = []
    for found in _by_case(rows).values():
        looks = next(row for row in found if row["error"] == "appearance")
        last = [row for row in found if row["error"] == "certified"][-1]
        # Where no tolerance was enough, the finest one draws fewer than it would take.
        ratios.append(looks["triangles"] / last["triangles"])
    fewer, more = (sum(sign * (ratio - 1) > 5e-4 for ratio in ratios) for sign in (-1, 1))
    return (
        f'Beside these tolerances, which nobody knows before the pictures are drawn, "appearance" draws '
        f"{min(ratios):.2f} to {max(ratios):.2f} times the triangles\n({_mean(ratios):.2f} in the geometric mean): "
        f"fewer in {fewer} cases, more in {more}."
    )


def _mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _pixel_table(rows: Rows) -> str:
    shown = " | ".join(f"{error}: triangles, FLIP" for error in _ERRORS)
    lines = [f"| mesh | shading | view | full detail | {shown} |"]
    lines.append("| --- | --- | --- |" + " ---: |" * (1 + len(_ERRORS)))
    for case, found in _by_case(_at_one_pixel(rows)).items():
        by_error = {row["error"]: f"{row['triangles']:,.0f}, {row['flip']:.4f}" for row in found}
        full = f"{found[0]['source_triangles']:,}"
        lines.append(f"| {' | '.join((*case, full, *(by_error[error] for error in _ERRORS)))} |")
    return "\n".join(lines)


def _tolerance_table(rows: Rows) -> str:
    lines = [
        "| mesh | shading | view | pixels | triangles | of those at one pixel | FLIP | appearance: triangles, FLIP |"
    ]
    lines.append("| --- | --- | --- |" + " ---: |" * 5)
    for case, found in _by_case(rows).items():
        certified = [row for row in found if row["error"] == "certified"]
        looks = next(row for row in found if row["error"] == "appearance")
        first, last = certified[0], certified[-1]
        pixels = f"{last['tolerance']:g}" if last["flip"] <= LIMIT else f"none, {last['tolerance']:g} is not"
        more = f"{last['triangles'] / first['triangles']:.2f}"
        cells = f"{pixels} | {last['triangles']:,.0f} | {more} | {last['flip']:.4f}"
        lines.append(f"| {' | '.join(case)} | {cells} | {looks['triangles']:,.0f}, {looks['flip']:.4f} |")
    return "\n".join(lines)


def tolerances_needed(rows: Rows) -> str:
    """How many cases each tolerance brings below the mark, in one sentence."""
    cases = _by_case([row for row in rows if row["error"] == "certified"]).values()
    needed = [found[-1]["tolerance"] for found in cases if found[-1]["flip"] <= LIMIT]
    counts = (
        f"{sum(one >= tolerance for one in needed)} at {tolerance:g} px"
        for tolerance in TOLERANCES
        if tolerance in needed
    )
    return f"Of {len(cases)} cases below the mark: {', '.join(counts) or 'none'}."


def _at_one_pixel(rows: Rows) -> Rows:
    return [row for row in rows if row["tolerance"] == 1]


def _by_case(rows: Rows) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    cases: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault((row["mesh"], row["shading"], row["view"]), []).append(row)
    return cases


def _popping_table(rows: Rows) -> str:
    lines = [
        "| mesh | method | triangles | largest pop | mean pop | frames that pop | largest in excess | mean error |"
    ]
    lines.append("| --- | --- |" + " ---: |" * 6)
    for row in rows:
        pops = np.array(row["pops"])
        numbers = (f"{value:.3g}" for value in (max(row["excess"]), float(np.mean(row["errors"]))))
        cells = f"{row['triangles']:,.0f} | {pops.max():.3g} | {pops.mean():.3g} | {(pops > 0).mean():.0%}"
        lines.append(f"| {row['mesh']} | {row['method']} | {cells} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def findings(rows: Rows) -> Iterator[str]:
    """One sentence per method: its largest pop beside that of every other method, over all meshes."""
    largest = {(row["mesh"], row["method"]): max(row["pops"]) for row in rows}
    names = [name for name in dict.fromkeys(row["method"] for row in rows) if name != FULL]
    meshes = list(dict.fromkeys(row["mesh"] for row in rows))
    for name in names:
        worse = [
            f"`{other}` on {count} of {len(meshes)}"
            for other in names
            if (count := sum(largest[mesh, name] > largest[mesh, other] for mesh in meshes))
        ]
        mean = float(np.mean([largest[mesh, name] for mesh in meshes]))
        losses = f"larger than those of {', '.join(worse)}" if worse else "nowhere larger than those of the others"
        yield f"- `{name}`: largest pops of {mean:.3g} % on average; {losses}."


def _picture(rows: Rows) -> bytes:
    from matplotlib.figure import Figure

    from hra_lab.evaluation.pictures import png

    names = [name for name in dict.fromkeys(row["method"] for row in rows) if name != FULL]
    meshes = list(dict.fromkeys(row["mesh"] for row in rows))
    figure = Figure(figsize=(9, 2.6 * len(meshes) + 0.8), layout="constrained")
    for axes, mesh in zip(figure.subplots(len(meshes), 1, squeeze=False)[:, 0], meshes, strict=True):
        for name, colour in zip(names, _COLOURS[1:], strict=False):
            (pops,) = [row["pops"] for row in rows if (row["mesh"], row["method"]) == (mesh, name)]
            shown = np.where(np.array(pops) > 0, pops, np.nan)
            axes.plot(range(1, len(pops) + 1), shown, ".-", color=colour, label=name, linewidth=1, markersize=4)
        axes.set(yscale="log", ylabel=f"{mesh}\npop, percent")
        axes.grid(alpha=0.3)
    figure.axes[-1].set_xlabel("frame")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return png(figure)
