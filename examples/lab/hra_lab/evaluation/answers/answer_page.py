"""The pages of both judges: results as JSON, tables, and a plot."""

from __future__ import annotations

import json
from typing import Any

from hra_lab.evaluation.answers import reading, seeing
from hra_lab.evaluation.answers.answer_text import MORE, READING, SEEING
from hra_lab.evaluation.answers.judges import FULL as SIZES
from hra_lab.evaluation.answers.table import (
    Curves,
    ceiling,
    differences_table,
    failed_table,
    means_table,
    needed_table,
    splits_tables,
)

# The least mean score of the images themselves: below it, a floor could pass for a result.
GATE = 0.95


def extent(record: dict[str, Any]) -> str:
    """How many images were asked, and of how many where a run is not at its end."""
    asked, wanted = record["tasks"], SIZES.tasks
    return str(asked) if asked >= wanted else f"the first {asked} of {wanted}"


def gate(record: dict[str, Any]) -> str:
    """Whether the judge scores the images themselves highly enough to compare anything."""
    found = ceiling(next(iter(record["scores"].values())))
    held = "holds" if found.value >= GATE else "DOES NOT HOLD: no comparison below means anything"
    return f"The images themselves score {found.value:.1%}; the gate of {GATE:.0%} {held}."


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """Page, plot and scores by path in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.answers.judges`.
    """
    from hra_lab.evaluation.answers.plot import curves_figure
    from hra_lab.evaluation.pictures import png

    suite, scores = record["suite"], record["scores"]
    main, *others = scores
    text = {"reading": READING, "seeing": SEEING}[suite].substitute(
        tasks=extent(record),
        gate=gate(record),
        means=means_table(scores[main]),
        needed=needed_table(scores[main]),
        differences=differences_table(scores[main]),
        failed=failed_table(scores[main]),
        more="\n\n".join(_more(one, scores[one]) for one in others),
        splits=splits_tables(record.get("splits", {})),
    )
    shown = {"reading": (reading.ANLS, reading.NEAR, reading.FAR), "seeing": (seeing.TOP, seeing.PROBABILITY)}[suite]
    figure = curves_figure({measure: scores[measure] for measure in shown})
    return {
        f"{suite}.md": text.encode(),
        f"{suite}.json": (json.dumps(record, separators=(",", ":")) + "\n").encode(),
        f"pictures/{suite}.png": png(figure),
    }


def _more(measure: str, curves: Curves) -> str:
    return MORE.substitute(measure=measure, full=f"{ceiling(curves).value:.0%}", means=means_table(curves))
