"""Folders that a long job fills piece by piece, and that it goes on with after it was killed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hra.errors import HraError
from hra.files.atomic_write import write_atomically
from hra.files.json_text import parse_object
from hra.files.local_files import make_folder, read_regular

JOB = "job.json"


def open_job(folder: str | os.PathLike[str], facts: Mapping[str, Any], pieces: str = "") -> dict[str, Any]:
    """The facts of the job in ``folder``, which becomes the job of ``facts`` if there is none yet.

    Pieces are written whole (`write_atomically`), so that what is there is done; ``job.json`` says of what.

    Parameters
    ----------
    facts : values of JSON that decide every piece: settings, and what goes in.
    pieces : pattern of the names of pieces, which a folder without ``job.json`` must not hold: it is unknown of what
        they are.

    Raises
    ------
    FileError : the folder cannot be made or written, or its job.json is damaged.
    HraError : it holds another job, or pieces of one that is not known.
    """
    root = make_folder(folder)
    wanted = json.loads(json.dumps(facts))
    known = _read(root / JOB)
    if known is None:
        if pieces and next(root.rglob(pieces), None) is not None:
            what = f"the folder holds results and no {JOB} that says of what"
            raise HraError(what, where=str(root)[:500], fix="use another folder, or remove this one")
        write_atomically(root / JOB, (json.dumps(wanted, indent=2) + "\n").encode())
        return wanted
    other = [name for name in sorted({*known, *wanted}) if known.get(name) != wanted.get(name)]
    if other:
        what = f"the folder holds results of another job: {', '.join(other)} differ"
        raise HraError(what, where=str(root)[:500], fix="use another folder, or remove this one")
    return wanted


def _read(file: Path) -> dict[str, Any] | None:
    if not file.exists():
        return None
    return parse_object(read_regular(file), "job", str(file))
