"""What cuts of clouds look like, as a page."""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np

from hra_lab.evaluation.points.comparing import BASELINES, METRICS, OURS, PEERS

_PAGE = Template("""# Cuts of clouds beside other viewers' rules

Written by one command (`make data` fetches the scans, `examples/lab/scripts/fit_splats.py` fits the splats):

    hra eval points --out examples/lab/docs

Mean PSNR in dB and FLIP of $views views against full detail, $width x $height pixels on white, at equal counts. All
but *random* and *grid*, which make the whole cloud smaller, cut the same tree: ours *by the picture* (`PictureError`,
which looks at the picture of full detail from that camera) and *by bounds* (`CloudError`, which does not), the others
by the rules of Potree, Spark and PlayCanvas (by distance). Scans are vertices, lit; the splats were fitted to the
skull. *Least lead* is the worst view's, over the best of the three peers there, in dB; *gap* the largest of ours by
the picture.

$table

Processor milliseconds from a camera to what to draw, means over budgets and views:

$times

$findings
""")
"""Placeholders are filled in by `render`."""


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    width, height = record["viewport"]
    filled = {"views": record["views"], "width": width, "height": height, "findings": "\n".join(findings(record))}
    return {"point-pictures.md": _PAGE.substitute(filled, table=table(record), times=times(record)).encode()}


def table(record: dict[str, Any]) -> str:
    """One line for each cloud and share, the best PSNR in bold."""
    methods = (*METRICS, *PEERS, *BASELINES)
    lines = [f"| cloud, share | {' | '.join(methods)} | least lead | gap |", "| --- |" + " --- |" * (len(methods) + 2)]
    for cloud, share in _cases(record):
        rows = _rows(record, cloud, share)
        best = max(row["psnr"] for row in rows.values())
        cells = [_cell(rows[method], best) for method in methods]
        own = rows[OURS]
        ends = f"{own['least_lead']:+.2f} | {100 * own['gap']:.2g} %"
        lines.append(f"| {cloud} {100 * share:g} %, {own['count']:,} | {' | '.join(cells)} | {ends} |")
    return "\n".join(lines)


def times(record: dict[str, Any]) -> str:
    """One line for each cloud."""
    methods = (*METRICS, *PEERS)
    lines = [f"| cloud | points | {' | '.join(methods)} |", "| --- |" + " ---: |" * (len(methods) + 1)]
    for cloud, count in record["counts"].items():
        rows = [row for row in record["rows"] if row["cloud"] == cloud]
        seconds = [np.mean([row["cpu_s"] for row in rows if row["method"] == method]) for method in methods]
        lines.append(f"| {cloud} | {count:,} | {' | '.join(f'{1e3 * mean:.1f}' for mean in seconds)} |")
    return "\n".join(lines)


def findings(record: dict[str, Any]) -> list[str]:
    """How far ours by the picture leads over the best peer of each case, and what was skipped."""
    leads = []
    for cloud, share in _cases(record):
        rows = _rows(record, cloud, share)
        leads.append(rows[OURS]["psnr"] - max(rows[peer]["psnr"] for peer in PEERS))
    lead, most, mean = min(leads), max(leads), np.mean(leads)
    said = f"By the picture ours leads the best peer by {lead:+.2f} to {most:+.2f} dB, {mean:+.2f} on average."
    return [said, *(f"Skipped {entry['cloud']}: {entry['reason']}." for entry in record["skipped"])]


def _cases(record: dict[str, Any]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((row["cloud"], row["share"]) for row in record["rows"]))


def _rows(record: dict[str, Any], cloud: str, share: float) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in record["rows"] if (row["cloud"], row["share"]) == (cloud, share)}


def _cell(row: dict[str, Any], best: float) -> str:
    """PSNR and FLIP; a view that equals full detail has an infinite PSNR."""
    value = "equal" if np.isinf(row["psnr"]) else f"{row['psnr']:.2f}"
    return f"{f'**{value}**' if row['psnr'] == best else value}, {row['flip']:.3f}"
