"""A camera looks at a page: perspective, uneven light, blur, noise and compression."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np

from hra_lab.inputs.documents.document import Document
from hra_lab.inputs.documents.fields import Random

_DESK = 0.35


def photograph(document: Document, random: Random) -> Document:
    """The page on a desk, seen from a little aside by a hand-held camera; answers move with it."""
    height, width = document.image.shape[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
    seen = corners * 0.94 + np.array([width, height]) * 0.03
    seen += random.uniform(-0.025, 0.025, (4, 2)) * min(width, height)
    matrix = _homography(corners, seen)
    image = _develop(_project(document.image, matrix), random)
    fields = tuple(replace(field, quad=_move(field.quad, matrix)) for field in document.fields)
    quads = tuple(_move(quad, matrix) for quad in document.quads)
    return Document(f"photo of {document.name}", image, fields, document.texts, quads, photographed=True)


def scan(document: Document, random: Random) -> Document:
    """The page with the grain of paper and scanner."""
    noise = random.normal(0, 0.012, document.image.shape[:2])[..., None]
    image = np.clip(document.image + noise, 0, 1).astype(np.float32)
    return replace(document, image=image)


def _homography(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The projective map [3, 3] that takes four points to four others (direct linear transform)."""
    rows = []
    for (x, y), (u, v) in zip(start, end, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    solved = np.linalg.solve(np.array(rows), end.ravel())
    return np.append(solved, 1).reshape(3, 3)


def _move(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    homogeneous = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return homogeneous[:, :2] / homogeneous[:, 2:]


def _project(image: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The page on a grey desk, resampled bicubically."""
    from PIL import Image

    picture = Image.fromarray(np.round(255 * image).astype(np.uint8))
    inverse = np.linalg.inv(matrix)
    desk = (round(255 * _DESK),) * 3
    coefficients = tuple((inverse / inverse[2, 2]).ravel()[:8])
    seen = picture.transform(
        picture.size, Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC, fillcolor=desk
    )
    return np.asarray(seen, np.float32) / 255


def _develop(image: np.ndarray, random: Random) -> np.ndarray:
    """Light that falls off to a side, the lens' blur, noise by brightness, and JPEG."""
    from PIL import Image, ImageFilter

    height, width = image.shape[:2]
    y, x = np.mgrid[:height, :width] / max(height, width)
    angle = random.uniform(0, 2 * np.pi)
    light = 1 - 0.3 * np.clip(np.cos(angle) * x + np.sin(angle) * y, 0, 1)
    lit = image * (light[..., None] * np.array([1.0, 0.97, 0.92]))
    noisy = lit + random.normal(0, 1, image.shape) * (0.008 + 0.012 * lit)
    picture = Image.fromarray(np.round(255 * np.clip(noisy, 0, 1)).astype(np.uint8))
    buffer = io.BytesIO()
    blurred = picture.filter(ImageFilter.GaussianBlur(random.uniform(0.4, 0.9)))
    blurred.save(buffer, "JPEG", quality=int(random.integers(70, 92)))
    return np.asarray(Image.open(buffer), np.float32) / 255
