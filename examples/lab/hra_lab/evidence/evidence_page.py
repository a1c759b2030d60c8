"""The page of the learned experiment: gates, tests, every cell, and what equal accuracy costs.

Right answers against tokens.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from hra_lab.evidence.canvas import KINDS
from hra_lab.evidence.experiment import ALL, BUDGETS, CONTROLS, DOWNSAMPLED, MAIN, SEEING
from hra_lab.evidence.findings import answers_of, curve, outcomes, tokens_for
from hra_lab.evidence.statistics import paired

_TARGET = 0
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


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """``evidence.md`` and its figure."""
    return {"evidence.md": text(record).encode(), "pictures/evidence.png": figure(record)}


def text(record: dict[str, Any]) -> str:
    """The page as Markdown."""
    lines = [
        "# Does it help? Answers of trained readers",
        "",
        "Made by `hra eval tokens --out examples/lab/docs --json examples/lab/docs/evidence.json`; " + _made(record),
        "",
        _HOW,
        *_gates(record),
        *_tests(record),
        *_equal(record),
        *_hard(record),
        *_cells(record),
    ]
    return "\n".join(lines).rstrip() + "\n"


_HOW = """\
Canvases of 256 x 256 pixels hold three to six plates of different colours and sizes (16 to 56 pixels) with one of
five patterns on them; a question is "which pattern red" or "which ground". Tokens are made for the *target*; the
same tokens are asked about something near it (*secondary*), something far (*periphery*) and the ground (*global*).
Readers are small transformers that see nothing but tokens and their boxes, trained on a mixture of all methods and
budgets. What was shrunk, and why, stands in [decisions](decisions.md); the [hypotheses](hypotheses.md) are older
than the test split. An oracle knows the box of the answer: its rows say what a method could do, not what it does
with the relevance that you have. The rows with noise (area under the ROC curve) say how quickly that is lost.
"""


def _made(record: dict[str, Any]) -> str:
    readers = len(record["rows"][0]["right"])
    text = f"{readers} readers, {record['canvases']} canvases of the {record['split']} split, "
    text += f"{record['steps']} steps each."
    return text if record["converged"] else f"{text} **Not converged.**"


def _gates(record: dict[str, Any]) -> list[str]:
    lines = ["## Gates", "", "| gate | asked | found | |", "| --- | --- | ---: | --- |"]
    for name, wanted, value, holds in gates(record):
        lines.append(f"| {name} | {wanted} | {value:.1f} % | {'holds' if holds else '**fails**'} |")
    return [*lines, ""]


def gates(record: dict[str, Any]) -> list[tuple[str, str, float, bool]]:
    """Each gate: its name, what is asked, what was found in percent, and whether it holds."""

    def share(cell: Any, shown: str = "all") -> float:
        relevance = "none" if cell == DOWNSAMPLED else cell.relevance
        return float(100 * answers_of(record, cell.method, cell.budget, relevance, shown)[..., _TARGET].mean())

    ceiling, down = share(ALL), share(DOWNSAMPLED)
    commonest = 100 * record["commonest"]["target"]
    blind = max(share(cell, "question") for cell in CONTROLS)
    rows = [("all 256 finest tokens", "at least 90 %", ceiling, ceiling >= 90)]
    rows.append(("question alone", f"at most {commonest + 3:.1f} % (commonest + 3)", blind, blind <= commonest + 3))
    for cell in CONTROLS:
        found, limit = share(cell, "places"), share(cell, "question") + 3
        rows.append((f"places alone, {cell.name}", f"at most {limit:.1f} % (question + 3)", found, found <= limit))
    return [*rows, (f"down-sampling to {MAIN} tokens", "30 to 70 %", down, 30 <= down <= 70)]


def _tests(record: dict[str, Any]) -> list[str]:
    """No p where a gate failed: what it would say is of a reader that cannot answer."""
    lines = ["## Tests", "", f"Points, with 95 % intervals; at {MAIN} tokens where no other number stands.", ""]
    held = all(holds for *_, holds in gates(record))
    if not held:
        lines += ["A gate failed: differences are shown without p, and nothing follows from them.", ""]
    lines += [
        "| hypothesis | difference | interval |" + " p (Holm) |" * held,
        "| --- | ---: | --- |" + " ---: |" * held,
    ]
    for name, found, p in outcomes(record):
        line = f"| {name} | {found.value:+.1f} | {found.low:+.1f} to {found.high:+.1f} |"
        lines.append(line + f" {p:.4f} |" * held)
    return [*lines, ""]


def _equal(record: dict[str, Any]) -> list[str]:
    lines = ["## Tokens needed for the same answers", "", "![Right answers against tokens](pictures/evidence.png)", ""]
    lines += [
        "Tokens at which each method gives as many right answers as down-sampling with so many (linear in between).",
        "",
    ]
    for kind in KINDS[:3]:
        lines += [
            f"| {kind} | " + " | ".join(f"as {b}" for b in BUDGETS) + " |",
            "| --- " + "| ---: " * len(BUDGETS) + "|",
        ]
        wanted = curve(record, "downsample", "none", kind, BUDGETS)
        for method, relevance in CURVES:
            if method == "downsample":
                continue
            shares = curve(record, method, relevance, kind, BUDGETS)
            lines.append(f"| {method} | " + " | ".join(_needed(share, shares) for share in wanted) + " |")
        lines.append("")
    return lines


def _needed(share: float, shares: np.ndarray) -> str:
    needed = tokens_for(share, BUDGETS, shares)
    if needed is None:
        return f"> {BUDGETS[-1]}"
    return f"<= {BUDGETS[0]}" if needed == BUDGETS[0] else f"{needed:.0f}"


def _hard(record: dict[str, Any]) -> list[str]:
    """Targets that most readers get wrong from down-sampling."""
    hard = answers_of(record, "downsample", MAIN, "none")[..., _TARGET].mean(axis=0) < 0.5
    lines = ["## Where down-sampling fails", ""]
    lines += [
        f"Of the {hard.sum()} targets that most readers get wrong from {MAIN} tokens of down-sampling,",
        "each method gets right with as many:",
        "",
    ]
    lines += ["| method | percent |", "| --- | ---: |"]
    for method, relevance in CURVES:
        lines.append(f"| {method} | {100 * answers_of(record, method, MAIN, relevance)[:, hard, _TARGET].mean():.1f} |")
    return [*lines, ""]


def _cells(record: dict[str, Any]) -> list[str]:
    lines = [
        "## Every cell",
        "",
        "Percent right, mean over readers; in brackets the target of each reader. The difference from",
        "",
    ]
    lines[-2:] = [
        "Percent right, mean over readers; in brackets the target of each reader, and the difference of the target",
        "",
    ]
    lines[-2] += " from down-sampling to as many tokens, with its interval."
    sizes = np.array([int(size) for size in record["sizes"]])
    lines += [
        "| method | tokens | relevance | " + " | ".join(KINDS) + " | large / medium / small | against down-sampling |"
    ]
    lines += ["| --- | ---: | --- | " + "---: | " * len(KINDS) + "---: | --- |"]
    for row in record["rows"]:
        if row["shown"] == "all":
            lines.append(_cell(record, row, sizes))
    return [*lines, ""]


def _cell(record: dict[str, Any], row: dict[str, Any], sizes: np.ndarray) -> str:
    right = answers_of(record, row["method"], row["budget"], row["relevance"])
    shares = [f"{share:.1f}" for share in 100 * right.mean(axis=(0, 1))]
    shares[0] += " (" + " ".join(f"{share:.0f}" for share in 100 * right[..., _TARGET].mean(axis=1)) + ")"
    of_sizes = " / ".join(
        f"{100 * right[:, sizes == size, _TARGET].mean():.0f}" for size in range(3) if (sizes == size).any()
    )
    beside = ""
    if row["method"] != "downsample" and row["budget"] in BUDGETS:
        down = answers_of(record, "downsample", row["budget"], "none")
        found = paired((right.mean(0) - down.mean(0))[:, _TARGET])
        beside = f"{found.value:+.1f} ({found.low:+.1f} to {found.high:+.1f})"
    parts = [row["method"], str(row["budget"]), row["relevance"], *shares, of_sizes, beside]
    return "| " + " | ".join(parts) + " |"
