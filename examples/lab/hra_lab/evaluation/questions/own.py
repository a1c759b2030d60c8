"""What the suites that ask questions make of images, questions and boxes that anybody brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hra_lab.inputs.gold import Gold

Progress = Callable[[str], None]
Made = tuple[dict[str, Any], Mapping[str, Callable[[], bytes]]]
"""A record with a ``summary`` as Markdown, and what makes its pictures, by path."""


def read_own(asked: Sequence[Gold], name: str, progress: Progress) -> Made:
    """Whether OCR reads the answers from the tokens; for text."""
    from hra_lab.evaluation.questions.gold import gold_rows, reliability_picture, summary

    rows = list(gold_rows(asked, progress))
    pages = {f"pictures/reliability-{name}.svg": lambda: reliability_picture(rows)}
    return {"rows": rows, "summary": summary(rows, name)}, pages


def seen_own(asked: Sequence[Gold], name: str, progress: Progress) -> Made:
    """Whether an image network names what the boxes hold as it does at full detail; for photos."""
    from hra_lab.evaluation.answers.judges import record
    from hra_lab.evaluation.answers.run import judged
    from hra_lab.evaluation.answers.seeing import own_tasks
    from hra_lab.evaluation.answers.table import means_table, needed_table

    made = record("seeing", judged(own_tasks(asked), {}, None, progress))
    curves, images = next(iter(made["scores"].values())), [one.name for one in asked]
    head = f"## {name}: {made['tasks']} questions, {len(set(images))} images\n\n"
    head += "Intervals are over images; those of few are too narrow, and those of one have no width."
    needed = f"Tokens for the score of down-sampling:\n\n{needed_table(curves, images)}"
    return {**made, "summary": f"{head}\n\n{means_table(curves, images)}\n\n{needed}\n"}, {}


def pictured_own(asked: Sequence[Gold], name: str, progress: Progress) -> Made:
    """What every token method gives back of the images."""
    from hra_lab.evaluation.token_methods.images import Picture
    from hra_lab.evaluation.token_methods.run import FULL, run
    from hra_lab.evaluation.token_methods.tables import groups_of, method_table

    def picture(one: Gold) -> Picture:
        image = one.image()
        small = min(image.shape[:2]) < FULL.side
        return Picture(f"{one.name}: {one.question}", one.group, image, one.question, small)

    made = run(FULL, progress, own=map(picture, asked))
    groups = [f"### {group}\n\n{method_table(rows)}" for group, rows in groups_of(made["rows"]).items()]
    groups += [f"skipped {one['method']}, {one['source']}: {one['reason']}" for one in made["skipped"]]
    return {**made, "summary": "\n\n".join([f"## {name}: {len(asked)} questions", *groups]) + "\n"}, {}


def shown_own(asked: Sequence[Gold], name: str, progress: Progress) -> Made:
    """How much of the answers' boxes the tokens of every method show in full detail; no reader is trained for that."""
    from hra_lab.evaluation.questions.pairs import Pair
    from hra_lab.evaluation.questions.showing import shown_rows
    from hra_lab.evaluation.questions.tables import shown_table

    rows: list[Any] = []
    for number, one in enumerate(asked):
        pair = Pair(one.group, one.image(), one.question, one.boxes[0], adversarial=False)
        rows += shown_rows(pair, number, progress)
    return {"rows": rows, "summary": f"## {name}: {len(asked)} questions\n\n{shown_table(rows)}\n"}, {}


OWN: Mapping[str, Callable[[Sequence[Gold], str, Progress], Made]] = {
    "questions": read_own,
    "reading": read_own,
    "seeing": seen_own,
    "pixels": pictured_own,
    "tokens": shown_own,
}
"""By suite; each takes the questions, the name of their file and what is told of progress."""
