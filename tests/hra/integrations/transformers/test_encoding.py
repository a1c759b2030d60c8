from __future__ import annotations

from functools import wraps
from typing import Any

import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError
from hra.integrations.transformers.encoding import Encoded
from tests.helpers.layouts_cases import (
    ANYRES,
    batch,
    made,
    reduced,
)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", ANYRES)
def test_a_break_stays_with_its_row_and_goes_with_it(name: str) -> None:
    inputs = batch(name, [(400, 300)], 0)
    layout = Encoded.of(made(name), inputs).layout
    small = reduced(name, inputs, 9)
    counts = small.encoded.counts([one.slots for one in small.chosen])
    assert len(layout.breaks) == layout.grids[1][0]
    for feature, number, row in layout.breaks:
        columns = layout.grids[number][1]
        assert bool(counts[feature]) == bool((small.chosen[number].slots // columns == row).any())


@pytest.mark.parametrize("name", ANYRES)
def test_features_that_are_breaks_are_the_model_s_own(name: str) -> None:
    inputs = batch(name, [(400, 300), (50, 50), (90, 800)], 1)
    encoded = Encoded.of(made(name), inputs)
    line = made(name).base_model.image_newline
    found = {int(i) for i in torch.nonzero((encoded.levels[0] == line).all(dim=1))[:, 0]}
    assert found == {feature for feature, _, _ in encoded.layout.breaks} != set()
    assert sorted(torch.cat(encoded.layout.places).tolist() + sorted(found)) == list(range(len(encoded.levels[0])))


def test_pictures_are_what_the_grids_show() -> None:
    inputs = batch("llava_next", [(400, 300)], 0)
    small = reduced(
        "llava_next", inputs, 60, allocator=tokens.PyramidSampling(tokens.UniformRelevance()), realize="pool"
    )
    assert small.counts[0] + small.counts[1] == 60 and min(small.counts) > 0
    check = Encoded.of(made("llava_next"), inputs).layout
    rows, columns = check.grids[1]
    assert abs(rows / columns - 400 / 300) < 0.2  # without the padding of the tiles


def test_tiles_without_line_breaks_do_not_tell_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    base, inputs = made("llava_next").base_model, batch("llava_next", [(400, 300)], 0)
    pack = base.pack_image_features

    @wraps(pack)
    def without(*given: Any, image_newline: Any = None, **options: Any) -> Any:
        return pack(*given, image_newline=None, **options)

    monkeypatch.setattr(base, "pack_image_features", without)
    with pytest.raises(ArrayError, match="without line breaks"):
        Encoded.of(made("llava_next"), inputs)
