"""Which keys occur in several chunks, for more keys than fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Bytes for each key while some are sorted.
_KEY_BYTES = 48


def shared_keys(files: Sequence[Path], memory: int) -> np.ndarray:
    """The keys that stand in more than one of the ``files``.

    Parameters
    ----------
    files : .npy files of rising different uint64.
    memory : bytes that sorting may take at a time; what is shared takes its own.

    Returns
    -------
    uint64 [n], rising.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from hra.kernels.chunking import shared_keys
    >>> with tempfile.TemporaryDirectory() as name:
    ...     files = [pathlib.Path(name, f"{k}.npy") for k in range(2)]
    ...     for file, keys in zip(files, ([1, 5, 7], [2, 5, 9])):
    ...         np.save(file, np.array(keys, np.uint64))
    ...     shared_keys(files, 2**20).tolist()
    [5]
    """
    highest = max((int(keys[-1]) for keys in map(_keys, files) if len(keys)), default=0)
    total = sum(len(_keys(file)) for file in files)
    passes = -(-total * _KEY_BYTES // memory) or 1
    limits = [highest * number // passes for number in range(1, passes)] + [highest]
    found, begins = [], [0] * len(files)
    for limit in limits:
        parts = []
        for number, file in enumerate(files):
            keys = _keys(file)
            end = int(np.searchsorted(keys, np.uint64(limit), "right"))
            parts.append(np.array(keys[begins[number] : end]))
            begins[number] = end
        keys = np.sort(np.concatenate(parts)) if parts else np.empty(0, np.uint64)
        found.append(np.unique(keys[1:][keys[1:] == keys[:-1]]))
    return np.concatenate(found)


def _keys(file: Path) -> np.ndarray:
    return np.load(file, mmap_mode="r", allow_pickle=False)
