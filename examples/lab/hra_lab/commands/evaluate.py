"""``hra eval``: what each rule loses on real data, and what each token method gives back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer
from rich import box
from rich.table import Table

from hra.console import JsonOption, Scale, ScaleOption, folder_or, make_folder, print_wide, running, write_json
from hra.errors import HraError, MissingExtra
from hra.files.atomic_write import write_atomically
from hra_lab.commands.encoder import encoder
from hra_lab.commands.verdict import verdict


class SuiteName(StrEnum):
    """What can be evaluated."""

    attention = "attention"
    codebooks = "codebooks"
    compressors = "compressors"
    core = "core"
    frames = "frames"
    meshes = "meshes"
    pixels = "pixels"
    points = "points"
    questions = "questions"
    reading = "reading"
    residency = "residency"
    reducers = "reducers"
    seeing = "seeing"
    settings = "settings"
    splits = "splits"
    tokens = "tokens"
    trained = "trained"


def run_suite(
    suite: Annotated[SuiteName, typer.Argument(help="What is evaluated.")],
    out: Annotated[
        Path | None, typer.Option("--out", callback=folder_or(), help="Folder for the page and its pictures.")
    ] = None,
    scale: ScaleOption = Scale.full,
    quick: Annotated[bool, typer.Option("--quick", help="The same as --scale small.")] = False,
    parts: Annotated[
        Path | None,
        typer.Option("--parts", help="Folder that keeps what is judged, to go on with. For reading and seeing."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option("--images", help="Folder of your own images, with --gold. For suites with a --seed.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option("--gold", help="JSON lines: image, question, answer, boxes; see docs/questions.md.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            max=sys.maxsize - 1,
            help="Of what is made or cut. For questions, reading, seeing, pixels and tokens.",
        ),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Run every rule or method on the same real problems, and show what each one loses."""
    _, run, show = _SUITES[suite]
    if images is not None or gold is not None:
        run, show = _own(suite, images, gold), _show_own
        for name, given in (("--parts", parts is not None), ("--scale", quick or scale is not Scale.full)):
            if given:
                raise HraError("your own questions are all asked, in one go", where=name, fix="leave it out")
    if seed is not None:
        if suite not in _ASKING or gold is not None:
            raise HraError("only what a suite that asks makes by itself has a seed", where="--seed", fix="leave it out")
        run = partial(run, seed=seed)
    if parts is not None:
        if suite not in _IN_PARTS:
            raise HraError(f"{suite.value} is not judged in parts", where="--parts", fix="leave it out")
        run = partial(run, parts=parts)
    with running(suite.value) as progress:
        record, pages = run(Scale.small if quick else scale, progress)
    if seed is not None:  # two records of other pages must not look like two runs of the same
        record = {**record, "seed": seed}
    write_json(json_file, record)
    if out is not None:
        _write(out, pages)
    show(record)


Pages = Callable[[], Mapping[str, bytes]]
Run = Callable[..., tuple[dict[str, Any], Pages]]
"""Of a scale, progress and options: the record, and what makes its page."""


def _found(name: str) -> Any:
    """What stands in a module of the laboratory, "module:name": imported once a suite runs, as each needs others."""
    module, _, own = name.partition(":")
    return getattr(import_module(f"hra_lab.{module}"), own)


def _suite_of(run: str, page: str) -> Run:
    """A suite by the name of its function, in whose module stand the sizes FULL and SMALL, and that of its page."""
    module = run.partition(":")[0]

    def suite(scale: Scale, progress: Callable[[str], None], **given: Any) -> tuple[dict[str, Any], Pages]:
        record = _found(run)(_found(f"{module}:{scale.name.upper()}"), progress, **given)
        return record, lambda: _found(page)(record)

    return suite


def _core(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    from hra_lab.evaluation.core import run
    from hra_lab.evaluation.sizes import FULL, SMALL

    sizes = {Scale.full: FULL, Scale.small: SMALL}[scale]
    record = run(sizes, progress=progress)
    return record, lambda: _found("evaluation.ablation:render")(record, sizes)


def _tokens(scale: Scale, progress: Callable[[str], None], seed: int = 0) -> tuple[dict[str, Any], Pages]:
    from hra_lab.evidence.evidence_page import render
    from hra_lab.evidence.experiment import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], Path("readers") / scale.value, progress, seed=seed)
    return record, lambda: render(record)


