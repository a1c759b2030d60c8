#!/usr/bin/env python
"""Run the matrix of models: small random models of every family, reduced runs beside masked ones; prints tables.

Run ``python scripts/check_models.py [--families llava,qwen3_vl] [--docs docs/models.md] [--json FILE]`` (with all
families and all tables some ten minutes of one core):

1. logits of reduced runs against whole runs in which what is gone is masked (tests/helpers/model_matrix.py);
2. the same of prompts with pictures and videos (tests/helpers/video_models.py);
3. methods x families: which are served, which are refused and why.

``--docs`` puts the tables into that page. The exit code is 1 if a difference is above 2e-6, a method is wrong in
silence, or an error is not one of hra's own.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hra.domains import tokens  # noqa: E402
from hra.domains.tokens.methods.named import named_allocator  # noqa: E402
from hra.errors import HraError  # noqa: E402
from hra.integrations.transformers import reduce  # noqa: E402
from tests.helpers.model_families import ALL, family_inputs, family_model, pictures_of  # noqa: E402
from tests.helpers.model_matrix import COLUMNS, COMPACT, LIMIT, SERVED, STATED, Case  # noqa: E402
from tests.helpers.tiny_models import IMAGE, PROCESSOR  # noqa: E402
from tests.helpers.video_models import VIDEO_COLUMNS, VIDEO_FAMILIES  # noqa: E402

# Of hra's own methods one of each kind: cells, a pyramid, and boxes and samples that are no cells.
METHODS = (*tokens.REDUCERS, "grid", "pyramid", "multi-fixation", "log-polar")
BUDGET = 4


def main() -> int:
    """Make the tables; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(ALL), help="names of tests/helpers/model_families.py")
    parser.add_argument("--docs", type=Path, help="page whose tables are replaced")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    names = chosen.families.split(",")
    numbers = {name: differences(name) for name in names if name in SERVED}
    videos = {
        name: {column: measure(name) for column, measure in VIDEO_COLUMNS.items()}
        for name in VIDEO_FAMILIES
        if name in names
    }
    answers = {name: served(name) for name in names}
    titles = {name: f"{ALL[name].title}{_note(name)}" for name in numbers}
    tables = {
        "differences": difference_table(numbers, titles, [*COLUMNS, "30 sizes"]),
        "videos": difference_table(videos, VIDEO_FAMILIES, [*VIDEO_COLUMNS]),
        "methods": method_table(answers),
    }
    for table in tables.values():
        print(table, end="\n\n")
    record = {"transformers": transformers.__version__, "torch": torch.__version__, "differences": numbers,
              "videos": videos, "methods": answers}  # fmt: skip
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    if chosen.docs:
        written(chosen.docs, tables)
    wrong = [
        name
        for name, row in (*numbers.items(), *videos.items())
        if not all(row[column] <= LIMIT for column in row if column != EFFECT)
    ]
    silent = [name for name, row in answers.items() if any(answer.startswith("wrong") for answer in row.values())]
    print(f"above {LIMIT}: {wrong or 'none'}; wrong in silence or without words: {silent or 'none'}")
    return int(bool(wrong or silent))


EFFECT = "dropping changes"


def differences(name: str) -> dict[str, float]:
    """The matrix's row of a family, and of those of any size 30 pictures drawn at random."""
    row = {}
    for column, measure in COLUMNS.items():
        row[column] = measure(name)
    if ALL[name].kind in ("anyres", "sized", "packed"):
        row["30 sizes"] = max(Case(name, seed, prompts=(1, 1, 1)).prompt() for seed in range(10, 20))
    print(name, {column: f"{value:.1e}" for column, value in row.items()}, file=sys.stderr)
    return row


def served(name: str) -> dict[str, str]:
    """What becomes of each method: "served", "refused: why", or "wrong: what"."""
    model, sizes = family_model(name), pictures_of(name, 2, 0)
    inputs = family_inputs(name, (2,), sizes)
    stated = {"grids": [STATED[name]] * 2} if name in STATED else {}
    options: dict[str, Any] = {"budget": BUDGET, "processor": PROCESSOR, **stated}
    options["positions"] = "compact" if name in COMPACT else "original"
    return {method: _served(model, inputs, method, options) for method in METHODS}


def _served(model: Any, inputs: Any, method: str, options: dict[str, Any]) -> str:
    allocator, _ = named_allocator(method, None, None, None)  # a name that is not known is no refusal
    try:
        small = reduce(model, inputs, allocator=allocator, **options)
    except HraError as error:
        return f"refused: {error.what}"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {error}"
    layout = small.encoded.layout
    totals = [sum(small.counts[grid] for grid in grids) for grids in layout.images]
    breaks = small.encoded.counts([one.slots for one in small.chosen])[[feature for feature, _, _ in layout.breaks]]
    kept = int((small.prompt["input_ids"] == IMAGE).sum())
    if totals != [BUDGET] * 2 or kept != sum(totals) + int(breaks.sum()):
        return f"wrong: {totals} tokens, {kept} in the prompt"
    return "served" if bool(model(**small.inputs).logits.isfinite().all()) else "wrong: logits are not finite"


def difference_table(numbers: dict[str, dict[str, float]], titles: dict[str, str], columns: list[str]) -> str:
    """Markdown of the differences, in millionths."""
    lines = [f"| family | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    for name, row in numbers.items():
        cells = [_cell(column, row.get(column)) for column in columns]
        lines.append(f"| {titles[name]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(column: str, value: float | None) -> str:
    if value is None:
        return "-"
    if column == "beams":
        return "same" if value == 0 else "differ"
    return f"{value:.1f}" if column == EFFECT else f"{value * 1e6:.1f}"


def _note(name: str) -> str:
    notes = ["compact"] * (name in COMPACT) + ["`grids`"] * (name in STATED)
    return f" ({', '.join(notes)})" if notes else ""


def method_table(answers: dict[str, dict[str, str]]) -> str:
    """Markdown of what is served: methods that share their answers share a column, and reasons have letters."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for method in METHODS:
        key = tuple(re.sub(r"\d+|\b[A-Z]\w*ForConditionalGeneration", "*", row[method]) for row in answers.values())
        groups.setdefault(key, []).append(method)
    letters: dict[str, str] = {}
    lines = [f"| family | {' | '.join(', '.join(map(_code, group)) for group in groups.values())} |",
             "| --- " * (len(groups) + 1) + "|"]  # fmt: skip
    for name, row in answers.items():
        cells = [_letter(letters, row[group[0]], name) for group in groups.values()]
        lines.append(f"| {ALL[name].title}{_note(name)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {letter}: {reason}" for reason, letter in letters.items())])


def _letter(letters: dict[str, str], answer: str, name: str) -> str:
    if answer == "served":
        return "yes"
    kind, _, what = answer.partition(": ")
    reason = f"{kind}: {re.sub(r'[A-Z][A-Za-z0-9_]*ForConditionalGeneration', 'the model', what)}"
    return f"no, {letters.setdefault(reason, chr(ord('a') + len(letters)))}"


def _code(name: str) -> str:
    return f"`{name}`"


def written(page: Path, tables: dict[str, str]) -> None:
    """Put the tables between their marks."""
    text = page.read_text("utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- {name}, made by scripts/check_models.py -->", f"<!-- until here: {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
