"""Where features lie, by what models state: tiles with line breaks, pictures of different sizes, and what is refused.

Each reduced run is compared with the whole run whose dropped placeholders are hidden from attention.
"""

from __future__ import annotations

from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError, BudgetTooSmall, InvalidBudget
from hra.integrations.transformers import Reduced, reduce
from hra.integrations.transformers.encoding import Encoded
from tests.helpers.model_families import PATCH, PINPOINTS, SIDE, family_model
from tests.helpers.tiny_models import IMAGE, PROCESSOR, model_of, prompts

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
CLOSE: Any = {"rtol": 0.0, "atol": 2e-6}
ANYRES, SIZED = ("llava_next", "llava_onevision"), {"pixtral": PATCH, "mistral3": 2 * PATCH}
made = family_model


def batch(name: str, sizes: list[tuple[int, int]], seed: int) -> dict[str, torch.Tensor]:
    """A prompt for each image of (height, width), shorter ones padded on the left, as a processor returns them."""
    generator, model = torch.Generator().manual_seed(seed), made(name)
    if name in ANYRES:
        module = __import__(type(model.base_model).__module__, fromlist=["x"])
        tiles = [module.image_size_to_num_patches(size, PINPOINTS, SIDE) for size in sizes]
        pixels = torch.zeros(len(sizes), max(tiles), 3, SIDE, SIDE)
        for image, count in zip(pixels, tiles, strict=True):
            image[:count] = torch.randn(count, 3, SIDE, SIDE, generator=generator).clamp(-1, 1)
    else:
        pixels = torch.zeros(len(sizes), 3, max(h for h, _ in sizes), max(w for _, w in sizes))
        for image, (height, width) in zip(pixels, sizes, strict=True):
            image[:, :height, :width] = torch.randn(3, height, width, generator=generator).clamp(-1, 1)
    shapes = torch.tensor(sizes)
    output = model.base_model.get_image_features(pixel_values=pixels, image_sizes=shapes, return_dict=True)
    counts = [len(each.reshape(-1, each.shape[-1])) for each in output.pooler_output]
    rows = [[1, 5 + row, *[IMAGE] * count, 7, 8 + row] for row, count in enumerate(counts)]
    longest = max(map(len, rows))
    ids = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "pixel_values": pixels, "image_sizes": shapes}


def reduced(name: str, inputs: Any, budget: Any, **options: Any) -> Reduced:
    options = {"allocator": tokens.Random(), "realize": "select", "processor": PROCESSOR, **options}
    return reduce(made(name), inputs, budget=budget, **options)


