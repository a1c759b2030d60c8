"""Whether OCR reads answers from the tokens alone, on images and questions that anybody brings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.reader import read_lines
from hra.errors import BudgetTooSmall
from hra_lab.evaluation.questions.reading import DOWN, FULL, ORACLE, PARAPHRASED, PHRASE, one_core
from hra_lab.inputs.gold import Gold
from hra_lab.vqa.scores import anls

BUDGETS = (16, 64, 137, 273)
EVEN, GRID = "even pyramid, no question", "grid, phrase"
_MARGIN = 3  # pixels around the answer that the judge sees
_BINS = 5
_TIED = 0.98


def gold_rows(asked: Sequence[Gold], progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """One row per question, method and budget: ANLS of what is read where the answer stands, best of its places.

    Parameters
    ----------
    asked : the questions.
    progress : is told what is being worked on.

    Raises
    ------
    MissingExtra : RapidOCR is not installed.
    """
    base: tokens.TokenContext | None = None
    allocator, before = tokens.PyramidSampling(), None
    for number, gold in enumerate(asked):
        progress(f"{number + 1} of {len(asked)}: {gold.name}")
        if base is None or gold.file != before:
            base, before = allocator.context(gold.image(), gold.question), gold.file
        with one_core():
            about = {"number": number, "set": gold.group, "image": gold.name, "question": gold.question}
            yield from ({**about, **row} for row in _question(gold, base))


def _question(gold: Gold, base: tokens.TokenContext) -> Iterator[dict[str, Any]]:
    yield {"method": FULL, "budget": None, "score": _score(base.image, gold)}
    pyramid = tokens.PyramidSampling()
    methods: list[tuple[str, Any, str | None, tokens.Relevance]] = [
        (ORACLE, pyramid, gold.question, tokens.OracleRelevance(gold.boxes[:1])),
        (PHRASE, pyramid, gold.question, tokens.PhraseRelevance(read=True)),
        (PARAPHRASED, pyramid, gold.paraphrase, tokens.PhraseRelevance(read=True)),
        (EVEN, pyramid, "", tokens.UniformRelevance()),
        (GRID, tokens.GridTopK(), gold.question, tokens.PhraseRelevance(read=True)),
    ]
    for method, allocator, query, relevance in methods:
        if query is None:
            continue
        context = replace(base, query=query, scorer=relevance)
        started = time.process_time()
        scores = context.relevance
        found = {"seconds": time.process_time() - started, "counts": dict(context.counts)}
        if method in (PHRASE, PARAPHRASED):
            served = context.served
            found |= {"confidence": served.confidence, "by": served.by, "used": served.used, "hit": _hit(scores, gold)}
        for budget in BUDGETS:
            try:
                shown = allocator.realize(allocator.allocate(context, budget)).reconstruct()
            except BudgetTooSmall:
                continue
            yield {"method": method, "budget": budget, "query": query, "score": _score(shown, gold), **found}
    for budget in BUDGETS:
        yield {"method": DOWN, "budget": budget, "score": _score(tokens.uniform_downsample(base.image, budget), gold)}


def _hit(scores: np.ndarray, gold: Gold, patch: int = 16) -> bool:
    """Whether the most relevant place meets one of the answer's: its patches share one probability, or nearly so."""
    tops = patch * np.argwhere(scores >= _TIED * scores.max())
    return any(
        ((tops[:, 1] < x1) & (tops[:, 1] + patch > x0) & (tops[:, 0] < y1) & (tops[:, 0] + patch > y0)).any()
        for x0, y0, x1, y1 in gold.boxes
    )


def _score(image: np.ndarray, gold: Gold) -> float:
    """ANLS of the text that is read in the best of the answer's places."""
    quads = [
        np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)
        + _MARGIN * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        for x0, y0, x1, y1 in gold.boxes[:4]
    ]
    read = read_lines(image, 1.0, [TextLine(quad) for quad in quads])
    return max(anls(line.text or "", [gold.answer], "paper") for line in read)


def table(rows: Sequence[Mapping[str, Any]], group: str | None = None) -> str:
    """Mean scores as Markdown, one line per method, and of the images themselves; of one set, or of all."""
    mine = [row for row in rows if group in (None, row["set"])]
    methods = [method for method in dict.fromkeys(row["method"] for row in mine) if method != FULL]
    lines = [
        "| chosen by | " + " | ".join(f"{budget}" for budget in BUDGETS) + " |",
        "| --- |" + " ---: |" * len(BUDGETS),
    ]
    for method in methods:
        cells = [mean_score(mine, method, budget) for budget in BUDGETS]
        lines.append(f"| {method} | " + " | ".join("-" if np.isnan(one) else f"{one:.2f}" for one in cells) + " |")
    # Where these are not read, the table says what the judge cannot do, and nothing of tokens.
    return "\n".join([*lines, "", f"The images themselves score {mean_score(mine, FULL, None):.2f}."])