def _own(suite: SuiteName, images: Path | None, gold: Path | None) -> Run:
    """A suite that asks questions, on anybody's images."""
    if suite not in _ASKING:
        known = ", ".join(sorted(name.value for name in _ASKING))
        raise HraError(f"{suite.value} asks no questions", where="--gold", fix=f"use it with one of {known}")
    if images is None or gold is None:
        raise HraError("--images and --gold go together", where="hra eval", fix="give both")
    folder, file = images, gold

    def run(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
        from hra_lab.evaluation.questions.own import OWN
        from hra_lab.inputs.gold import read_gold

        record, pictures = OWN[suite.value](read_gold(folder, file), file.stem, progress)
        text = {f"{suite.value}-{file.stem}.md": record["summary"].encode()}
        return record, lambda: {**text, **{name: make() for name, make in pictures.items()}}

    return run


def _show_own(record: dict[str, Any]) -> None:
    typer.echo(record["summary"])


def _write(folder: Path, pages: Pages) -> None:
    try:
        contents = pages()
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "matplotlib", "viz") from error
    for name, content in contents.items():
        make_folder((folder / name).parent)
        write_atomically(folder / name, content)


def _printed(name: str) -> Callable[[dict[str, Any]], None]:
    """What prints a text that a function of the laboratory makes of the record."""
    return lambda record: typer.echo(_found(name)(record))


