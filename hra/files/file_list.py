"""The files of a folder that a job works on, in an order that does not depend on the disk."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hra.caching import cached_property
from hra.errors import FileError, HraWarning, warn
from hra.files.local_files import local_path


@dataclass(frozen=True)
class FileList:
    """All files of some kinds below a folder, in the order of their names.

    Attributes
    ----------
    root : the folder; names : of the files, relative to it.
    states : of each its bytes, and when it was changed in nanoseconds.
    others : how many files there are of each other suffix, in small letters.
    """

    root: Path
    names: tuple[str, ...]
    states: tuple[tuple[int, int], ...]
    others: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, root: str | os.PathLike[str], suffixes: frozenset[str]) -> FileList:
        """The files with these ``suffixes``, which are written in small letters; case does not count in names.

        Raises
        ------
        FileError : no such folder, one that cannot be read, or no such file in it.

        Warns
        -----
        HraWarning : links to folders, which are not followed.
        """
        top = local_path(root)
        others: Counter[str] = Counter()
        found = sorted(_files(top, suffixes, others))
        if not found:
            what = "there is no file for it in the folder" if top.is_dir() else "the folder does not exist"
            raise FileError(what, where=str(top)[:500], fix=f"use files that end in {', '.join(sorted(suffixes))}")
        names, states = zip(*found, strict=True)
        return cls(top, names, states, dict(sorted(others.items())))

    @cached_property
    def facts(self) -> dict[str, int | str]:
        """What a job goes on with: the number of files, and SHA-256 of all names, sizes and times.

        Contents are not read: a job that goes on would read all of them again, those that are done as well.
        """
        known = hashlib.sha256()
        for name, (size, changed) in zip(self.names, self.states, strict=True):
            known.update(os.fsencode(name) + f"\0{size} {changed}\0".encode())
        return {"files": len(self.names), "names, sizes and times of files": known.hexdigest()}

    def shard(self, number: int, size: int) -> list[str]:
        """The names of shard ``number`` of ``size`` files each."""
        return list(self.names[number * size : (number + 1) * size])

    def sample(self, count: int) -> list[str]:
        """At most ``count`` names at even distances."""
        step = max(len(self.names) / count, 1.0)
        return [self.names[int(k * step)] for k in range(min(count, len(self.names)))]


def _files(root: Path, suffixes: frozenset[str], others: Counter[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    def refuse(error: OSError) -> None:
        raise FileError(f"a folder cannot be read: {error.strerror}", where=str(error.filename)[:500]) from error

    for folder, folders, files in os.walk(root, onerror=refuse if root.is_dir() else None):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        if links:
            what = f"{folder}: links to folders are not followed: {', '.join(sorted(links))[:200]}"
            warn(what, HraWarning)
        for name in files:
            suffix = os.path.splitext(name)[1].lower()
            if suffix not in suffixes:
                others[suffix] += 1
            else:
                path = Path(folder, name)
                yield path.relative_to(root).as_posix(), _state(path)


def _state(path: Path) -> tuple[int, int]:
    """Its bytes and when it was changed; zeros for a link that leads nowhere, which is reported to whoever reads it."""
    try:
        known = path.stat()
    except OSError:
        return 0, 0
    return known.st_size, known.st_mtime_ns
