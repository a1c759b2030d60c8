"""What a codebook of tokens loses, by size and by level of detail, on pictures that it was not learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains import tokens
from hra_lab.bootstrap import difference
from hra_lab.evaluation.token_methods.images import pictures
from hra_lab.templates import template

_PATCH = 8
_EXAMPLES = 10
_OF_LEVELS = (8192, 4096, 1024)  # codes of each level, from fine to coarse


_PAGE = template(__package__, "codebooks.page.txt")
"""Placeholders are filled in by `page`."""


@dataclass(frozen=True)
class CodebookSizes:
    """How much of the evaluation to run: crops of each sample and their side in pixels, codes.

    Attributes
    ----------
    judged : patches of each picture that are coded, drawn by a seed.
    """

    crops: int = 6
    side: int = 1024
    codes: tuple[int, ...] = (64, 256, 1024, 4096, 16_384, 65_536)
    judged: int = 1000


FULL = CodebookSizes()
# Shows that everything runs.
SMALL = CodebookSizes(crops=2, side=96, codes=(16, 32), judged=50)
_ADAPTED = 4096  # codes, of more of which the nearest pairs are not looked for


def run(sizes: CodebookSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: signal by noise in dB of seen and unseen photos, for one codebook of each size and one of each level.

    Raises
    ------
    MissingExtra : scikit-learn or scikit-image is not installed.
    """
    chosen = [picture.image for picture in pictures(sizes.crops, sizes.side) if picture.kind == "photos"]
    rows: list[dict[str, Any]] = []
    seen = []
    for level, size in enumerate(_OF_LEVELS):
        learned, others = ([_patches(image, level) for image in part] for part in (chosen[::2], chosen[1::2]))
        every = np.concatenate(learned)
        seen.append(len(every))
        # As many codes as the patches of a level allow, four for each.
        asked = {"": sizes.codes} if level == 0 else {}
        for name, codes in {**asked, f"level {level}": (min(size, len(every) // 4),)}.items():
            for count in codes:
                if count <= len(every):
                    progress(f"{name or 'one size'}: {count} codes")
                    rows.append(_row(name, every, learned, others, count, sizes.judged))
    return {"rows": rows, "seen": seen, "pictures": len(chosen) // 2}


def table(record: dict[str, Any]) -> str:
    """One line per codebook; of one size beside the size before it."""
    lines = [
        "| codebook | codes | dB, seen | dB, unseen | gained | dB, adapted | codes used | bytes of 273 | as pixels |"
    ]
    lines.append("| --- |" + " ---: |" * 8)
    before: dict[str, Any] | None = None
    for row in record["rows"]:
        gained = ""
        if before is not None and not row["name"] and not before["name"]:
            found = difference(row["unseen"], before["unseen"])
            gained = f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
        adapted = "-" if row["adapted"] is None else f"{np.mean(row['adapted']):.2f}"
        cells = [f"{row['codes']:,}", *(f"{np.mean(row[name]):.2f}" for name in ("seen", "unseen")), gained, adapted]
        cells += [f"{row['used']:,}", str(row["bytes"]), f"{row['raw']:,}"]
        lines.append(f"| {row['name'] or 'one size'} | {' | '.join(cells)} |")
        before = row
    return "\n".join(lines)


def page(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    seen = ", ".join(f"{count:,}" for count in record["seen"])
    return {"codebooks.md": _PAGE.substitute(table=table(record), seen=seen, pictures=record["pictures"]).encode()}


def _patches(image: np.ndarray, level: int) -> np.ndarray:
    pyramid = tokens.PatchPyramid.build(image, patch=_PATCH, levels=len(_OF_LEVELS))
    return pyramid.values(pyramid.positions[pyramid.positions[:, 0] == level])


def _row(
    name: str, every: np.ndarray, seen: list[np.ndarray], unseen: list[np.ndarray], size: int, judged: int
) -> dict[str, Any]:
    """DB of each picture, from some of its patches."""
    book, random = tokens.Codebook.fit(every, size), np.random.default_rng(0)
    seen, unseen = ([part[random.permutation(len(part))[:judged]] for part in group] for group in (seen, unseen))
    others = np.concatenate(unseen)
    examples = others[random.permutation(len(others))[:_EXAMPLES]]
    adapted = book.adapted(examples) if size <= _ADAPTED else None
    return {
        "name": name,
        "codes": len(book.codes),
        "seen": [_signal(book, part) for part in seen],
        "unseen": [_signal(book, part) for part in unseen],
        "adapted": None if adapted is None else [_signal(adapted, part) for part in unseen],
        "used": len(np.unique(book.encode(others))),
        "bytes": book.bytes_for(273),
        "raw": 273 * others.shape[1],
    }


def _signal(book: tokens.Codebook, values: np.ndarray) -> float:
    """PSNR of the pixels, dB."""
    return float(-10 * np.log10(max(np.mean((book.decode(book.encode(values)) - values) ** 2), 1e-10)))