def _show_core(record: dict[str, Any]) -> None:
    """Mean and worst losses, one line per data, budget and rule."""
    from hra_lab.evaluation.tables import percent

    table = Table(title="percent of what is possible", title_justify="left", box=box.SIMPLE)
    for column in ("data", "budget", "rule"):
        table.add_column(column, no_wrap=True)
    for column in ("gain lost", "worst", "error in excess", "worst"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in record["rows"]:
        losses = (row[measure][part] for measure in ("gain_lost", "residual_excess") for part in ("mean", "worst"))
        table.add_row(row["data"], row["budget"], row["rule"], *map(percent, losses))
    print_wide(table)
    typer.echo(f"{record['proven']} of {record['problems']} problems were solved to proven optimality")


def _show_meshes(record: dict[str, Any]) -> None:
    """How often the budget cut is ahead."""
    from hra_lab.evaluation.meshes.mesh_quality import findings

    for line in findings(record["rows"]):
        typer.echo(line)
    for entry in record["skipped"]:
        typer.echo(f"skipped {entry['mesh']}: {entry['reason']}")


def _show_frames(record: dict[str, Any]) -> None:
    """What is above the mark, and who pops how much."""
    from hra_lab.evaluation.frames.frame_quality import findings, verdicts

    for line in (*verdicts(record["pixels"]), *findings(record["popping"])):
        typer.echo(line)
    for entry in record["skipped"]:
        typer.echo(f"skipped {entry['mesh']}: {entry['reason']}")


def _show_points(record: dict[str, Any]) -> None:
    """The table of the page, and how far ours leads."""
    from hra_lab.evaluation.points.point_pictures import findings, table

    typer.echo("\n\n".join((table(record), *findings(record))))


def _show_pixels(record: dict[str, Any]) -> None:
    """The tables of the page."""
    from hra_lab.evaluation.token_methods.tables import groups_of, method_table

    for group, rows in groups_of(record["rows"]).items():
        typer.echo(f"{group}\n\n{method_table(rows)}\n")


def _show_questions(record: dict[str, Any]) -> None:
    """The tables of the page."""
    from hra_lab.evaluation.questions.tables import read_table, shown_table

    typer.echo(f"{read_table(record['read'])}\n")
    for kind in dict.fromkeys(row["kind"] for row in record["shown"]):
        typer.echo(f"{kind}\n\n{shown_table([row for row in record['shown'] if row['kind'] == kind])}\n")


def _show_answers(record: dict[str, Any]) -> None:
    """The gate, mean scores, and tokens for equal ones."""
    from hra_lab.evaluation.answers.answer_page import gate
    from hra_lab.evaluation.answers.table import means_table, needed_table

    curves = next(iter(record["scores"].values()))
    typer.echo(f"{gate(record)}\n\n{means_table(curves)}\n\ntokens for the score of down-sampling\n")
    typer.echo(needed_table(curves))


def _show_residency(record: dict[str, Any]) -> None:
    """The error that each page order leaves, in percent of that of the coarsest level."""
    shares = list(record["orders"][0]["errors"])
    table = Table(title="error left, % of the coarsest level's", title_justify="left", box=box.SIMPLE)
    for column in ("mesh", "KiB", "order", "pages", *shares):
        table.add_column(column, no_wrap=True)
    for row in record["orders"]:
        errors = (f"{100 * error:.3g}" for error in row["errors"].values())
        table.add_row(row["mesh"], str(row["page_kib"]), row["order"], str(row["pages"]), *errors)
    print_wide(table)


def _show_reducers(record: dict[str, Any]) -> None:
    """One line per reducer."""
    for row in record["rows"]:
        counts = "exact" if row["exact"] else "counts differ"
        typer.echo(f"{row['name']:10} {1e3 * row['cpu_s']:8.1f} ms  {counts}")


def _show_compressors(record: dict[str, Any]) -> None:
    """One line per picture and way."""
    from hra_lab.evaluation.compressors.compressor_page import line_of

    for row in record["rows"]:
        typer.echo(f"{row['picture']:10} {line_of(row)}")


class _Suite(NamedTuple):
    """What a suite is about, as its help says; what runs it; and what prints its record."""

    about: str
    run: Run
    show: Callable[[dict[str, Any]], None]


_SUITES = {
    SuiteName.attention: _Suite(
        "What cheaper attention misses.",
        _suite_of("evaluation.attention:run", "evaluation.attention:page"),
        _printed("evaluation.attention:table"),
    ),
    SuiteName.codebooks: _Suite(
        "What codebooks of patches lose.",
        _suite_of("evaluation.codebooks:run", "evaluation.codebooks:page"),
        _printed("evaluation.codebooks:table"),
    ),
    SuiteName.compressors: _Suite(
        "Selection, compression and both.",
        _suite_of("evaluation.compressors.run:run", "evaluation.compressors.compressor_page:render"),
        _show_compressors,
    ),
    SuiteName.core: _Suite(
        "Token pyramids of real images and a mesh's cluster graph, solved by every rule.", _core, _show_core
    ),
    SuiteName.frames: _Suite(
        "Cuts at one pixel beside full detail, and what pops on a zoom.",
        _suite_of("evaluation.frames.run:run", "evaluation.frames.frame_quality:render"),
        _show_frames,
    ),
    SuiteName.meshes: _Suite(
        "Cuts and whole-mesh simplification at equal triangle counts, judged by images.",
        _suite_of("evaluation.meshes.run:run", "evaluation.meshes.mesh_quality:render"),
        _show_meshes,
    ),
    SuiteName.pixels: _Suite(
        "Real images shown by every token method.",
        _suite_of("evaluation.token_methods.run:run", "evaluation.token_methods.method_page:render"),
        _show_pixels,
    ),
    SuiteName.points: _Suite(
        "Cuts of points and splats, beside other viewers' rules.",
        _suite_of("evaluation.points.run:run", "evaluation.points.point_pictures:render"),
        _show_points,
    ),
    SuiteName.questions: _Suite(
        "Questions whose answers are known, asked to tokens.",
        _suite_of("evaluation.questions.run:run", "evaluation.questions.question_page:render"),
        _show_questions,
    ),
    SuiteName.reading: _Suite(
        "Pages whose words are known, read from their tokens.",
        _suite_of("evaluation.answers.judges:run_reading", "evaluation.answers.answer_page:render"),
        _show_answers,
    ),
    SuiteName.residency: _Suite(
        "Pages of meshes: orders, pools and a path.",
        _suite_of("evaluation.residency.run:run", "evaluation.residency.residency_pictures:render"),
        _show_residency,
    ),
    SuiteName.reducers: _Suite(
        "Published reducers, timed and counted.",
        _suite_of("evaluation.reducers.run:run", "evaluation.reducers.reducer_page:render"),
        _show_reducers,
    ),
    SuiteName.seeing: _Suite(
        "Scenes of photographed things, named from their tokens.",
        _suite_of("evaluation.answers.judges:run_seeing", "evaluation.answers.answer_page:render"),
        _show_answers,
    ),
    SuiteName.settings: _Suite(
        "What settings of methods change.",
        _suite_of("evaluation.settings:run", "evaluation.settings:page"),
        _printed("evaluation.settings:table"),
    ),
    SuiteName.splits: _Suite(
        "What strata, levels, budgets and shares of directions change.",
        _suite_of("evaluation.splits:run", "evaluation.splits:page"),
        _printed("evaluation.splits:table"),
    ),
    SuiteName.tokens: _Suite(
        "Readers that are trained here, or were in ./readers, asked about tokens of every method.",
        _tokens,
        _printed("evidence.evidence_page:text"),
    ),
    SuiteName.trained: _Suite(
        "What a trained allocator, rate and cheaper attention bring.",
        _suite_of("evaluation.trained:run", "evaluation.trained:page"),
        _printed("evaluation.trained:table"),
    ),
}
_IN_PARTS = frozenset((SuiteName.reading, SuiteName.seeing))
_ASKING = frozenset((SuiteName.questions, SuiteName.reading, SuiteName.seeing, SuiteName.pixels, SuiteName.tokens))


def _suite(name: SuiteName) -> Callable[..., None]:
    """`run_suite` for one suite, as a command of its own."""

    def run(**given: Any) -> None:
        run_suite(name, **given)

    hints = get_type_hints(run_suite, include_extras=True)
    options = [one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[one.name])
               for one in signature(run_suite).parameters.values() if one.name != "suite"]  # fmt: skip
    vars(run).update(__signature__=Signature(options))
    run.__annotations__ = {option.name: option.annotation for option in options}
    run.__doc__ = _SUITES[name].about
    return run


evaluate = typer.Typer(no_args_is_help=True, help=run_suite.__doc__)
for _name in SuiteName:
    evaluate.command(_name.value)(_suite(_name))
evaluate.command("encoder")(encoder)
evaluate.command("vqa")(verdict)
