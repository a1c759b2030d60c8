"""Documents by number and seed.

A camera looks at a page: perspective, uneven light, blur, noise and compression.

Invoices and forms on a large page: blocks of labels with values beside or below them, between lines of text.

Till receipts: a head, articles with prices, sums, and a foot; words of the sums occur elsewhere, too.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS, Random, amount
from hra_lab.inputs.documents.letters import letter, paragraph
from hra_lab.inputs.documents.typeset import FONTS, MONOSPACED, Sheet

_DESK = 0.35
_TITLES = ("INVOICE", "Delivery note", "Order form", "Statement of account")
_KINDS = (
    "number",
    "date",
    "customer",
    "address",
    "town",
    "phone",
    "due",
    "account",
    "weight",
    "subtotal",
    "tax",
    "total",
)
_SIZE = (1024, 1440)
_SHOPS = ("CORNER MARKET", "The Green Grocer", "BOOK NOOK", "Cafe Lumen", "HARBOUR HARDWARE", "Petit Bistro")
_ARTICLES = (
    "Apples 1kg", "Brown bread", "Butter 250g", "Cheddar", "Coffee beans", "Eggs x12", "Flour", "Green tea",
    "Honey", "Lemonade", "Milk 1l", "Olive oil", "Pasta", "Rice", "Soap", "Tomatoes", "Wine red", "Yoghurt",
)  # fmt: skip
# Words of labels where no value stands.
_SLOGANS = (
    "Total satisfaction or your money back", "Thank you - bring this receipt to change goods",
    "Save the date: sale on every table", "Tell the cashier about your customer card", "No discount on sales items",
)  # fmt: skip
_HEAD = ("date", "time", "number", "cashier", "table", "phone")
_SUMS = ("subtotal", "tax", "discount", "total", "payment", "change")


def receipt(number: int, random: Random) -> Document:
    """One receipt.

    Parameters
    ----------
    number : in its name.
    """
    width, size = int(random.integers(600, 821)), int(random.integers(26, 37))
    name = MONOSPACED if random.random() < 0.6 else str(random.choice(FONTS))
    articles, pitch = int(random.integers(5, 14)), size * float(random.uniform(1.3, 1.7))
    head = [kind for kind in _HEAD if random.random() < 0.65] or ["date"]
    sums = [kind for kind in _SUMS if kind == "total" or random.random() < 0.7]
    lines = 9 + len(head) + articles + len(sums)
    sheet = Sheet((width, round(pitch * lines)), name, size, paper=int(random.integers(225, 256)))
    margin = int(random.integers(24, 60))
    y = pitch
    sheet.centred(y, str(random.choice(_SHOPS)), scale=1.2, bold=True)
    y = _slogan(sheet, y + 1.6 * pitch, random)
    fields, y = _rows(sheet, margin, y + pitch, pitch, head, random, spread=random.random() < 0.5)
    sheet.rule(y + pitch / 2, margin)
    y = _articles(sheet, margin, y + pitch, pitch, articles, random)
    sheet.rule(y + pitch / 2, margin)
    more, y = _rows(sheet, margin, y + pitch, pitch, sums, random, spread=True)
    _slogan(sheet, y + pitch, random)
    return Document(f"receipt {number}", sheet.pixels(), (*fields, *more), tuple(sheet.texts), tuple(sheet.quads))


def _articles(sheet: Sheet, margin: int, y: float, pitch: float, count: int, random: Random) -> float:
    for article in random.permutation(_ARTICLES)[:count]:
        sheet.text(margin, y, str(article))
        sheet.right(sheet.width - margin, y, amount(random, 1, 30))
        y += pitch
    return y


def _rows(
    sheet: Sheet, margin: int, y: float, pitch: float, kinds: list[str], random: Random, spread: bool
) -> tuple[list[Field], float]:
    """Label and value in rows, the value at the right edge or behind the label."""
    fields = []
    for kind in kinds:
        label, value = str(random.choice(FIELDS[kind].labels)), FIELDS[kind].value(random)
        printed = label if spread else label.rstrip(".") + ":"
        corners = sheet.text(margin, y, printed, bold=kind == "total")
        if spread:
            quad = sheet.right(sheet.width - margin, y, value, bold=kind == "total")
        else:
            quad = sheet.text(float(corners[1, 0]) + sheet.length("  "), y, value)
        fields.append(Field(kind, label, value, quad))
        y += pitch
    return fields, y


def _slogan(sheet: Sheet, y: float, random: Random) -> float:
    text = str(random.choice(_SLOGANS))
    scale = min(0.8, 0.9 * sheet.width / sheet.length(text))
    return float(np.max(sheet.centred(y, text, scale=scale)[:, 1]))


def form(number: int, random: Random) -> Document:
    """One form of two columns of fields, the values below or beside their labels."""
    size = int(random.integers(22, 29))
    sheet = Sheet(_SIZE, str(random.choice(FONTS)), size, paper=int(random.integers(235, 256)))
    margin, below = int(random.integers(50, 90)), bool(random.random() < 0.5)
    sheet.text(margin, margin, str(random.choice(_TITLES)), scale=1.8, bold=True)
    y = paragraph(sheet, margin, margin + 3.2 * size, lines=3, random=random, scale=0.8)
    kinds = [str(kind) for kind in random.permutation(_KINDS)[: int(random.integers(6, 11))]]
    step = size * float(random.uniform(3.6, 4.6) if below else random.uniform(2.0, 2.8))
    fields, top = [], y + 1.5 * size
    for i, kind in enumerate(kinds):
        x = margin + (i % 2) * (sheet.width - 2 * margin) / 2
        fields.append(_field(sheet, x, top + (i // 2) * step, kind, below, random))
    y = top + -(-len(kinds) // 2) * step + size
    sheet.rule(y, margin)
    paragraph(sheet, margin, y + size, lines=int(random.integers(6, 14)), random=random, scale=0.8)
    return Document(f"form {number}", sheet.pixels(), tuple(fields), tuple(sheet.texts), tuple(sheet.quads))


def _field(sheet: Sheet, x: float, y: float, kind: str, below: bool, random: Random) -> Field:
    label, value = str(random.choice(FIELDS[kind].labels)), FIELDS[kind].value(random)
    if below:
        sheet.text(x, y, label, scale=0.8, ink=70)
        return Field(kind, label, value, sheet.text(x, y + 1.2 * sheet.font_size, value))
    printed = label.rstrip(".") + ":"
    scale = min(1.0, 0.42 * sheet.width / sheet.length(f"{printed}    {value}"))  # columns must not meet
    corners = sheet.text(x, y, printed, scale=scale, bold=True)
    start = float(corners[1, 0]) + sheet.length("  ", scale)
    return Field(kind, label, value, sheet.text(start, y, value, scale=scale))


_LAYOUTS = (receipt, form, receipt, letter)


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


def documents(count: int, seed: int = 0) -> Iterator[Document]:
    """Receipts, forms and letters in turn, every third one photographed, the others scanned.

    Document ``i`` of a seed is the same whatever ``count`` is.

    Raises
    ------
    MissingExtra : Pillow or Matplotlib is not installed.
    """
    for number in range(count):
        random = np.random.default_rng((seed, number))
        page = _LAYOUTS[number % len(_LAYOUTS)](number, random)
        yield (photograph if number % 3 == 2 else scan)(page, random)