def check_masked(name: str, inputs: Any, small: Reduced) -> None:
    """The reduced run's logits are those of the whole run with what is gone hidden."""
    mask = torch.zeros_like(inputs["attention_mask"])
    for row, columns in enumerate(small.columns):
        mask[row, columns[columns >= 0]] = 1
    places = (inputs["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    whole = made(name)(**{**inputs, "attention_mask": mask, "position_ids": places}).logits
    short = made(name)(**small.inputs).logits
    for row, columns in enumerate(small.columns):
        kept = columns >= 0
        torch.testing.assert_close(short[row, kept], whole[row, columns[kept]], **CLOSE)


def sizes_of(seed: int, count: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    return [(int(h), int(w)) for h, w in rng.integers(40, 900, (count, 2))]


@pytest.mark.parametrize("name", ANYRES)
@pytest.mark.parametrize("seed", range(10))
def test_tiles_with_line_breaks_are_one_image_with_one_budget(name: str, seed: int) -> None:
    inputs = batch(name, sizes_of(seed, 3), seed)
    budgets = [7, 12, 20]
    small = reduced(name, inputs, budgets)
    layout = small.encoded.layout
    totals = [sum(small.counts[grid] for grid in grids) for grids in layout.images]
    assert totals == budgets
    kept = (small.prompt["input_ids"] == IMAGE).sum(1)
    assert int(kept.sum()) == sum(small.counts) + sum(small.breaks)
    rows = [len(set((one.slots // grid[1]).tolist())) for one, grid in zip(small.chosen, layout.grids, strict=True)]
    fine = [grids[1] for grids in layout.images if len(grids) > 1]
    assert all(small.breaks[grid] == rows[grid] for grid in fine)
    check_masked(name, inputs, small)


@pytest.mark.parametrize("name", ANYRES)
@pytest.mark.parametrize("budget", [1, 7, 30, 36, 37, 60, 10**6])
def test_copy_and_tiles_are_levels_of_one_tree(name: str, budget: int) -> None:
    inputs = batch(name, [(400, 300), (110, 700)], 4)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance(), patch=14)
    small = reduced(name, inputs, budget, allocator=allocator, realize="pool")
    layout = small.encoded.layout
    for coarse, fine in layout.images:
        cells = len(layout.places[coarse]), len(layout.places[fine])
        one = small.chosen[coarse]
        assert small.counts[coarse] + small.counts[fine] == min(budget, sum(cells))
        assert one.allocation is small.chosen[fine].allocation and one.allocation.status in ("optimal", "certified")
        if budget == 1:
            assert len(vars(one.tokens)["cells"][0]) == cells[0]  # the whole copy as its mean
            whole = small.encoded.levels[0][layout.places[coarse]].mean(0, keepdim=True)
            torch.testing.assert_close(one.levels[0], whole, rtol=0, atol=1e-5)
        owner = {int(slot) for slot in one.slots}  # what is refined is there: patches are below cells of the copy
        (rows, columns), side = layout.grids[fine], layout.grids[coarse]
        for slot in small.chosen[fine].slots:
            y, x = divmod(int(slot), columns)
            assert int((y + 0.5) / rows * side[0]) * side[1] + int((x + 0.5) / columns * side[1]) in owner
    check_all = budget == 10**6
    if check_all:
        real = inputs["attention_mask"].bool()
        torch.testing.assert_close(made(name)(**small.inputs).logits[real], made(name)(**inputs).logits[real], **CLOSE)


@pytest.mark.parametrize("name", ANYRES)
@pytest.mark.parametrize("method", ["divprune", "cdpruner", "tome", "prunevid"])
def test_methods_that_read_features_choose_among_copy_and_tiles(name: str, method: str) -> None:
    inputs = batch(name, [(400, 300)], 6)
    small = reduced(name, inputs, 25, allocator=tokens.REDUCERS[method](), realize="pool")
    assert sum(small.counts) == 25 and small.chosen[0].allocation is small.chosen[1].allocation
    if method == "divprune":
        features = torch.cat([small.encoded.levels[0][places] for places in small.encoded.layout.places])
        one = tokens.REDUCERS[method]()
        context = tokens.TokenContext.of_features(features.numpy(), grid=(len(features), 1))
        cut = one.allocate(context, 25).cut
        first = len(small.encoded.layout.places[0])
        assert cut.tolist() == [*small.chosen[0].slots.tolist(), *(first + small.chosen[1].slots).tolist()]


@pytest.mark.parametrize("name", ANYRES)
def test_where_the_picture_changes_tiles_are_kept(name: str) -> None:
    # The copy shows the left half well: one colour. The right half is a fine pattern.
    inputs = batch(name, [(300, 300)], 5)
    picture = np.full((168, 168, 3), 0.5, np.float32)
    picture[::2, 84::4] = 1.0
    picture[1::2, 86::4] = 0.0
    allocator = tokens.PyramidSampling(tokens.UniformRelevance(), patch=14)
    small = reduced(name, inputs, 60, allocator=allocator, realize="pool", images=[picture, picture])
    columns = small.encoded.grids[1][1]
    # A filter rings for a column.
    assert small.counts[1] > 20 and (small.chosen[1].slots % columns >= columns // 2 - 1).all()


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


@pytest.mark.parametrize("name", [*ANYRES, *SIZED])
@pytest.mark.parametrize("realize", ["select", "pool"])
def test_all_kept_is_the_unmodified_model(name: str, realize: str) -> None:
    sizes = sizes_of(3, 2) if name in ANYRES else [(56, 84), (112, 28)]
    inputs = batch(name, sizes, 2)
    small = reduced(name, inputs, float("inf"), realize=realize)
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(made(name)(**small.inputs).logits[real], made(name)(**inputs).logits[real], **CLOSE)


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("seed", range(5))
def test_pictures_of_different_sizes_have_their_own_grids(name: str, seed: int) -> None:
    side = SIZED[name]
    cells = np.random.default_rng(seed).integers(2, 7, (3, 2))
    inputs = batch(name, [(int(h) * side, int(w) * side) for h, w in cells], seed)
    small = reduced(name, inputs, [3, 4, 2])
    assert small.encoded.grids == tuple((int(h), int(w)) for h, w in cells) and small.counts == (3, 4, 2)
    check_masked(name, inputs, small)


def test_pictures_are_what_the_grids_show() -> None:
    inputs = batch("llava_next", [(400, 300)], 0)
    small = reduced(
        "llava_next", inputs, 60, allocator=tokens.PyramidSampling(tokens.UniformRelevance()), realize="pool"
    )
    assert small.counts[0] + small.counts[1] == 60 and min(small.counts) > 0
    check = Encoded.of(made("llava_next"), inputs).layout
    rows, columns = check.grids[1]
    assert abs(rows / columns - 400 / 300) < 0.2  # without the padding of the tiles


def test_latents_without_places_are_refused() -> None:
    model = family_model("idefics2")
    inputs = {"input_ids": torch.tensor([[1, *[IMAGE] * 16, 5]]), "pixel_values": torch.randn(1, 1, 3, 112, 112)}
    with pytest.raises(ArrayError, match=r"the places of 16 features of 1 pictures are unknown: .*8 x 8"):
        reduce(model, inputs, allocator=tokens.Random(), budget=4, processor=PROCESSOR)


@pytest.mark.parametrize("budget", [0, 2.7, -1, True, float("nan")])
def test_numbers_of_tokens_that_are_none_are_refused(budget: Any) -> None:
    with pytest.raises(InvalidBudget, match="tokens cannot be kept"):
        reduce(model_of("llava"), prompts("llava"), allocator=tokens.Random(), budget=budget, processor=PROCESSOR)


def test_an_image_of_two_grids_needs_a_token_of_each() -> None:
    with pytest.raises(BudgetTooSmall, match="2 grids"):
        reduced("llava_next", batch("llava_next", [(400, 300)], 0), 1)


def test_each_prompt_has_its_own_question() -> None:
    asked: list[str] = []

    class Noting(tokens.UniformRelevance):
        def __call__(self, context: Any) -> np.ndarray:
            asked.append(context.query)
            return super().__call__(context)

    allocator, inputs = tokens.GridTopK(Noting()), prompts("llava", (1, 2))
    reduce(model_of("llava"), inputs, allocator=allocator, budget=4, processor=PROCESSOR, query=["left", "right"])
    assert asked == ["left", "right", "right"]
    with pytest.raises(ArrayError, match="3 questions for 2 prompts"):
        reduce(model_of("llava"), inputs, allocator=allocator, budget=4, processor=PROCESSOR, query=["a", "b", "c"])


def test_attention_of_tiles_is_refused_by_name() -> None:
    with pytest.raises(ArrayError, match="the encoder attends to single tiles"):
        reduced(
            "llava_next",
            batch("llava_next", [(400, 300)], 0),
            9,
            allocator=tokens.REDUCERS["visionzip"](),
            realize="pool",
        )


def test_configurations_without_patches_need_grids() -> None:
    model, inputs = model_of("llava"), prompts("llava", (1,))
    other = SimpleNamespace(**{**vars(model.config.vision_config), "patch_size": None})
    from hra.integrations.transformers.layouts import Layout

    bare = SimpleNamespace(config=SimpleNamespace(vision_config=other), base_model=SimpleNamespace())
    with pytest.raises(ArrayError, match="its configuration states none"):
        Layout.stated(bare, inputs, SimpleNamespace(last_hidden_state=[0]), 64)


def test_tiles_without_line_breaks_do_not_tell_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    base, inputs = made("llava_next").base_model, batch("llava_next", [(400, 300)], 0)
    pack = base.pack_image_features

    @wraps(pack)
    def without(*given: Any, image_newline: Any = None, **options: Any) -> Any:
        return pack(*given, image_newline=None, **options)

    monkeypatch.setattr(base, "pack_image_features", without)
    with pytest.raises(ArrayError, match="without line breaks"):
        Encoded.of(made("llava_next"), inputs)
