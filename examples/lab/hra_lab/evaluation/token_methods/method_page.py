"""The page that compares token methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains import tokens
from hra_lab.evaluation.token_methods.method_text import PAGE
from hra_lab.evaluation.token_methods.run import BASELINE, FIRST, ORACLE
from hra_lab.evaluation.token_methods.tables import ahead_of, baseline_psnr, groups_of, method_table

_TREE = "semantic-tree"


def render(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.token_methods.run.run`.
    """
    groups = groups_of(record["rows"])
    spread = {kind: _mean(record["images"], "worst_tenth", kind) for kind in ("photos", "documents")}
    text = PAGE.substitute(
        tables="\n\n".join(f"## {_heading(name, rows)}\n\n{method_table(rows)}" for name, rows in groups.items()),
        images=len(record["images"]),
        baseline=BASELINE,
        first=FIRST,
        oracle=ORACLE,
        photo_share=f"{spread['photos']:.0%}",
        document_share=f"{spread['documents']:.0%}",
        oracle_photos=f"{_ahead(groups['photos'], ORACLE):.2f}",
        oracle_documents=f"{_ahead(groups['documents'], ORACLE):.2f}",
        tree_photos=f"{_ahead(groups['photos'], _TREE):+.2f}",
        tree_documents=f"{_ahead(groups['documents'], _TREE):+.2f}",
        findings="\n".join(f"- {line}" for name, rows in groups.items() for line in _findings(name, rows)),
        methods="\n".join(
            f"- `{name}` is `{kind.__name__}`: {_summary(kind)}" for name, kind in tokens.PRESETS.items()
        ),
        sources="\n".join(f"- {_source(image)}" for image in record["images"]),
        skipped="".join(f"- {line}\n" for line in _skip(record["skipped"])),
    )
    return {"tokens.md": text.encode()}


def _heading(group: str, rows: list[dict[str, Any]]) -> str:
    """The group, how many tokens are spent, and on how many images."""
    budgets = sorted({row["budget"] for row in rows})
    spent = str(budgets[0]) if len(budgets) == 1 else f"{budgets[0]} to {budgets[-1]}"
    return f"{group.capitalize()}: {spent} tokens, {len({row['source'] for row in rows})} images"


def _findings(group: str, rows: list[dict[str, Any]]) -> list[str]:
    """Who beats down-sampling, and who loses to it."""
    names = [name for name in dict.fromkeys(row["method"] for row in rows) if name != BASELINE]
    ahead = {name: _ahead(rows, name) for name in names}
    better = sorted((name for name in names if ahead[name] > 0), key=lambda name: -ahead[name])
    worse = sorted((name for name in names if ahead[name] <= 0), key=lambda name: -ahead[name])
    return [
        f"{group}, better than down-sampling on average: {_list_rows(better, ahead)}.",
        f"{group}, worse: {_list_rows(worse, ahead)}.",
    ]


def _list_rows(names: list[str], ahead: dict[str, float]) -> str:
    return ", ".join(f"`{name}` {ahead[name]:+.2f} dB" for name in names) or "none"


def _ahead(rows: list[dict[str, Any]], name: str) -> float:
    return ahead_of(baseline_psnr(rows), [row for row in rows if row["method"] == name])


def _mean(images: list[dict[str, Any]], key: str, kind: str) -> float:
    return float(np.mean([image[key] for image in images if image["kind"] == kind]))


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]


def _skip(skipped: list[dict[str, str]]) -> list[str]:
    """One line per method, with the first of its reasons."""
    reasons = {method: [e["reason"] for e in skipped if e["method"] == method] for method in _methods(skipped)}
    return [f"`{method}` was not run on {len(why)} of them: {why[0]}" for method, why in reasons.items()]


def _methods(skipped: list[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(entry["method"] for entry in skipped))


def _source(image: dict[str, Any]) -> str:
    asked = f', "{image["query"]}"' if image["query"] else ""
    size = f"{image['width']} x {image['height']} pixels"
    return f"{image['source']}: {size}, {image['budget']} of {image['patches']:,} patches{asked}"
