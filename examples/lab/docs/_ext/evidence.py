"""A page for each benchmark that is kept as JSON: its rows, what was left out and why, and the machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_COLUMNS = {"name": "row", "n": "n", "ours_s": "hra, ms", "peer": "peer", "peer_s": "peer, ms", "ratio": "ratio"}


def write_pages(app: Any) -> None:
    """Write ``evidence/``, before Sphinx looks for its sources."""
    folder = Path(app.srcdir) / "evidence"
    folder.mkdir(exist_ok=True)
    for path in sorted((Path(app.srcdir) / "benchmarks").glob("*.json")):
        text = page(path.stem, json.loads(path.read_text("utf-8")))
        target = folder / f"{path.stem}.md"
        if not target.exists() or target.read_text("utf-8") != text:
            target.write_text(text, "utf-8")


def page(name: str, record: dict[str, Any]) -> str:
    """One benchmark as Markdown."""
    columns = [key for key in _COLUMNS if any(key in row for row in record["rows"])]
    lines = [f"# {name.replace('-', ' ')}", "", f"Made from [{name}.json](../benchmarks/{name}.json).", ""]
    lines += ["A ratio above 1 says that hra is faster. What the fields mean stands in", ""]
    lines[-2] += " [the record of the benchmarks](../benchmarks/record.md)."
    lines += [_line(_COLUMNS[key] for key in columns), _line("---" for _ in columns)]
    lines += [_line(_shown(key, row.get(key)) for key in columns) for row in record["rows"]]
    lines += ["", "## Machine", "", *_items(record["machine"]), "", "## Left out", "", *_left_out(record["skipped"])]
    return "\n".join(lines) + "\n"


def _line(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _shown(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key.endswith("_s"):
        return f"{1000 * value:,.3g}"
    return f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _items(record: dict[str, Any]) -> list[str]:
    flat = {key: value for key, value in record.items() if not isinstance(value, (dict, list))}
    return [f"- {key}: {value}" for key, value in flat.items()]


def _left_out(skipped: Any) -> list[str]:
    items = skipped.items() if isinstance(skipped, dict) else enumerate(skipped)
    return [f"- {key}: {value}" for key, value in items] or ["Nothing."]


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True}
