"""One question of a published data set."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra.errors import HraError

_MOST_BYTES = 2**30


@dataclass(frozen=True)
class Sample:
    """A question, its image and what people answered.

    Attributes
    ----------
    identity : of the question in its data set.
    image : file.
    answers : of people; empty where the split's answers are kept secret.
    """

    identity: str
    image: Path
    question: str
    answers: tuple[str, ...]


def read_json(file: Path, *keys: str) -> Any:
    """A JSON object with these keys.

    Raises
    ------
    HraError : the file is missing, too large, not JSON, or lacks a key.
    """
    if not file.is_file():
        raise HraError("no such file", where=str(file), fix="give the folder that holds the published files")
    if file.stat().st_size > _MOST_BYTES:
        raise HraError(f"larger than {_MOST_BYTES} bytes", where=str(file), fix="split the annotations")
    try:
        content = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HraError(f"not JSON: {error}", where=str(file), fix="fetch the file again") from error
    missing = [key for key in keys if not isinstance(content, dict) or key not in content]
    if missing:
        raise HraError(f"no key {missing[0]!r}", where=str(file), fix="is this the file of this data set?")
    return content


def field(record: Any, key: str, where: str) -> Any:
    """A field of one record.

    Raises
    ------
    HraError : the record has none of that name.
    """
    if not isinstance(record, dict) or key not in record:
        raise HraError(f"a record without {key!r}", where=where, fix="is this the file of this data set?")
    return record[key]


def only(folder: Path, pattern: str) -> Path:
    """The one file of a folder, at any depth, that fits a pattern.

    Raises
    ------
    HraError : none or several fit.
    """
    found = sorted(folder.rglob(pattern)) if folder.is_dir() else []
    if len(found) != 1:
        raise HraError(
            f"{len(found)} files fit {pattern!r}", where=str(folder), fix="keep one copy of the published file there"
        )
    return found[0]


def inside(folder: Path, name: str) -> Path:
    """A file named by annotations, which must not leave its folder.

    Raises
    ------
    HraError : it does.
    """
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise HraError(f"the image {name!r} lies outside of the folder", where=str(folder), fix="mend the annotations")
    return file
