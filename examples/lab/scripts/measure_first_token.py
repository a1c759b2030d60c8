#!/usr/bin/env python
"""First token and tokens per second with fewer visual tokens, beside what operations promise; prints a table.

Run ``OMP_NUM_THREADS=1 python examples/lab/scripts/measure_first_token.py [--rounds 3] [--json FILE] [--docs
docs/models.md]`` (half an hour of one core). A model of the LLaVA kind with random weights gets 1, 3 and 5 pictures of
576 visual tokens. In every round the whole prompt and all methods take turns; times are processor seconds of one
thread, and the selection counts. *Promised* is the ratio of what `CostModel` counts of both prompts, all pairs of
attention; *causal* has half of them, since the language model's attention skips what comes later. *Share* is the
speed-up as a share of the promise before it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import torch
import transformers

from hra.integrations.transformers import CostModel
from hra_lab.bench.models.model import MIDDLE, SMALL, Subject
from hra_lab.bench.models.ratios import medians
from hra_lab.bench.models.row import reduced_run, whole_run

METHODS = ("divprune", "visionzip", "prumerge", "hired", "vscan", "holov", "cdpruner", "tome")
PICTURES = (1, 3, 5)
BEGIN, END = "<!-- made by measure_first_token.py -->", "<!-- until here, by measure_first_token.py -->"
HEAD = [
    "| visual tokens | kept | method | selection | first token | faster | promised | share | causal | share "
    "| a token | faster | promised | share |",
    "| --- " * 14 + "|",
]


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=int, default=192, help="tokens of each picture, of 576")
    parser.add_argument("--small", action="store_true", help="a tiny model, to try the script")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    sizes = SMALL if chosen.small else MIDDLE
    rows = [row for count in PICTURES for row in measured(Subject(sizes, count), chosen.budget, chosen.rounds)]
    table = "\n".join([*HEAD, *map(line, rows)])
    print(table)
    if chosen.json:
        facts = {"load": os.getloadavg()[0], "rounds": chosen.rounds, "torch": torch.__version__,
                 "transformers": transformers.__version__}  # fmt: skip
        chosen.json.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n", "utf-8")
    if chosen.docs:
        before, _, rest = chosen.docs.read_text("utf-8").partition(BEGIN)
        chosen.docs.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", "utf-8")
    return 0


def measured(subject: Subject, budget: int, rounds: int) -> list[dict[str, Any]]:
    """A row for each method; the first round is not counted."""
    each = subject.visual // subject.pictures
    kept = min(budget, each // 3)
    taken = [
        {"": whole_run(subject), **{method: reduced_run(subject, method, kept) for method in METHODS}}
        for _ in range(rounds + 1)
    ][1:]
    counting = CostModel(subject.config)
    before, after = (
        counting.cost(text=subject.text, tokens=tokens, pictures=subject.pictures) for tokens in (each, kept)
    )
    whole = medians([one[""] for one in taken])
    rows = []
    for method in METHODS:
        own = medians([one[method] for one in taken])
        first = sum(whole[part] for part in _PARTS) / sum(own[part] for part in _PARTS)
        step = whole["decode_s"] / own["decode_s"]
        promised = {
            "first_promised": before.total() / after.total(),
            "causal_promised": (before.total() - _unseen(subject, each)) / (after.total() - _unseen(subject, kept)),
            "step_promised": before.decoding / after.decoding,
        }
        rows.append(
            {
                "visual": subject.visual, "kept": kept * subject.pictures, "method": method,
                "parameters": subject.parameters, **own, "whole": whole, "first_speedup": first, "step_speedup": step,
                **promised, "first_share": first / promised["first_promised"],
                "causal_share": first / promised["causal_promised"],
                "step_share": step / promised["step_promised"],
            }
        )  # fmt: skip
    return rows


def _unseen(subject: Subject, tokens: int) -> float:
    """Operations of the pairs of attention that come later: half of both products of all layers."""
    text, length = subject.config.text_config, subject.text + subject.pictures * tokens
    return 2.0 * text.hidden_size * text.num_hidden_layers * length**2


_PARTS = ("encode_s", "selection_s", "prefill_s")


def line(row: dict[str, Any]) -> str:
    """Markdown of a row."""
    first = 1e3 * sum(row[part] for part in _PARTS)
    cells = [
        f"{row['visual']:,}", f"{row['kept']:,}", f"`{row['method']}`",
        f"{1e3 * row['selection_s']:.0f}", f"{first:,.0f}",
        f"{row['first_speedup']:.2f}", f"{row['first_promised']:.2f}", f"{row['first_share']:.2f}",
        f"{row['causal_promised']:.2f}", f"{row['causal_share']:.2f}",
        f"{1e3 * row['decode_s']:.1f}", f"{row['step_speedup']:.2f}", f"{row['step_promised']:.2f}",
        f"{row['step_share']:.2f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
