"""``hra eval vqa``: from a data set and a model to the allocation to use."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from hra.console import counting, folder_or, whole_count
from hra.errors import HraError


def verdict(
    data: Annotated[
        list[Path],
        typer.Argument(help="Folders of DocVQA, TextVQA or VQA v2 as published, or JSON lines; one or more."),
    ],
    model: Annotated[
        str, typer.Option(help="Model of Hugging Face by name or folder, module:function, or http://host:port/v1.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=folder_or(), help="Folder for the report and all answers.")
    ] = Path("vqa"),
    methods: Annotated[str, typer.Option(help="Methods by name, with commas; grid is T1.")] = "",
    budgets: Annotated[str, typer.Option(help="Numbers of tokens, with commas; the largest is the reference.")] = (
        "64,150,273"
    ),
    limit: Annotated[
        int | None, typer.Option(parser=whole_count, metavar="N", help="Questions of each set; by default all.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=sys.maxsize - 1, help="Which questions a limit draws.")] = 0,
    split: Annotated[str, typer.Option(help="Of published sets: val or train.")] = "val",
    relevance: Annotated[
        str,
        typer.Option(help="What methods know of the question: phrase, cues, uniform ..., module:function or oracle."),
    ] = "phrase",
    weights: Annotated[
        str | None, typer.Option(help="The model's folder, to send a server embeddings in place of pictures.")
    ] = None,
) -> None:
    """Ask a model with fewer tokens by every method, and say which one to use, or none.

    A run that was killed goes on where it was. The report is report.md and report.json in the folder.
    """
    from hra.console import write_json
    from hra.files.atomic_write import write_atomically
    from hra.files.local_files import make_folder
    from hra_lab.vqa.methods import METHODS
    from hra_lab.vqa.models import model_named
    from hra_lab.vqa.report import Answered, page, record
    from hra_lab.vqa.report import verdict as decided
    from hra_lab.vqa.run import Plan, answered, check_plan
    from hra_lab.vqa.sets import load

    plan = Plan(_names(methods) or METHODS, tuple(sorted(whole_count(name) for name in _names(budgets))), relevance)
    check_plan(plan)
    sets = [one for folder in data for one in load(folder, split, limit, seed)]
    if len({one.name for one in sets}) != len(sets):
        raise HraError("two sets have one name", where="DATA", fix='name each set once; JSON lines have a "set"')
    asked, found = model_named(model, weights), []
    for one in sets:
        with counting(one.name, "questions") as progress:
            total = len(one.samples)
            folder = make_folder(out) / "answers" / re.sub(r"[^\w.-]+", "-", one.name)
            rows = answered(one, asked, plan, folder, lambda done, of=total, tell=progress: tell(done, of))
        found.append(Answered(one, rows))
    made = decided(found, plan)
    write_atomically(out / "report.md", page(found, plan, asked.name, made).encode())
    write_json(out / "report.json", record(found, plan, asked.name, made))
    typer.echo(f"{made.sentence}\n{out / 'report.md'}")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))
