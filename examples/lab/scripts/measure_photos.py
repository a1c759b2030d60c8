"""Whether relevance without a question moves tokens onto the subject of a photo.

    python examples/lab/scripts/measure_photos.py FOLDER [OUT.json]

Photos come out of packages and are no part of the repository: FOLDER holds the Debian packages gcompris-qt-data,
opencv-doc and mate-backgrounds, unpacked; scikit-image and scikit-learn are the installed ones. The subjects were boxed
by eye (``hra_lab/inputs/photo_boxes.json``, shares of width and height). Of the tokens of a pyramid the share is
counted whose centre lies in a box. A photo is of the development or of the test half by a hash of its name.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy import ndimage

from hra.domains import tokens
from hra.domains.tokens.channels.saliency import centre_surround
from hra_lab.inputs.photos import HALVES, half_of, listed
from hra_lab.inputs.photos import photo as packaged

_BUDGETS = (64, 137)
_SIDE = 768  # pixels of the longer side
_FLOOR = 0.2


def _unit(cue: np.ndarray) -> np.ndarray:
    return cue / max(float(cue.max()), 1e-9)


def spectral_residual(context: tokens.TokenContext) -> np.ndarray:
    """X. Hou and L. Zhang, "Saliency detection: a spectral residual approach" (CVPR 2007), on patch means."""
    spectrum = np.fft.fft2(context.pyramid.patch_means.mean(axis=-1))
    logs = np.log(np.abs(spectrum) + 1e-9)
    residual = logs - ndimage.uniform_filter(logs, 3, mode="wrap")
    power = np.abs(np.fft.ifft2(np.exp(residual + 1j * np.angle(spectrum)))) ** 2
    return _unit(ndimage.gaussian_filter(power, 1.5))


def border_contrast(context: tokens.TokenContext) -> np.ndarray:
    """Distance from the colours of the image's border, which is mostly background.

    Source: Y. Wei and others, "Geodesic saliency using background priors" (ECCV 2012), the prior alone.
    """
    means = np.asarray(context.pyramid.patch_means, np.float64)
    border = np.concatenate([means[0], means[-1], means[:, 0], means[:, -1]])
    distance = np.linalg.norm(means[:, :, None] - border, axis=-1)
    return _unit(ndimage.gaussian_filter(np.percentile(distance, 15, axis=-1), 1.0))


def centre(context: tokens.TokenContext) -> np.ndarray:
    """A bell of the middle: photographers put what they mean there (B. Tatler, Journal of Vision, 2007)."""
    axes = [(np.arange(count) + 0.5) / count - 0.5 for count in context.grid]
    return np.exp(-0.5 * ((axes[0][:, None] / 0.25) ** 2 + (axes[1] / 0.25) ** 2))


def contrast(context: tokens.TokenContext) -> np.ndarray:
    """The centre-surround contrast of `CueRelevance`, alone."""
    return _unit(centre_surround(context.pyramid.patch_means))


_CANDIDATES: Mapping[str, Callable[[tokens.TokenContext], np.ndarray]] = {
    "uniform": lambda context: np.ones(context.grid),
    "CueRelevance": lambda context: tokens.CueRelevance()(context),
    "centre-surround": lambda context: _FLOOR + contrast(context),
    "spectral residual": lambda context: _FLOOR + spectral_residual(context),
    "border contrast": lambda context: _FLOOR + border_contrast(context),
    "centre": lambda context: _FLOOR + centre(context),
    "centre x cues": lambda context: (_FLOOR + centre(context)) * tokens.CueRelevance()(context),
    "centre x centre-surround": lambda context: (_FLOOR + centre(context)) * (_FLOOR + contrast(context)),
    "centre x border contrast": lambda context: (_FLOOR + centre(context)) * (_FLOOR + border_contrast(context)),
}

COLOUR = "CueRelevance, asked for a colour"
# Of the photos whose subject has a colour that a word names.
_ASKED: Mapping[str, Callable[[tokens.TokenContext], np.ndarray]] = {
    "CueRelevance, the same photos, not asked": tokens.CueRelevance(),
    COLOUR: tokens.CueRelevance(),
}


def inside(chosen: tokens.TokenSet, boxes: np.ndarray) -> float:
    """The share of the tokens whose centre lies in a box."""
    x0, y0, x1, y1 = np.asarray(chosen.boxes, float).T
    x, y = (x0 + x1)[:, None] / 2, (y0 + y1)[:, None] / 2
    return float(((x >= boxes[:, 0]) & (x < boxes[:, 2]) & (y >= boxes[:, 1]) & (y < boxes[:, 3])).any(axis=1).mean())


def main(folder: Path, out: Path | None) -> None:
    """Measure, print a table, write the rows."""
    rows = []
    for entry in listed():
        photo = packaged(folder, entry["package"], entry["file"]).convert("RGB")
        photo.thumbnail((_SIDE, _SIDE))
        image = np.asarray(photo, np.float32) / 255
        boxes = np.array(entry["boxes"]) * np.array([photo.width, photo.height] * 2)
        half = half_of(entry["file"])
        base = tokens.TokenContext.of(image)
        question = entry.get("question", "")
        candidates = {**_CANDIDATES, **(_ASKED if question else {})}
        for name, candidate in candidates.items():
            allocator = tokens.PyramidSampling(candidate)
            context = tokens.TokenContext(base.pyramid, question * (name == COLOUR), candidate)
            for budget in _BUDGETS:
                share = inside(allocator.realize(allocator.allocate(context, budget)), boxes)
                rows.append({"file": entry["file"], "half": half, "relevance": name, "budget": budget, "inside": share})
    print("| relevance | " + " | ".join(f"{half}, {budget}" for half in HALVES for budget in _BUDGETS) + " |")
    print("| --- |" + " ---: |" * 4)
    for name in (*_CANDIDATES, *_ASKED):
        cells = [
            np.mean(
                [one["inside"] for one in rows if (one["relevance"], one["half"], one["budget"]) == (name, half, n)]
            )
            for half in HALVES
            for n in _BUDGETS
        ]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
    if out is not None:
        out.write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    chosen = parser.parse_args()
    main(chosen.folder, chosen.out)
