"""Every way on every photo, beside the full run: scores, costs, the page, and what they allow to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.errors import HraError
from hra_lab.bootstrap import difference, mean_of
from hra_lab.evaluation.encoder.adapter import trained
from hra_lab.evaluation.encoder.compressing import SAID
from hra_lab.evaluation.encoder.compressing import rows as compressed
from hra_lab.evaluation.encoder.reading import CELLS
from hra_lab.evaluation.encoder.vit import VisionTransformer, whole
from hra_lab.evaluation.encoder.ways import Encoded, Row, downsampled, pyramid, rows, saccades, together
from hra_lab.inputs.photos import HALVES
from hra_lab.templates import template

_PAGE = template(__package__, "encoder.page.txt")
MEASURES = ("correlation", "beyond the mean", "cosine", "one token per cell")
Photo = tuple[str, str, np.ndarray]
"""Name, half, and the image float32 [side, side, 3] in [0, 1]."""


def run(vit: VisionTransformer, photos: list[Photo], steps: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: scores of every photo by half and measure, tokens, token-layers and operations.

    Raises
    ------
    HraError : a half without a photo.
    """
    by_half = {half: [image for _, where, image in photos if where == half] for half in HALVES}
    if not all(by_half.values()):
        raise HraError(
            "a half has no photo", where="PHOTOS", fix="unpack the packages of hra_lab/inputs/photos.py there"
        )
    with torch.no_grad():
        seen = by_half["development"]
        every = (*rows(len(vit.blocks)), *_adapted(vit, seen, steps, progress), *compressed(vit, seen, steps, progress))
        full = [whole(vit, image) for _, _, image in photos]
        mean = torch.cat([out for out, (_, half, _) in zip(full, photos, strict=True) if half == "development"]).mean(0)
        found = [_row(vit, row, photos, full, mean, progress) for row in every]
    length = CELLS**2 + 1
    layers = [length] * len(vit.blocks)
    cost = {"token_layers": sum(layers), "gflops": vit.flops(layers, CELLS**2) / 1e9}
    return {"rows": found, "full": cost, "counts": {half: len(of) for half, of in by_half.items()}, "steps": steps}


def _adapted(
    vit: VisionTransformer, images: list[np.ndarray], steps: int, progress: Callable[[str], None]
) -> list[Row]:
    choices = {
        "down-sampling, 8 x 8": partial(downsampled, 8),
        "pyramid": pyramid,
        "base of 7 x 7 and 15 crops": partial(saccades, 7),
    }
    found = []
    for name, choose in choices.items():
        progress(f"adapter for {name}")
        placed = trained(vit, choose, images, steps)
        group = "trained" if name.startswith("down") else "d"
        found.append(Row(group, f"{name}, adapter", partial(together, choose, placed=placed)))
    return found


