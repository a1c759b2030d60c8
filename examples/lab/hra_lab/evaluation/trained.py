"""What training brings on canvases that nothing was trained on: an allocator and a rate; cheaper attention of a reader.

Templates of canvases are in `hra_lab.evidence.canvas.TEMPLATES`; allocator and rate never see the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from hra.domains.tokens.learned import LowRankAttention, WindowedAttention
from hra_lab.bootstrap import difference, mean_of
from hra_lab.evaluation.attention import z_order
from hra_lab.evidence import rates
from hra_lab.evidence.allocator import BUDGET, LESSONS, Glance, GlanceRelevance, Material, teach
from hra_lab.evidence.asking import WEIGHTS
from hra_lab.evidence.batches import of_shard
from hra_lab.evidence.canvas import KINDS, PATCH, TEMPLATES, Canvas, canvases
from hra_lab.evidence.cells import Cell
from hra_lab.evidence.experiment import ALL, right
from hra_lab.evidence.reader import Attend, Reader
from hra_lab.evidence.shards import Shard, make_shard
from hra_lab.evidence.weights import load_reader
from hra_lab.templates import template

*_SEEN, HELD_OUT = TEMPLATES
JUDGED = (_SEEN[0], HELD_OUT)
_FIRST = 10_000  # canvas of the split "train": those before are the reader's
_PRICES = (0.3, 1.0)
_CUES, _DOWN = "cues, nothing learned", "down-sampling"
_PAGE = template(__package__, "trained.page.txt")


@dataclass(frozen=True)
class TrainedSizes:
    """Canvases of each template to train on and to judge by, and steps of each lesson."""

    taught: int
    judged: int
    steps: int


FULL = TrainedSizes(40, 100, 60)
# Shows that everything runs.
SMALL = TrainedSizes(4, 4, 3)


def run(sizes: TrainedSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: right or wrong of every canvas, by what is asked and template."""
    return taught(sizes, progress)[0]


def taught(sizes: TrainedSizes, progress: Callable[[str], None]) -> tuple[dict[str, Any], dict[str, Glance]]:
    """The record of `run`, and the networks of the lessons."""
    reader = load_reader(WEIGHTS)
    given = {name: list(canvases("train", sizes.taught, start=_FIRST, template=name)) for name in _SEEN}
    tests = {name: list(canvases("test", sizes.judged, template=name)) for name in JUDGED}
    rows = [*_attending(reader, tests[_SEEN[0]], progress), *_rates(reader, given, tests, progress)]
    allocating, networks = _allocating(reader, given, tests, sizes.steps, progress)
    return {"rows": rows + allocating, "taught": sizes.taught, "judged": sizes.judged, "steps": sizes.steps}, networks


