"""``OUT.parts``: what a long job keeps beside the file that it writes, until that is there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hra.errors import FileError, HraError
from hra.files.atomic_write import is_temporary
from hra.files.job_folder import JOB, open_job
from hra.files.local_files import make_folder


@contextlib.contextmanager
def scratch_folder(target: Path, facts: Mapping[str, Any], *, resumed: bool) -> Iterator[Path]:
    """The folder of the job that writes ``target``; it goes once the block has ended.

    Another process with the same target waits until this one has ended, and then does the work again.

    Parameters
    ----------
    facts : see `open_job`.
    resumed : whether the job goes on with what is in the folder, which then stays after an error.

    Raises
    ------
    FileError : the folder is a link, cannot be made or written, or its job.json is damaged.
    HraError : it holds another job, or something that is not a job at all and would go with it.
    """
    folder = target.with_name(f"{target.name}.parts")
    if folder.is_symlink():
        what, fix = "the folder for unfinished work is a link", "write to another file, or remove the link"
        raise FileError(what, where=str(folder)[:500], fix=fix)
    with _alone_in(folder):
        _refuse_strangers(folder)
        open_job(folder, facts)
        try:
            yield folder
        except BaseException:
            if not resumed:
                _remove(folder)
            raise
        _remove(folder)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    while True:
        handle = _opened(folder)
        try:
            with contextlib.suppress(OSError):  # file systems without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_open(folder, handle):
                yield
                return
        finally:
            os.close(handle)


def _opened(folder: Path) -> int:
    while True:
        make_folder(folder)
        try:
            return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # taken away between the two calls
            continue
        except OSError as error:
            what = f"the folder cannot be read: {error.strerror}"
            raise FileError(what, where=str(folder)[:500], fix="write to another file") from error


def _is_open(folder: Path, handle: int) -> bool:
    """Whether it is the folder that was opened: whoever had it before has taken it away in the end."""
    try:
        return os.path.samestat(folder.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _refuse_strangers(folder: Path) -> None:
    if not (folder / JOB).exists() and not all(is_temporary(name) for name in os.listdir(folder)):
        what, fix = "the folder for unfinished work holds something else", "write to another file, or move the folder"
        raise HraError(what, where=str(folder)[:500], fix=fix)


def _remove(folder: Path) -> None:
    # Under another name at once: a later job would believe what a folder says that is half there. The new name is that
    # of an empty folder made for it, so that nothing of anybody else's can stand there.
    try:
        gone = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError:  # the folder above is read-only by now
        return
    with contextlib.suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
