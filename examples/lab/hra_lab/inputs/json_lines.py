"""Files of JSON lines with questions to images: their objects, texts and boxes, or an error that names the line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hra.errors import HraError, needs
from hra.files.images.opening import FORMATS, as_image_error, header_orientation
from hra.files.json_text import parse_object
from hra.files.local_files import open_regular, read_regular
from hra.model.arrays import is_number

Box = tuple[int, int, int, int]


def objects(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The object of each line that is not empty, and the words for where it stands.

    Raises
    ------
    FileError : no file, or a line that is no JSON object in UTF-8.
    HraError : no line at all.
    """
    # Not `splitlines`, which also ends lines at separators that JSON allows inside of texts.
    lines = [(number, line) for number, line in enumerate(read_regular(file).split(b"\n"), 1) if line.strip()]
    if not lines:
        raise HraError("a file without questions", where=file.name, fix="write one JSON object a line")
    for number, line in lines:
        where = f"{file.name}, line {number}"
        yield parse_object(line, "line", where), where


def field(row: Mapping[str, Any], key: str, where: str) -> Any:
    """What stands under a key.

    Raises
    ------
    HraError : nothing.
    """
    if key not in row:
        raise HraError(
            f"the line has no {key!r}", where=where, fix=f"add {key!r}; it has {', '.join(row) or 'nothing'}"
        )
    return row[key]


def text(name: str, value: Any, where: str) -> str:
    """A text that is not empty.

    Raises
    ------
    HraError : a number, whose digits JSON does not keep, another thing, or nothing but space.
    """
    if not isinstance(value, str) or not value.strip():
        what = f"{name} must be a text that is not empty, got {value!r:.60}"
        raise HraError(what, where=where, fix=f'write "{name}": "..", numbers in quotes, too')
    return value


def boxes(value: Any, image: Path, where: str) -> tuple[Box, ...]:
    """Boxes [x0, y0, x1, y1] as the whole pixels of an upright image that they touch, end excluded.

    Raises
    ------
    HraError : not a list of four numbers each; a box that is empty, or reaches out of the image.
    ImageError : no image.
    """
    if not isinstance(value, list) or not all(isinstance(box, list) and len(box) == 4 for box in value):
        raise HraError(f"boxes is {value!r:.60}", where=where, fix="write a list of boxes: [[x0, y0, x1, y1]]")
    width, height = upright_size(image)
    found = []
    for box in value:
        if not all(map(is_number, box)):
            raise HraError(f"the box {box!r:.60} is not of four numbers", where=where, fix="write [x0, y0, x1, y1]")
        x0, y0, x1, y1 = box
        if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
            what = f"the box {box!r:.60} is empty, or not within {image.name}, which has {width} x {height} pixels"
            fix = "write [x0, y0, x1, y1] in pixels of the image as it is shown, x0 < x1 and y0 < y1"
            raise HraError(what, where=where, fix=fix)
        found.append((math.floor(x0), math.floor(y0), math.ceil(x1), math.ceil(y1)))
    return tuple(found)


def upright_size(image: Path) -> tuple[int, int]:
    """Width and height of an image file as it is shown, from its header.

    Raises
    ------
    FileError, ImageError : no file, or no image of a known format.
    MissingExtra : Pillow is not installed.
    """
    with needs("pillow", "tokens"):
        from PIL import Image
    with open_regular(image) as stream, as_image_error(image):
        turned = (header_orientation(stream)[0] or 1) >= 5
        stream.seek(0)
        width, height = Image.open(stream, formats=FORMATS).size
    return (height, width) if turned else (width, height)