def _alone(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return value


_ATTENDING: Mapping[str, Attend | None] = {
    "each sees all": None,
    "16 fine and means of 4": WindowedAttention(16, pooled=4),
    "windows of 32 and their means": WindowedAttention(32),
    "means of 4 alone, as down-sampling": LowRankAttention(64),
    "each sees itself alone": _alone,
}


def _attending(reader: Reader, made: Sequence[Canvas], progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """All finest tokens in the order of a Z curve; questions see all of them."""
    progress("attention")
    batch = of_shard(shard := make_shard(ALL, made), np.arange(len(shard)))
    order = torch.from_numpy(np.argsort(z_order(shard.boxes[0], PATCH), kind="stable"))
    boxes, rows = batch.boxes[:, order], []
    views = zip(batch.pixels[:, order].split(50), boxes.split(50), strict=True)
    with torch.no_grad():
        seen = torch.cat([reader.seen(*part) for part in views])
        for name, attend in _ATTENDING.items():
            parts = zip(seen.split(50), boxes.split(50), batch.words.split(50), strict=True)
            scores = torch.cat([reader.answers(*part, attend=attend) for part in parts])
            answers = (scores.argmax(-1) == batch.answers).numpy()
            rows.append(_row("attention", name, _SEEN[0], answers))
    return rows


def _row(part: str, name: str, where: str, answers: np.ndarray, tokens: float = 0) -> dict[str, Any]:
    kinds = {kind: answers[:, i].astype(int).tolist() for i, kind in enumerate(KINDS)}
    return {"part": part, "name": name, "template": where, "tokens": tokens, **kinds}


def _rates(
    reader: Reader,
    given: Mapping[str, list[Canvas]],
    tests: Mapping[str, list[Canvas]],
    progress: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Shares of right answers of each canvas, all four steps together."""
    progress("steps of the rates")
    steps = rates.Steps.together([rates.Steps.of(reader, made, "cues") for made in given.values()])
    rows = []
    for where in JUDGED:
        test = rates.Steps.of(reader, tests[where], "cues")
        for count in rates.LADDER:
            rows.append(_rated("as many in each step", where, rates.fixed(test, count), count))
        for price in _PRICES:
            choose = rates.learn(steps, price)
            wanted = float(rates.COST[choose(steps.told)].mean())
            ways = {
                "learned rate": choose,
                "mark on belief": rates.by_mark(steps, wanted),
                "mark on attention": rates.by_mark(steps, wanted, attention=True),
            }
            for name, way in ways.items():
                found, read = rates.score(test, way(test.told))
                chance = rates.fixed(test, float(read.mean()))
                rows.append({**_rated(name, where, found, float(read.mean())), "chance": chance.tolist()})
    return rows


def _rated(name: str, where: str, right: np.ndarray, tokens: float) -> dict[str, Any]:
    return {"part": "rate", "name": name, "template": where, "tokens": tokens, "right": right.tolist()}


def _allocating(
    reader: Reader,
    given: Mapping[str, list[Canvas]],
    tests: Mapping[str, list[Canvas]],
    steps: int,
    progress: Callable[[str], None],
) -> tuple[list[dict[str, Any]], dict[str, Glance]]:
    """Answers from 10 tokens of a pyramid by each relevance."""
    cells = {
        _CUES: Cell("pyramid", BUDGET, "cues"),
        "uniform": Cell("pyramid", BUDGET),
        "oracle": Cell("pyramid", BUDGET, "oracle"),
        _DOWN: Cell("downsample", BUDGET),
        "random": Cell("random", BUDGET),
    }
    shards = {(name, where): make_shard(cell, made) for name, cell in cells.items() for where, made in tests.items()}
    rows = [_answered(name, where, reader, shard) for (name, where), shard in shards.items()]
    material, networks = Material.of(given), {}
    for name, lesson in LESSONS.items():
        progress(name)
        pupil = deepcopy(reader)
        network = networks[name] = teach(lesson, pupil, material, steps, progress)
        cell = Cell("pyramid", BUDGET, GlanceRelevance(network))
        rows += [_answered(name, where, pupil, make_shard(cell, made)) for where, made in tests.items()]
        if lesson.joint:
            told = f"{_CUES}, the reader of both"
            rows += [_answered(told, where, pupil, shards[_CUES, where]) for where in tests]
    return rows, networks


def _answered(name: str, where: str, reader: Reader, shard: Shard) -> dict[str, Any]:
    return _row("allocator", name, where, right(reader, shard), shard.pixels.shape[1])


def table(record: dict[str, Any]) -> str:
    """A table for each part."""
    return "\n\n".join((attention_table(record), allocator_table(record), rate_table(record)))


def attention_table(record: dict[str, Any]) -> str:
    """Right answers from all tokens, and how many more than where each sees all."""
    rows = [row for row in record["rows"] if row["part"] == "attention"]
    lines = ["| tokens see each other | right, % | more |", "| --- | ---: | ---: |"]
    for row in rows:
        lines.append(f"| {row['name']} | {_share(_things(row))} | {_more(row, rows[0])} |")
    return "\n".join(lines)


def allocator_table(record: dict[str, Any]) -> str:
    """Targets right, beside cues, and what the same tokens tell of other things, by template."""
    rows = [row for row in record["rows"] if row["part"] == "allocator"]
    lines = [
        "| canvases | relevance | target right, % | more than by cues | more than down-sampling | other things, % |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for where in JUDGED:
        mine = {row["name"]: row for row in rows if row["template"] == where}
        for name, row in mine.items():
            other = np.mean([row["secondary"], row["periphery"]])
            told = f"{where}, held out" if where == HELD_OUT else where
            beside = [_points(difference(row["target"], mine[one]["target"])) for one in (_CUES, _DOWN)]
            lines.append(f"| {told} | {name} | {_share(row['target'])} | {' | '.join(beside)} | {100 * other:.0f} |")
    return "\n".join(lines)


def rate_table(record: dict[str, Any]) -> str:
    """Right answers by tokens read, beside a rate by chance that reads as many."""
    lines = ["| canvases | rate | tokens read | right, % | more than by chance |", "| --- | --- | ---: | ---: | ---: |"]
    for row in record["rows"]:
        if row["part"] == "rate":
            told = f"{row['template']}, held out" if row["template"] == HELD_OUT else row["template"]
            more = _points(difference(row["right"], row["chance"])) if "chance" in row else ""
            lines.append(f"| {told} | {row['name']} | {row['tokens']:.1f} | {_share(row['right'])} | {more} |")
    return "\n".join(lines)


def _things(row: dict[str, Any]) -> np.ndarray:
    return np.mean([row[kind] for kind in KINDS[:3]], axis=0)


def _more(row: dict[str, Any], first: dict[str, Any]) -> str:
    return "" if row is first else _points(difference(_things(row).tolist(), _things(first).tolist()))


def _share(scores: Sequence[float] | np.ndarray) -> str:
    found = mean_of(scores)
    return f"{100 * found.value:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _points(found: Any) -> str:
    return f"{100 * found.value:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def page(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    text = _PAGE.substitute(
        attention=attention_table(record), allocator=allocator_table(record), rate=rate_table(record),
        taught=record["taught"], judged=record["judged"], steps=record["steps"],
    )  # fmt: skip
    return {"trained.md": text.encode()}
