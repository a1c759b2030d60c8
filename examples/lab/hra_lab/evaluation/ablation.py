"""The page that shows what every rule loses."""

from __future__ import annotations

from typing import Any

from hra_lab.evaluation.pictures import box_plots, png
from hra_lab.evaluation.rules import PROPOSED
from hra_lab.evaluation.sizes import Sizes
from hra_lab.evaluation.tables import loss_table, percent
from hra_lab.templates import template

_PAGE = template(__package__, "ablation.page.txt")

_LABEL = "error in excess of the least possible, %"


def render(record: dict[str, Any], sizes: Sizes) -> dict[str, bytes]:
    """The page and its pictures by their paths in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.core.run` for the same ``sizes``.
    """
    rows = {data: [row for row in record["rows"] if row["data"] == data] for data in ("tokens", "mesh")}
    tables = {
        f"{data}_{short}": loss_table(rows[data], measure)
        for data in rows
        for short, measure in (("gain", "gain_lost"), ("residual", "residual_excess"))
    }
    text = _PAGE.substitute(
        tables,
        proven=record["proven"],
        problems=record["problems"],
        crops=sizes.crops,
        side=f"{sizes.side:,}",
        cameras=sizes.cameras,
        hull_losses="\n".join(f"- {line}" for line in _hull_losses(record["rows"])),
    )
    pictures = {
        f"pictures/ablation_{data}.png": png(box_plots(rows[data], "residual_excess", _LABEL, PROPOSED))
        for data in rows
    }
    return {"ablation.md": text.encode(), **pictures}


def _hull_losses(rows: list[dict[str, Any]]) -> list[str]:
    """One sentence per kind of data and budget: how often another rule of no proof did better than `Hull`."""
    lines = []
    for data, budget in dict.fromkeys((row["data"], row["budget"]) for row in rows):
        excess = {
            row["rule"]: row["residual_excess"]["all"] for row in rows if (row["data"], row["budget"]) == (data, budget)
        }
        others = zip(*(values for rule, values in excess.items() if rule not in PROPOSED), strict=True)
        hull = excess["Hull"]
        beaten = sum(min(other) < own * (1 - 1e-9) for own, other in zip(hull, others, strict=True))
        lines.append(
            f"{data}, {budget}: another rule was better in {beaten} of {len(hull)} problems; `Hull` left at most "
            f"{percent(max(hull))} % more error than had to be."
        )
    return lines
