from __future__ import annotations

import pytest

from hra.domains.tokens import HybridAtlas
from hra.errors import HraError


def test_hybrids_that_make_no_sense_are_refused():
    with pytest.raises(HraError, match="foreground, image"):
        HybridAtlas("colour")  # pyright: ignore[reportArgumentType]
