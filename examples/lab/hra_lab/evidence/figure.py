"""Right answers against tokens."""

from __future__ import annotations

import io
from typing import Any

from hra_lab.evidence.canvas import KINDS
from hra_lab.evidence.experiment import BUDGETS, SEEING
from hra_lab.evidence.findings import curve

CURVES = (
    *((method, "oracle") for method in SEEING),
    ("downsample", "none"),
    ("uniform-grid", "none"),
    ("random", "none"),
)
"""Methods and relevances that are drawn."""


def figure(record: dict[str, Any]) -> bytes:
    """Right answers against tokens, a panel for each of target, secondary and periphery, as PNG."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(12, 4), layout="constrained")
    panels = drawn.subplots(1, 3, sharey=True)
    for panel, kind in zip(panels, KINDS, strict=False):
        for method, relevance in CURVES:
            style = "-o" if relevance == "oracle" else "--s"
            panel.plot(
                BUDGETS, curve(record, method, relevance, kind, BUDGETS), style, label=method, markersize=4, alpha=0.8
            )
        panel.axhline(100 * record["commonest"][kind], color="grey", linewidth=0.8)
        panel.set(title=kind, xlabel="tokens", xscale="log", xticks=BUDGETS, xticklabels=BUDGETS, ylim=(0, 104))
        panel.minorticks_off()
    panels[0].set_ylabel("right answers, percent")
    panels[0].legend(fontsize=8)
    out = io.BytesIO()
    drawn.savefig(out, format="png", dpi=100)
    return out.getvalue()