def mean_score(rows: Sequence[Mapping[str, Any]], method: str, budget: int | None) -> float:
    """Mean over the questions; NaN without any."""
    scores = [row["score"] for row in rows if (row["method"], row["budget"]) == (method, budget)]
    return float(np.mean(scores)) if scores else float("nan")


def reliability(rows: Sequence[Mapping[str, Any]]) -> tuple[list[tuple[float, float, int]], float]:
    """Mean confidence, share of right places and count by fifths of confidence; and the expected calibration error.

    Source: C. Guo and others, "On calibration of modern neural networks" (ICML 2017).
    """
    told = [row for row in rows if row["method"] in (PHRASE, PARAPHRASED) and row["budget"] == BUDGETS[1]]
    told = [row for row in told if row["used"]]  # the others name no place
    pairs = np.array([(row["confidence"], row["hit"]) for row in told if row["confidence"] is not None], float)
    pairs = pairs.reshape(-1, 2)
    bins, error = [], 0.0
    places = np.minimum((_BINS * pairs[:, 0]).astype(int), _BINS - 1)
    for place in np.unique(places):
        inside = pairs[places == place]
        sure, right = inside.mean(axis=0)
        bins.append((float(sure), float(right), len(inside)))
        error += abs(sure - right) * len(inside) / len(pairs)
    return bins, float(error)


def low_confidence(rows: Sequence[Mapping[str, Any]], below: float = 0.3) -> str:
    """Where confidence is low: scores of phrase and of the even pyramid on the same questions, as Markdown."""
    told = [row for row in rows if row["method"] == PHRASE and row["confidence"] is not None]
    numbers = {row["number"] for row in told if row["confidence"] < below}
    mine = [row for row in rows if row["number"] in numbers]
    kept = {row["number"] for row in told if row["number"] in numbers and not row["used"]}
    cells = " / ".join(
        f"{mean_score(mine, PHRASE, budget):.2f}, {mean_score(mine, EVEN, budget):.2f}" for budget in BUDGETS
    )
    told_of = f"Confidence below {below:g}: {len(numbers)} questions, {len(kept)} of them as without a question"
    return f"{told_of}; phrase, even pyramid at each budget: {cells}." if numbers else f"{told_of}."


def reliability_picture(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Share of right places by confidence, as SVG. Needs matplotlib."""
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    bins, error = reliability(rows)
    figure = Figure(figsize=(3.6, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle=":")
    said, right, counts = zip(*bins, strict=True) if bins else ((), (), ())
    axes.plot(said, right, color="#0072B2", marker="o", markersize=4, linewidth=1.3)
    for x, y, count in zip(said, right, counts, strict=True):
        axes.annotate(str(count), (x, y), textcoords="offset points", xytext=(5, -10), fontsize=7)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of right places")
    axes.set_title(f"expected calibration error {error:.3f}", fontsize=9)
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "hra", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def summary(rows: Sequence[Mapping[str, Any]], what: str) -> str:
    """The report on a set of questions, as Markdown."""
    groups = list(dict.fromkeys(row["set"] for row in rows))
    seconds = [row["seconds"] for row in rows if row["method"] == PHRASE and row["counts"].get("lines found")]
    first = [row for row in rows if row["method"] == PHRASE and row["budget"] == BUDGETS[0]]
    once = {row["image"]: row["seconds"] for row in reversed(first)}
    bins, error = reliability(rows)
    parts = [f"## {what}: {len({row['number'] for row in rows})} questions\n\n{table(rows)}"]
    parts += [
        f"### {group}: {len({row['number'] for row in rows if row['set'] == group})}\n\n{table(rows, group)}"
        for group in groups
    ]
    if bins:
        diagram = "\n".join(f"| {sure:.2f} | {right:.2f} | {count} |" for sure, right, count in bins)
        heads = "Confidence, share of right places, questions:\n\n| said | right | n |\n| ---: | ---: | ---: |"
        parts.append(f"{heads}\n{diagram}\n")
    calibration = f"Expected calibration error {error:.3f}." if bins else "No question was served with a confidence."
    parts.append(f"{calibration} {low_confidence(rows)}")
    if once and seconds:
        took = list(once.values())
        found, read = (np.mean([row["counts"].get(name, 0) for row in first]) for name in ("lines found", "lines read"))
        parts.append(
            f"Coarse pass: {np.median(took):.2f} s of processor time on the median page, {max(took):.2f} s on the worst"
            f" of {len(took)}, the start of the models included once; {found:.0f} lines found, {read:.0f} read."
        )
    return "\n\n".join(parts) + "\n"
