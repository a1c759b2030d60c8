"""Archives that hold what was passed, and no pickle."""

from __future__ import annotations

import io

import numpy as np
import pytest

from hra.errors import ArrayError
from hra.files.plain_arrays import save_plain


@pytest.mark.parametrize("compressed", [False, True])
def test_the_archive_has_these_arrays_and_no_others(compressed: bool):
    arrays = {"numbers": np.arange(4.0), "text": np.array("points")}
    save_plain(stream := io.BytesIO(), arrays, compressed=compressed)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as file:
        assert sorted(file.files) == sorted(arrays)
        assert all(np.array_equal(file[name], array) for name, array in arrays.items())


def test_objects_are_refused():
    with pytest.raises(ArrayError, match="objects") as caught:
        save_plain(io.BytesIO(), {"a": np.arange(2), "b": np.array([{}, []], dtype=object)})
    assert caught.value.where == "b"
