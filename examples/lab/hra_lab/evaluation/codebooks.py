"""What a codebook of tokens loses, by size and by level of detail, on pictures that it was not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np

from hra.domains import tokens
from hra_lab.evaluation.token_methods.images import pictures

_PATCH = 8
_EXAMPLES = 10
_OF_LEVELS = (8192, 4096, 1024)  # codes of each level, from fine to coarse


_PAGE = Template("""# Codebooks of tokens

Written by one command:

    hra eval codebooks --out examples/lab/docs

Patches of 8 x 8 pixels of photos become numbers of the nearest of so many codes (`Codebook`, k-means in batches).
PSNR of the pixels, on patches that the codes were learned from and on those of other crops and photos; *adapted* to
ten patches of the latter; how many of the codes occur there; bytes of 273 tokens as numbers (the codebook itself
aside) and as pixels of 8 bits. Learned from $seen patches of levels 0, 1 and 2; a level gets 8,192, 4,096 or 1,024
codes or, where that is fewer, a quarter of the patches it is learned from.

$table
""")
"""Placeholders are filled in by `page`."""


@dataclass(frozen=True)
class CodebookSizes:
    """How much of the evaluation to run: crops of each sample and their side in pixels, codes."""

    crops: int = 6
    side: int = 256
    codes: tuple[int, ...] = (64, 256, 1024)


FULL = CodebookSizes()
# Shows that everything runs.
SMALL = CodebookSizes(crops=2, side=96, codes=(16, 32))


def run(sizes: CodebookSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: signal by noise in dB of unseen photos, for one codebook of each size and for one of each level.

    Raises
    ------
    MissingExtra : scikit-learn or scikit-image is not installed.
    """
    levels = [_level(sizes, level) for level in range(len(_OF_LEVELS))]
    rows = []
    for size in sizes.codes:
        progress(f"{size} codes")
        rows.append(_row(f"{size}", *levels[0], size))
    for level, size in enumerate(_OF_LEVELS):
        learned, _ = levels[level]
        progress(f"level {level}")
        # As many codes as the patches of a level allow, four for each.
        rows.append(_row(f"level {level}", *levels[level], min(size, len(learned) // 4)))
    return {"rows": rows, "seen": [len(learned) for learned, _ in levels]}


def table(record: dict[str, Any]) -> str:
    """One line per codebook."""
    lines = ["| codebook | codes | dB, seen | dB, unseen | dB, adapted | codes used | bytes of 273 | as pixels |"]
    lines.append("| --- |" + " ---: |" * 7)
    for row in record["rows"]:
        signals = " | ".join(f"{row[name]:.2f}" for name in ("seen", "unseen", "adapted"))
        name = row["name"] if row["name"].startswith("level") else "one size"
        lines.append(f"| {name} | {row['codes']:,} | {signals} | {row['used']:,} | {row['bytes']} | {row['raw']:,} |")
    return "\n".join(lines)


def page(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    text = _PAGE.substitute(table=table(record), seen=", ".join(f"{count:,}" for count in record["seen"]))
    return {"codebooks.md": text.encode()}


def _level(sizes: CodebookSizes, level: int) -> tuple[np.ndarray, np.ndarray]:
    """Patches of one level: those of the photos to learn from, and those of others."""
    chosen = [picture for picture in pictures(sizes.crops, sizes.side) if picture.kind == "photos"]
    found = [_patches(picture.image, level) for picture in chosen]
    return np.concatenate(found[::2]), np.concatenate(found[1::2])


def _patches(image: np.ndarray, level: int) -> np.ndarray:
    pyramid = tokens.PatchPyramid.build(image, patch=_PATCH, levels=len(_OF_LEVELS))
    return pyramid.values(pyramid.positions[pyramid.positions[:, 0] == level])


def _row(name: str, learned: np.ndarray, unseen: np.ndarray, size: int) -> dict[str, Any]:
    book = tokens.Codebook.fit(learned, size)
    examples = unseen[np.random.default_rng(0).permutation(len(unseen))[:_EXAMPLES]]
    kept = dict(zip(("seen", "unseen", "adapted"), _signals(book, learned, unseen, examples), strict=True))
    used = len(np.unique(book.encode(unseen)))
    return {
        "name": name,
        "codes": size,
        **kept,
        "used": used,
        "bytes": book.bytes_for(273),
        "raw": 273 * unseen.shape[1],
    }


def _signals(book: tokens.Codebook, learned: np.ndarray, unseen: np.ndarray, examples: np.ndarray) -> Iterator[float]:
    yield _signal(book, learned)
    yield _signal(book, unseen)
    yield _signal(book.adapted(examples), unseen)


def _signal(book: tokens.Codebook, values: np.ndarray) -> float:
    """PSNR of the pixels, dB."""
    return float(-10 * np.log10(np.mean((book.decode(book.encode(values)) - values) ** 2)))
