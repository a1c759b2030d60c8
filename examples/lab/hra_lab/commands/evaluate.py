"""``hra eval``: what each rule loses on real data, and what each token method gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

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
            "--seed", min=0, help="Of what is made or cut. For questions, reading, seeing, pixels and tokens."
        ),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Run every rule or method on the same real problems, and show what each one loses."""
    run, show = _SUITES[suite]
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
    write_json(json_file, record)
    if out is not None:
        _write(out, pages)
    show(record)


Pages = Callable[[], Mapping[str, bytes]]


def _core(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Token pyramids of real images and a mesh's cluster graph, solved by every rule."""
    from hra_lab.evaluation.core import run
    from hra_lab.evaluation.sizes import FULL, SMALL

    sizes = {Scale.full: FULL, Scale.small: SMALL}[scale]
    record = run(sizes, progress=progress)

    def pages() -> Mapping[str, bytes]:
        from hra_lab.evaluation.ablation import render

        return render(record, sizes)

    return record, pages


def _meshes(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Cuts and whole-mesh simplification at equal triangle counts, judged by images."""
    from hra_lab.evaluation.meshes.mesh_quality import render
    from hra_lab.evaluation.meshes.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: render(record)


def _points(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Cuts of points and splats, beside other viewers' rules."""
    from hra_lab.evaluation.points.point_pictures import render
    from hra_lab.evaluation.points.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: render(record)


def _frames(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Cuts at one pixel beside full detail, and what pops on a zoom."""
    from hra_lab.evaluation.frames.frame_quality import render
    from hra_lab.evaluation.frames.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: render(record)


def _pixels(scale: Scale, progress: Callable[[str], None], seed: int | None = None) -> tuple[dict[str, Any], Pages]:
    """Real images shown by every token method."""
    from hra_lab.evaluation.token_methods.images import SEED
    from hra_lab.evaluation.token_methods.method_page import render
    from hra_lab.evaluation.token_methods.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress, SEED if seed is None else seed)
    return record, lambda: render(record)


def _own(suite: SuiteName, images: Path | None, gold: Path | None) -> Callable[..., tuple[dict[str, Any], Pages]]:
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


def _questions(scale: Scale, progress: Callable[[str], None], seed: int | None = None) -> tuple[dict[str, Any], Pages]:
    """Questions whose answers are known, asked to tokens."""
    from hra_lab.evaluation.questions.question_page import render
    from hra_lab.evaluation.questions.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress, seed)
    return record, lambda: render(record)


def _tokens(scale: Scale, progress: Callable[[str], None], seed: int = 0) -> tuple[dict[str, Any], Pages]:
    """Readers that are trained here, or were in ./readers, asked about tokens of every method."""
    from hra_lab.evidence.evidence_page import render
    from hra_lab.evidence.experiment import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], Path("readers") / scale.value, progress, seed=seed)
    return record, lambda: render(record)


def _reading(
    scale: Scale, progress: Callable[[str], None], parts: Path | None = None, seed: int | None = None
) -> tuple[dict[str, Any], Pages]:
    """Pages whose words are known, read from their tokens."""
    from hra_lab.evaluation.answers.answer_page import render
    from hra_lab.evaluation.answers.judges import FULL, SMALL, run_reading

    record = run_reading({Scale.full: FULL, Scale.small: SMALL}[scale], progress, parts, seed)
    return record, lambda: render(record)


def _seeing(
    scale: Scale, progress: Callable[[str], None], parts: Path | None = None, seed: int | None = None
) -> tuple[dict[str, Any], Pages]:
    """Scenes of photographed things, named from their tokens."""
    from hra_lab.evaluation.answers.answer_page import render
    from hra_lab.evaluation.answers.judges import FULL, SMALL, run_seeing

    record = run_seeing({Scale.full: FULL, Scale.small: SMALL}[scale], progress, parts, seed)
    return record, lambda: render(record)


def _residency(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Pages of meshes: orders, pools and a path."""
    from hra_lab.evaluation.residency.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)

    def pages() -> Mapping[str, bytes]:
        from hra_lab.evaluation.residency.residency_pictures import render

        return render(record)

    return record, pages


def _reducers(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Published reducers, timed and counted."""
    from hra_lab.evaluation.reducers.reducer_page import render
    from hra_lab.evaluation.reducers.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: render(record)


def _compressors(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """Selection, compression and both."""
    from hra_lab.evaluation.compressors.compressor_page import render
    from hra_lab.evaluation.compressors.run import FULL, SMALL, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: render(record)


def _attention(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """What cheaper attention misses."""
    from hra_lab.evaluation.attention import FULL, SMALL, page, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: page(record)


def _codebooks(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """What codebooks of patches lose."""
    from hra_lab.evaluation.codebooks import FULL, SMALL, page, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: page(record)


def _settings(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """What settings of methods change."""
    from hra_lab.evaluation.settings import FULL, SMALL, page, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: page(record)


def _splits(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """What strata, levels, budgets and shares of directions change."""
    from hra_lab.evaluation.splits import FULL, SMALL, page, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: page(record)


def _trained(scale: Scale, progress: Callable[[str], None]) -> tuple[dict[str, Any], Pages]:
    """What a trained allocator, rate and cheaper attention bring."""
    from hra_lab.evaluation.trained import FULL, SMALL, page, run

    record = run({Scale.full: FULL, Scale.small: SMALL}[scale], progress)
    return record, lambda: page(record)


def _write(folder: Path, pages: Pages) -> None:
    try:
        contents = pages()
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "matplotlib", "viz") from error
    for name, content in contents.items():
        make_folder((folder / name).parent)
        write_atomically(folder / name, content)


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


def _show_tokens(record: dict[str, Any]) -> None:
    """The page."""
    from hra_lab.evidence.evidence_page import text

    typer.echo(text(record))


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


def _show_codebooks(record: dict[str, Any]) -> None:
    """One line per codebook."""
    from hra_lab.evaluation.codebooks import table

    typer.echo(table(record))


def _show_attention(record: dict[str, Any]) -> None:
    """One line per kind and number of tokens."""
    from hra_lab.evaluation.attention import table

    typer.echo(table(record))


def _show_settings(record: dict[str, Any]) -> None:
    """A table for each group."""
    from hra_lab.evaluation.settings import table

    typer.echo(table(record))


def _show_splits(record: dict[str, Any]) -> None:
    """A table for each group."""
    from hra_lab.evaluation.splits import table

    typer.echo(table(record))


def _show_trained(record: dict[str, Any]) -> None:
    """A table for each part."""
    from hra_lab.evaluation.trained import table

    typer.echo(table(record))


_SUITES = {
    SuiteName.attention: (_attention, _show_attention),
    SuiteName.codebooks: (_codebooks, _show_codebooks),
    SuiteName.compressors: (_compressors, _show_compressors),
    SuiteName.core: (_core, _show_core),
    SuiteName.frames: (_frames, _show_frames),
    SuiteName.meshes: (_meshes, _show_meshes),
    SuiteName.pixels: (_pixels, _show_pixels),
    SuiteName.points: (_points, _show_points),
    SuiteName.questions: (_questions, _show_questions),
    SuiteName.reading: (_reading, _show_answers),
    SuiteName.residency: (_residency, _show_residency),
    SuiteName.reducers: (_reducers, _show_reducers),
    SuiteName.seeing: (_seeing, _show_answers),
    SuiteName.settings: (_settings, _show_settings),
    SuiteName.splits: (_splits, _show_splits),
    SuiteName.tokens: (_tokens, _show_tokens),
    SuiteName.trained: (_trained, _show_trained),
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
    run.__doc__ = _SUITES[name][0].__doc__
    return run


evaluate = typer.Typer(no_args_is_help=True, help=run_suite.__doc__)
for _name in SuiteName:
    evaluate.command(_name.value)(_suite(_name))
evaluate.command("encoder")(encoder)
evaluate.command("vqa")(verdict)
