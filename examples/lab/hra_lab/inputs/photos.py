"""Photos that packages carry, which are no part of the repository, and the halves that they fall into.

The Debian packages gcompris-qt-data, opencv-doc and mate-backgrounds are unpacked in a folder; scikit-image and
scikit-learn are the installed ones. ``photo_boxes.json`` lists them.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from hra.errors import ImageError
from hra.files.local_files import read_regular

HALVES = ("development", "test")
_PICTURE = re.compile(rb"RIFF(....)WEBP", re.DOTALL)
_SMALLEST = 12_000  # bytes of a picture in a resource file that is counted


def listed() -> list[dict[str, Any]]:
    """Every photo: package, file, boxes of its subjects (shares of width and height), and a question where one is."""
    return json.loads(Path(__file__).with_name("photo_boxes.json").read_text())


def half_of(file: str) -> str:
    """The half of a photo, by a hash of its name."""
    return HALVES[1 if int(hashlib.sha256(file.encode()).hexdigest()[:8], 16) % 2 else 0]


def photo(folder: Path | None, package: str, file: str) -> Image.Image:
    """A photo of a package; ``name.rcc#3`` is the third of at least 12 kB in a Qt resource file.

    Raises
    ------
    FileNotFoundError : the package is not there, or has no such file. ImageError : the file is damaged.
    """
    name, _, number = file.partition("#")
    module = {"scikit-image": "skimage", "scikit-learn": "sklearn"}.get(package)
    spec = find_spec(module) if module else None
    root = Path(str(spec.origin)).parent if spec else None if module or folder is None else folder / package
    found = next((one for one in root.rglob(name) if one.is_file() and not one.is_symlink()), None) if root else None
    if found is None:
        raise FileNotFoundError(f"{name} of {package} is not below {root or 'a folder of packages'}")
    content = read_regular(found)
    try:
        if number:
            starts = [(one.start(), int.from_bytes(one[1], "little") + 8) for one in _PICTURE.finditer(content)]
            start, size = [one for one in starts if one[1] > _SMALLEST][int(number)]
            content = content[start : start + size]
        picture = Image.open(io.BytesIO(content))
        picture.load()
    except (OSError, IndexError, SyntaxError) as error:  # SyntaxError is what Pillow says of broken PNG
        what = f"{file} of {package} cannot be read: {error}"
        raise ImageError(what, where=str(found), fix="unpack the package again") from error
    return picture


def middle_square(picture: Image.Image, side: int) -> np.ndarray:
    """The middle square of a photo made ``side`` pixels small, float32 [side, side, 3] in [0, 1]."""
    width, height = picture.size
    cut = min(width, height)
    left, top = (width - cut) // 2, (height - cut) // 2
    box = (left, top, left + cut, top + cut)
    small = picture.convert("RGB").resize((side, side), Image.Resampling.LANCZOS, box=box)
    return np.asarray(small, np.float32) / 255
