"""The page that compares cuts of a cluster mesh with whole-mesh simplification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import Any

from hra_lab.evaluation.meshes.methods import EQUAL, FROM_SOURCE, OURS, PEERS, VISIBLE

Rows = Sequence[dict[str, Any]]

_PAGE = Template("""# What cuts of a mesh look like

Written by one command, which needs OpenGL 4.5 (Mesa's software renderer will do) and, for the scans, `make data`:

    hra eval meshes --out examples/lab/docs

Every method draws each mesh with at most the same number of triangles. Its depth and normals are compared with those of
the source, pixel by pixel, in $views views of $width x $height pixels: from all around, with the whole mesh in view,
and close up, where part of it is out of view.

- **depth**: mean difference along the view direction, in thousandths of the mesh's diagonal, at most 50 per pixel;
- **normal**: mean angle between the visible triangles' normals, degrees;
- **outline**: percent of the pixels where only one of the two views has a surface; these count 50 and 90 degrees above.

| method | what it draws |
| --- | --- |
| budget cut | clusters: the cut of least error within the budget (`Hull()`), for each view |
| budget cut, visible | the same, where what the budget cut's depth buffer hides counts nothing (`VisibleScreenError`) |
| threshold cut | clusters: the least certified pixel error that the budget allows (`Threshold()`), for each view |
| simplified from the source | one mesh for all views: meshoptimizer on the whole mesh |
| simplified in halves | the same in halving steps, each from the last; mostly the better of the two |
| ..., equal count | either of them with as many triangles as the budget cut draws on average, since steps leave some |
| whole levels | clusters: one level everywhere, the next one begun in storage order |

The budget cut against every other method, at each budget and distance:

$summary

The same for the cut that knows what is hidden:

$visible

$tables
## Clusters per group

`build(group_size=...)`, with the whole mesh in view. A refinement adds one group; a budget cannot be met more finely
than by its triangles. The gap is the largest of the residual error's over all views.

$groups

## What the numbers say

$findings
$skipped""")

EQUAL_COUNT = FROM_SOURCE + EQUAL
_NAMES = {"depth": "depth, thousandths", "normal": "normal, degrees", "outline": "outline, percent"}
_FACTORS = {"depth": 1000.0, "normal": 1.0, "outline": 100.0}
# Differences below this share are a draw.
_DRAW = 0.01


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.meshes.run.run`.
    """
    rows = record["rows"]
    width, height = record["viewport"]
    skipped = "".join(f"- {entry['mesh']} was left out: {entry['reason']}\n" for entry in record["skipped"])
    text = _PAGE.substitute(
        views=record["views"],
        width=width,
        height=height,
        summary=_summary(rows, OURS),
        visible=_summary(rows, VISIBLE),
        tables="".join(_section(rows, mesh) for mesh in dict.fromkeys(row["mesh"] for row in rows)),
        groups=_groups(record["groups"]),
        findings="\n".join(findings(rows)),
        skipped=skipped and f"\n{skipped}",
    )
    return {"mesh-quality.md": text.encode()}


def _groups(rows: Rows) -> str:
    """Steps, builds and errors by group size."""
    shares = [cut["share"] for cut in rows[0]["cuts"]] if rows else []
    columns = ["mesh", "group size", "groups", "triangles per step", "root", "CPU s"]
    columns += [f"depth, normal, gap at {share:.0%}" for share in shares]
    lines = [f"| {' | '.join(columns)} |", "| --- |" + " ---: |" * (len(columns) - 1)]
    for row in rows:
        cells = [row["mesh"], row["group_size"], f"{row['groups']:,}", f"{row['step']:,.0f}", row["root_triangles"]]
        cells.append(f"{row['cpu_s']:.2f}")
        cells += [f"{1000 * c['depth']:.3g}, {c['normal']:.3g}, {c['residual_gap']:.1%}" for c in row["cuts"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _summary(rows: Rows, own: str) -> str:
    """How often a method is better, equal and worse than each other method."""
    lines = ["| beside | " + " | ".join(f"{name}: better / equal / worse" for name in ("depth", "normal")) + " |"]
    lines.append("| --- | ---: | ---: |")
    for other in dict.fromkeys(row["method"] for row in rows if row["method"] != own):
        counts = [" / ".join(map(str, _score(rows, own, other, measure))) for measure in ("depth", "normal")]
        lines.append(f"| {other} | {' | '.join(counts)} |")
    return "\n".join(lines)


def _score(rows: Rows, own: str, other: str, measure: str) -> tuple[int, int, int]:
    ratios = [ratio for _, ratio in _ratios(rows, own, other, measure)]
    better, worse = sum(r < 1 - _DRAW for r in ratios), sum(r > 1 + _DRAW for r in ratios)
    return better, len(ratios) - better - worse, worse


def _ratios(rows: Rows, own: str, other: str, measure: str) -> Iterator[tuple[dict[str, Any], float]]:
    """Rows of a method with their error as a multiple of the other method's in the same case."""
    rival = {_case(row): row[measure] for row in rows if row["method"] == other}
    for row in rows:
        if row["method"] == own:
            least = rival[_case(row)]
            yield row, row[measure] / least if least else 1.0


def _case(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["mesh"], row["view"], row["share"]


def _section(rows: Rows, mesh: str) -> str:
    """The tables of one mesh, one per distance."""
    own = [row for row in rows if row["mesh"] == mesh]
    parts = [f"## {mesh[0].upper()}{mesh[1:]}, {own[0]['source_triangles']:,} triangles\n"]
    for view in dict.fromkeys(row["view"] for row in own):
        parts.append(f"{view[0].upper()}{view[1:]}:\n\n{_table([row for row in own if row['view'] == view])}\n")
    return "\n".join(parts) + "\n"


def _table(rows: Rows) -> str:
    lines = ["| budget | method | triangles drawn | " + " | ".join(_NAMES.values()) + " |"]
    lines.append("| --- | --- |" + " ---: |" * (1 + len(_NAMES)))
    for row in rows:
        cells = (f"{_FACTORS[name] * row[name]:.3g}" for name in _NAMES)
        budget = f"{row['budget']:,}" if row["method"] == OURS else ""
        lines.append(f"| {budget} | {row['method']} | {row['triangles']:,.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def findings(rows: Rows) -> Iterator[str]:
    """One sentence per method, peer and measure, and where clusters gain most."""
    for own in (OURS, VISIBLE):
        for other in PEERS:
            for measure in ("depth", "normal"):
                yield f"- {own}, {measure}: {_finding(rows, own, other, measure)}"
    yield f"- {OURS} beside `{EQUAL_COUNT}`, mean depth error by budget and distance: {_by_case(rows)}."
    yield (
        "- At the smallest budgets a cut consists of collapsed edges, without borders that stay. Cuts follow the camera"
        " at every budget, which whole-mesh simplification does not know. Group sizes count above 8,192 triangles."
    )


def _by_case(rows: Rows) -> str:
    """Mean ratios to whole-mesh simplification at each share and distance."""
    ratios: dict[str, list[float]] = {}
    for row, ratio in _ratios(rows, OURS, EQUAL_COUNT, "depth"):
        ratios.setdefault(f"{row['share']:.0%} {row['view']}", []).append(ratio)
    return ", ".join(f"{case} {sum(found) / len(found):.2f}" for case, found in ratios.items())


def _finding(rows: Rows, own: str, other: str, measure: str) -> str:
    """Mean and worst of one method's error as a multiple of another's."""
    found = sorted(_ratios(rows, own, other, measure), key=lambda pair: pair[1])
    better, equal, worse = _score(rows, own, other, measure)
    mean = sum(ratio for _, ratio in found) / len(found)
    text = f"{mean:.2f} times that of `{other}` on average; {better} better, {equal} equal, {worse} worse"
    row, ratio = found[-1]
    where = f"{row['mesh']}, {row['view']}, {row['budget']:,} triangles"
    return text + (f", at worst {ratio:.2f} times ({where})." if worse else ".")