def _row(
    vit: VisionTransformer,
    row: Row,
    photos: list[Photo],
    full: list[Tensor],
    mean: Tensor,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    progress(row.name)
    scores: dict[str, dict[str, list[float]]] = {half: {name: [] for name in MEASURES} for half in HALVES}
    layers, operations, kept = 0, 0.0, 0
    for (_, half, image), expected in zip(photos, full, strict=True):
        made = row.way(vit, image)
        blended, owned = _told(vit, made)
        values = (
            _correlation(blended, expected), _correlation(blended - mean, expected - mean),
            float(torch.cosine_similarity(blended, expected, dim=1).mean()), _correlation(owned, expected),
        )  # fmt: skip
        for name, value in zip(MEASURES, values, strict=True):
            scores[half][name].append(value)
        layers = max(layers, sum(made.lengths))
        operations = max(operations, vit.flops(made.lengths, made.embedded) - made.saved)
        kept = max(kept, len(made.hidden))
    return {"group": row.group, "way": row.name, "tokens": kept, "token_layers": layers,
            "gflops": operations / 1e9, **scores}  # fmt: skip


def _told(vit: VisionTransformer, made: Encoded) -> tuple[Tensor, Tensor]:
    """What tokens tell of every cell, smoothed and one token per cell, [256, d] each."""
    if made.told is not None:
        return made.told, made.told
    out = vit.output(made.hidden)
    return torch.from_numpy(made.reading.blended) @ out, torch.from_numpy(made.reading.owner) @ out


def _correlation(values: Tensor, others: Tensor) -> float:
    return float(np.corrcoef(values.numpy().ravel(), others.numpy().ravel())[0, 1])


def verdict(record: Mapping[str, Any]) -> str:
    """Whether one of (a) to (d) keeps more of the output than down-sampling at equal cost.

    The best of each is chosen by the development half and judged by the test half: the interval of what was chosen for
    the same scores would begin too high.
    """
    first, best = record["rows"][0], {}
    adapted = next(row for row in record["rows"] if row["group"] == "trained")
    for group in "abcd":
        beside = adapted if group == "d" else first
        equal = [
            row
            for row in record["rows"]
            if row["group"] == group and row["token_layers"] <= 1.01 * first["token_layers"]
        ]
        top = max(equal, key=lambda row: float(np.mean(row["development"]["correlation"])))
        best[group] = (top, difference(top["test"]["correlation"], beside["test"]["correlation"]))
    won = [group for group, (_, more) in best.items() if more.low > 0]
    told = "; ".join(
        f"({group}) {row['way']} {more.value:+.3f} ({more.low:+.3f} to {more.high:+.3f})"
        for group, (row, more) in best.items()
    )
    says = f"({', '.join(won)}) keeps" if won else "None of (a) to (d) keeps"
    return (
        f"**{says} more of the encoder's output than down-sampling at equal cost.** The best of each on the "
        f"development half, its correlation on the test half less that of down-sampling (for (d): of down-sampling "
        f"with an adapter of its own): {told}."
    )


def compression(record: Mapping[str, Any]) -> str:
    """What training a compressor of the encoder's output brought on the test half."""
    found = {row["way"]: row["test"]["correlation"] for row in record["rows"]}
    pairs = [(name, difference(found[name], found[other])) for name, other in SAID]
    told = "; ".join(f"{name} {more.value:+.4f} ({more.low:+.4f} to {more.high:+.4f})" for name, more in pairs)
    return f"Correlation less that of means told in the same way: {told}."


def table(record: Mapping[str, Any]) -> str:
    """One line for each way."""
    first = record["rows"][0]["test"]["correlation"]
    columns = ("tokens", "token-layers", "GFLOP", "correlation", "less down-sampling", *MEASURES[1:], "development")
    lines = [f"| asked | way | {' | '.join(columns)} |", "| --- | --- |" + " ---: |" * 9]
    for row in record["rows"]:
        test, mine = row["test"], mean_of(row["test"]["correlation"])
        more = difference(test["correlation"], first)
        rest = [f"{np.mean(test[name]):.3f}" for name in MEASURES[1:]] + [
            f"{np.mean(row['development']['correlation']):.3f}"
        ]
        lead = "" if row is record["rows"][0] else f"{more.value:+.3f} ({more.low:+.3f} to {more.high:+.3f})"
        told = f"{mine.value:.3f} ({mine.low:.3f} to {mine.high:.3f})"
        cost = (str(row["tokens"]), f"{row['token_layers']:,}", f"{row['gflops']:.2f}")
        cells = [row["group"], row["way"], *cost, told, lead, *rest]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page(record: Mapping[str, Any]) -> str:
    """The page."""
    agreed = record.get("agreement")
    agreement = (
        "was not compared to ONNX Runtime"
        if agreed is None
        else f"differs from ONNX Runtime by {agreed:.1e} of its largest value, at most"
    )
    full = record["full"]
    return _PAGE.substitute(
        table=table(record), verdict=verdict(record), compression=compression(record), agreement=agreement,
        steps=record["steps"], layers=f"{full['token_layers']:,}", gflops=f"{full['gflops']:.2f}", **record["counts"],
    ).rstrip() + "\n"  # fmt: skip
