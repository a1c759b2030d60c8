"""Videos beside pictures: reduced runs against whole ones with what is gone masked, budgets over time, and rules."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from hra.domains import tokens
from hra.errors import ArrayError, HraError
from hra.integrations.transformers import CostModel, Reduced, next_turn, reduce, shown
from hra.integrations.transformers.cost import patches_of
from hra.integrations.transformers.encoding import Encoded
from hra.integrations.transformers.language_attention import cache_argument
from hra.integrations.transformers.layouts import Layout
from hra.integrations.transformers.prompts import Prompts
from hra.integrations.transformers.signals import Signals, recorded
from tests.helpers.model_families import ernie4_5_vl_moe, video_llama_3
from tests.helpers.model_matrix import LIMIT
from tests.helpers.tiny_models import END, IMAGE, PROCESSOR, START, counted, hf
from tests.helpers.video_models import (
    FRAMES,
    IDS,
    MIXED,
    QWEN,
    STEPS,
    TEXT,
    VIDEO,
    VIDEO_COLUMNS,
    VISION,
    batch,
    made,
    masked,
    padded_right,
    reduced,
    row_of,
)

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("without_gradients")]
CLOSE: Any = {"rtol": 0.0, "atol": 2e-6}
PLAIN = SimpleNamespace(image_mean=[0.5] * 3, image_std=[0.5] * 3)
FAMILY = pytest.mark.parametrize("name", [*QWEN, "llava_onevision"])


def check_masked(name: str, inputs: Any, small: Reduced, close: Any = CLOSE) -> None:
    short, whole = made(name)(**small.inputs).logits, made(name)(**masked(name, inputs, small)).logits
    full, gone = made(name)(**inputs).logits, 0.0
    for row, columns in enumerate(small.columns):
        kept = columns >= 0
        torch.testing.assert_close(short[row, kept], whole[row, columns[kept]], **close)
        gone = max(gone, float((full[row, columns[kept]] - short[row, kept]).abs().max()))
    assert gone > 1e-2, "what is dropped must matter for the test to mean anything"


@FAMILY
@pytest.mark.parametrize("seed", range(4))
def test_a_reduced_run_is_the_whole_run_with_the_rest_masked(name: str, seed: int) -> None:
    inputs = batch(name, seed=seed)
    budgets = [3, 2, 7, 9, 5] if name in QWEN else [6, 7, 4]
    small = reduced(name, inputs, budgets, allocator=tokens.Random(seed))
    found = [sum(small.counts[grid] for grid in grids) for grids in small.encoded.layout.images]
    assert found == budgets
    check_masked(name, inputs, small)


@FAMILY
def test_padding_on_the_right_comes_back_on_the_left(name: str) -> None:
    inputs = batch(name, seed=10)
    right = padded_right(inputs)
    assert not torch.equal(right["attention_mask"], inputs["attention_mask"])
    left, other = reduced(name, inputs, 4), reduced(name, right, 4)
    assert torch.equal(left.prompt["input_ids"], other.prompt["input_ids"])
    torch.testing.assert_close(made(name)(**other.inputs).logits, made(name)(**left.inputs).logits, **CLOSE)


@FAMILY
def test_it_is_the_masked_run_beyond_rounding(name: str) -> None:
    inputs = {key: value.double() if value.is_floating_point() else value for key, value in batch(name, seed=8).items()}
    made(name).double()
    try:
        small = reduced(name, inputs, 6)
        check_masked(name, inputs, small, {"rtol": 0.0, "atol": 1e-12})
    finally:
        made(name).float()


@FAMILY
@pytest.mark.parametrize("realize", ["select", "pool"])
def test_all_kept_is_the_unmodified_model(name: str, realize: str) -> None:
    inputs = batch(name, seed=5)
    allocator = tokens.Random() if realize == "select" else tokens.PyramidSampling(tokens.UniformRelevance(), patch=4)
    small = reduced(name, inputs, float("inf"), allocator=allocator, realize=realize)
    real = inputs["attention_mask"].bool()
    torch.testing.assert_close(made(name)(**small.inputs).logits[real], made(name)(**inputs).logits[real], **CLOSE)
    options = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0}
    plain = made(name).generate(**inputs, **options)[:, -STEPS:]
    assert torch.equal(made(name).generate(**small.inputs, **options)[:, -STEPS:], plain)


@FAMILY
@pytest.mark.parametrize("budget", [1, 5, 11])
def test_counts_of_a_video_are_exact_and_stand_where_their_steps_are(name: str, budget: int) -> None:
    media = None if name in QWEN else FRAMES
    inputs = batch(name, media, seed=2)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance(), patch=4)
    small = reduced(name, inputs, budget, allocator=allocator, realize="pool")
    cells = [len(each) for each in small.encoded.layout.places]
    assert small.counts == tuple(min(budget, count) for count in cells)
    assert tuple(map(sum, small.counts_in_time)) == small.counts
    assert tuple(map(len, small.counts_in_time)) == small.encoded.layout.steps
    assert made(name)(**small.inputs).logits.isfinite().all()
    if name == "qwen3_vl":  # each step has a text of its own before it
        ids = small.prompt["input_ids"].flatten().tolist()
        groups = "".join("v" if each == VIDEO else "(" if each == START else " " for each in ids).split("(")[1:]
        videos = [count for counts in small.counts_in_time if len(counts) > 1 for count in counts]
        taken = [group.count("v") for group, whole in zip(groups, _tokens(inputs), strict=True) if whole == VIDEO]
        assert taken == videos


def _tokens(inputs: Any) -> list[int]:
    """What follows each start of a group of the whole prompts."""
    ids = inputs["input_ids"].flatten()
    return ids[1:][ids[:-1] == START].tolist()


@pytest.mark.parametrize("name", QWEN)
@pytest.mark.parametrize("positions", ["original", "compact"])
def test_a_mixed_batch_is_its_rows_one_by_one(name: str, positions: Any) -> None:
    inputs, allocator = batch(name, seed=3), tokens.UniformGrid(tokens.UniformRelevance())
    small = reduced(name, inputs, [3, 2, 7, 9, 5], allocator=allocator, positions=positions)
    logits = made(name)(**small.inputs).logits
    options = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0}
    answers = made(name).generate(**small.inputs, **options)[:, -STEPS:]
    beams = made(name).generate(**small.inputs, **options, num_beams=2)[:, -STEPS:]
    for row, budgets in enumerate([[3, 7], [2, 9, 5]]):
        alone = reduced(name, row_of(name, inputs, MIXED, row), budgets, allocator=allocator, positions=positions)
        own = made(name)(**alone.inputs).logits[0]
        torch.testing.assert_close(logits[row, -len(own) :], own, rtol=0, atol=1e-5)
        assert torch.equal(made(name).generate(**alone.inputs, **options)[0, -STEPS:], answers[row])
        assert torch.equal(made(name).generate(**alone.inputs, **options, num_beams=2)[0, -STEPS:], beams[row])


@FAMILY
def test_decoding_goes_on_as_the_masked_run(name: str) -> None:
    inputs = batch(name, seed=4)
    small = reduced(name, inputs, 6)
    whole = masked(name, inputs, small)
    generated = made(name).generate(
        **small.inputs, max_new_tokens=STEPS, do_sample=False, pad_token_id=0, output_logits=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    # `generate` counts on from the last token; the times of a video's frames may be beyond it.
    every = whole["position_ids"][..., -1:]
    latest = every if every.ndim == 2 else torch.cat([every[:1], every[1:].amax(0, keepdim=True).expand(3, -1, -1)])
    out = made(name)(**whole, use_cache=True)
    for step in range(STEPS):
        torch.testing.assert_close(generated.logits[step], out.logits[:, -1], **CLOSE)
        mask = torch.cat([whole["attention_mask"], torch.ones(2, step + 1)], 1)
        out = made(name)(
            input_ids=out.logits[:, -1].argmax(-1, keepdim=True), attention_mask=mask, position_ids=latest + step + 1,
            **cache_argument(out), use_cache=True,
        )  # fmt: skip


@FAMILY
def test_a_second_turn_goes_on_as_the_whole_conversation(name: str) -> None:
    inputs = batch(name, [[(3, 2, 3)], [(2, 3, 3)]] if name in QWEN else FRAMES, seed=9)
    options = {"max_new_tokens": STEPS, "do_sample": False, "pad_token_id": 0, "suppress_tokens": [IMAGE, VIDEO],
               "return_dict_in_generate": True}  # fmt: skip
    small = reduced(name, inputs, float("inf"))
    said = made(name).generate(**small.inputs, **options)
    further = torch.tensor([[11, 12], [13, 14]])
    again = made(name).generate(**next_turn(made(name), small.inputs, said, further), **options, output_logits=True)
    ids = torch.cat([said.sequences, further], dim=1)
    longer = {**inputs, "input_ids": ids, "attention_mask": _longer(inputs["attention_mask"], ids, 1)}
    if name in QWEN:
        longer["mm_token_type_ids"] = _longer(inputs["mm_token_type_ids"], ids, 0)
    whole = made(name).generate(**longer, **options, output_logits=True)
    torch.testing.assert_close(torch.stack(again.logits), torch.stack(whole.logits), rtol=0, atol=1e-5)
    with pytest.raises(ArrayError, match="brings pictures"):
        next_turn(made(name), small.inputs, said, torch.full((2, 1), VIDEO))


def _longer(values: torch.Tensor, ids: torch.Tensor, new: int) -> torch.Tensor:
    return torch.nn.functional.pad(values, (0, ids.shape[1] - values.shape[1]), value=new)


@FAMILY
def test_what_stays_still_takes_one_token_for_all_steps(name: str) -> None:
    media = [[(4, 3, 4)]] if name in QWEN else FRAMES
    inputs = batch(name, media, still=True)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance(), patch=4)
    cells = 12 if name in QWEN else 9
    small = reduced(name, inputs, cells, allocator=allocator, realize="pool")
    tree: Any = small.chosen[0]
    assert tree.allocation.residual == pytest.approx(0, abs=1e-12)
    assert {len(each) for each in tree.tokens.cells} == {4 if name in QWEN else 3}
    features = small.encoded.levels[0][small.encoded.layout.places[0]].reshape(-1, cells, tree.levels[0].shape[1])
    order = np.argsort(tree.slots % cells)
    torch.testing.assert_close(tree.levels[0][order], features.mean(0), rtol=0, atol=1e-5)


@FAMILY
def test_frames_are_those_that_the_encoder_gets(name: str) -> None:
    inputs = batch(name, [[(3, 2, 3)]] if name in QWEN else FRAMES)
    frames = shown(made(name), inputs, PROCESSOR)[0]
    if name in QWEN:
        assert len(frames) == 6 and frames[0].shape == (56, 84, 3)
        # Step, rows and columns of blocks, patches of a block, colour, frame of the step, pixels.
        patch = inputs["pixel_values_videos"].reshape(3, 2, 3, 2, 2, 3, 2, 14, 14)
        expected = patch[1, 1, 2, 0, 1, :, 1].permute(1, 2, 0).numpy()
        found = frames[3][28:42, 70:84]
    else:
        expected = inputs["pixel_values_videos"][0, 2].permute(1, 2, 0).numpy()
        found = frames[2]
    expected = np.clip(expected * PROCESSOR.image_std + PROCESSOR.image_mean, 0, 1)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    allocator = tokens.PyramidSampling(tokens.UniformRelevance(), patch=4)
    own = reduced(name, inputs, 5, allocator=allocator, realize="pool")
    given = reduced(name, inputs, 5, allocator=allocator, realize="pool", images=shown(made(name), inputs, PROCESSOR))
    assert [one.slots.tolist() for one in own.chosen] == [one.slots.tolist() for one in given.chosen]
    if name in QWEN:  # a video of one step is the mean of its two frames
        short = batch(name, [[(2, 2, 3)]])
        size = short["video_grid_thw"][0].prod() // 2
        short |= {
            "video_grid_thw": torch.tensor([[1, 4, 6]]),
            "pixel_values_videos": short["pixel_values_videos"][:size],
        }
        gone = (short["input_ids"] == VIDEO).nonzero()[-6:, 1] if name == "qwen2_5_vl" else torch.arange(11, 20)
        stays = torch.ones(short["input_ids"].shape[1], dtype=torch.bool)
        stays[gone] = False
        short |= {key: short[key][:, stays] for key in ("input_ids", "attention_mask", "mm_token_type_ids")}
        assert reduced(name, short, 5, allocator=allocator, realize="pool").counts == (5,)
    with pytest.raises(ArrayError, match="for a video of"):
        reduced(
            name, inputs, 5, allocator=allocator, images=[each[:2] for each in shown(made(name), inputs, PROCESSOR)]
        )


@FAMILY
def test_evs_keeps_what_changes_between_steps(name: str) -> None:
    inputs = batch(name, [[(4, 3, 4)]] if name in QWEN else FRAMES, seed=6)
    small = reduced(name, inputs, 15, allocator=tokens.REDUCERS["evs"](), realize="pool")
    layout = small.encoded.layout
    steps, cells = layout.steps[0], len(layout.places[0]) // layout.steps[0]
    features = small.encoded.levels[0][layout.places[0]].reshape(steps, cells, -1)
    change = 1 - torch.cosine_similarity(features[1:], features[:-1], dim=2)
    later = cells + change.flatten().argsort(descending=True)[: 15 - cells]
    assert sorted([*range(cells), *later.tolist()]) == small.chosen[0].slots.tolist()


@FAMILY
@pytest.mark.parametrize("method", tokens.REDUCERS)
def test_every_reducer_meets_its_count_or_is_refused(name: str, method: str) -> None:
    inputs = batch(name, [[(3, 3, 4)]] if name in QWEN else FRAMES)
    allocator = tokens.REDUCERS[method]()
    if getattr(allocator, "reads", "") == "flow":
        with pytest.raises(ArrayError, match="no class token"):
            reduced(name, inputs, 5, allocator=allocator, realize="pool")
        return
    small = reduced(name, inputs, 5, allocator=allocator, realize="pool")
    assert set(small.counts) == {5} and made(name)(**small.inputs).logits.isfinite().all()


@pytest.mark.parametrize("method", tokens.PRESETS)
def test_every_preset_is_served_or_refused_by_name(method: str) -> None:
    served = {"grid", "uniform-grid", "random", "pyramid", "even-pyramid", "foveated"}
    inputs, allocator = batch("qwen2_5_vl", [[(3, 3, 4)]]), tokens.PRESETS[method]()
    if method not in served:
        with pytest.raises(ArrayError, match="allocates on pictures, not on videos"):
            reduced("qwen2_5_vl", inputs, 5, allocator=allocator, realize="pool")
        return
    small = reduced("qwen2_5_vl", inputs, 5, allocator=allocator, realize="pool", query="red at the top left?")
    assert small.counts == (5,)


def test_places_that_nothing_states_need_grids() -> None:
    model = made("qwen2_5_vl")
    inputs = batch("qwen2_5_vl", [[(3, 3, 4)]])
    with pytest.raises(ArrayError, match="places of the features of videos of Qwen2_5_VL"):
        Layout.of_videos(model, {"pixel_values_videos": torch.zeros(1, 3)}, Encoded.of(model, inputs).output)
    small = reduced("qwen2_5_vl", inputs, 5, grids=[(3, 3, 4)])
    assert small.counts == (5,) and small.encoded.layout.steps == (3,)
    with pytest.raises(HraError, match="beside videos"):
        reduced("qwen2_5_vl", inputs, 5, allocator=tokens.Random(patch=28), realize="encode")


@pytest.mark.parametrize("name", [*QWEN, "qwen2_vl"])
@pytest.mark.parametrize("signal", ["attention", "shallow", "keys"])
def test_attention_of_fused_projections_is_that_by_hand(name: str, signal: str) -> None:
    model = made(name) if name in QWEN else qwen2_vl()
    inputs = batch("qwen2_5_vl" if name == "qwen2_vl" else name, seed=7)
    with recorded(model, ("attention", "shallow")) as projected:
        encoded = Encoded.of(model, inputs)
    signals = Signals(model, inputs, encoded, Prompts.of(model, inputs, encoded.layout.owners), projected)
    maps = signals.keys() if signal == "keys" else signals.maps(signal)
    layer = 1 if signal == "shallow" else 3
    pixels = torch.cat([inputs["pixel_values"], inputs["pixel_values_videos"]])
    sizes = [*inputs["image_grid_thw"].tolist(), *inputs["video_grid_thw"].tolist()]
    for own, (steps, rows, columns) in zip(maps, sizes, strict=True):
        part, pixels = pixels.split([steps * rows * columns, len(pixels) - steps * rows * columns])
        frames = part.reshape(steps, rows * columns, -1)
        expected = np.concatenate([by_hand(model, frame, rows, columns, layer, signal) for frame in frames])
        np.testing.assert_allclose(own, expected, atol=1e-6)
    assert not pixels.numel()


def qwen2_vl() -> Any:
    vision = {**VISION, "embed_dim": 32, "mlp_ratio": 2}
    torch.manual_seed(0)
    return hf.Qwen2VLForConditionalGeneration(hf.Qwen2VLConfig(text_config=TEXT, vision_config=vision, **IDS)).eval()


def by_hand(model: Any, patches: Any, rows: int, columns: int, layer: int, signal: str) -> Any:
    """One step alone: what each token's patches are paid, or their keys, from the states that enter the layer."""
    caught: dict[str, Any] = {}
    block = model.base_model.visual.blocks[layer]
    hooks = [
        block.norm1.register_forward_hook(lambda module, given, output: caught.update(states=output)),
        block.attn.register_forward_pre_hook(lambda module, given, named: caught.update(named), with_kwargs=True),
    ]
    model.base_model.get_image_features(patches, torch.tensor([[1, rows, columns]]), return_dict=True)
    for hook in hooks:
        hook.remove()
    width, heads = caught["states"].shape[1], block.attn.num_heads
    weight, bias = block.attn.qkv.weight, block.attn.qkv.bias
    size, cos, sin = width // heads, *caught["position_embeddings"]
    table, keys = torch.zeros(len(patches)), torch.zeros(len(patches), size)
    for head in range(heads):
        parts = []
        for kind in range(2):
            span = slice(kind * width + head * size, kind * width + (head + 1) * size)
            parts.append(caught["states"] @ weight[span].T + bias[span])
        keys += parts[1] / heads
        turned = [each * cos + torch.cat([-each[:, size // 2 :], each[:, : size // 2]], 1) * sin for each in parts]
        table += torch.softmax(turned[0] @ turned[1].T / size**0.5, dim=1).mean(0) / heads
    merged = (keys if signal == "keys" else table[:, None]).reshape(rows * columns // 4, 4, -1).mean(1)
    if hasattr(model.base_model.visual, "fullatt_block_indexes"):  # windows of two by two tokens come one by one
        numbers = torch.arange(rows * columns // 4).reshape(rows // 2, columns // 2)
        order = [int(each) for y in range(0, rows // 2, 2) for x in range(0, columns // 2, 2)
                 for each in numbers[y : y + 2, x : x + 2].flatten()]  # fmt: skip
        merged[order] = merged.clone()
    shape = (rows // 2, columns // 2, *merged.shape[1:])
    return merged.reshape(shape).numpy() if signal == "keys" else merged.reshape(shape[:2]).numpy()


@FAMILY
def test_budgets_in_operations_count_frames_and_tiles(name: str) -> None:
    model = made(name)
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        inputs, counting = batch(name), CostModel(model.config)
        inputs = row_of(name, inputs, MIXED, 1) if name in QWEN else {**inputs, **first_row(inputs)}
        layout = Encoded.of(model, inputs).layout
        patches = [each for one in patches_of(model, inputs, layout) for each in one]
        placeholders = sum(int((inputs["input_ids"] == token).sum()) for token in (IMAGE, VIDEO))
        text = int(inputs["attention_mask"].sum()) - placeholders
        found = counted(lambda: model(**inputs, logits_to_keep=1))
        assert counting.flops(text, placeholders, patches) == pytest.approx(found, rel=0.015)
        limit = tokens.Flops(counting.flops(text + len(layout.breaks), 17, patches), counting)
        small = reduced(name, inputs, limit)
        assert sum(small.counts) == 17
        assert min(sum(small.counts[grid] for grid in grids) for grids in layout.images) >= 1
    finally:
        model.set_attn_implementation(before)


def first_row(inputs: Any) -> dict[str, Any]:
    real = inputs["attention_mask"][0].bool()
    return {
        "input_ids": inputs["input_ids"][:1, real], "attention_mask": inputs["attention_mask"][:1, real],
        "pixel_values_videos": inputs["pixel_values_videos"][:1],
    }  # fmt: skip


@FAMILY
def test_the_matrix_measures_what_the_page_says(name: str) -> None:
    measured = {column: measure(name) for column, measure in VIDEO_COLUMNS.items()}
    assert measured.pop("dropping changes") > 1e-2
    assert max(measured.values()) <= LIMIT, measured


def _edited(name: str, edit: Callable[[list[int]], list[int]]) -> dict[str, Any]:
    """One prompt with a picture and a video, its ids changed."""
    inputs = batch(name, [[(1, 3, 4), (4, 2, 5)]])
    ids = torch.tensor([edit(inputs["input_ids"][0].tolist())])
    types = (ids == IMAGE).int() + 2 * (ids == VIDEO).int()
    return {**inputs, "input_ids": ids, "attention_mask": torch.ones_like(ids), "mm_token_type_ids": types}


def _joined(row: list[int]) -> list[int]:
    """Without what stands between the first two steps of the video."""
    first = row.index(VIDEO) + 10
    return row[:first] + row[first + 3 :]


def _split(row: list[int]) -> list[int]:
    first = row.index(VIDEO) + 3
    return [*row[:first], 33, *row[first:]]


def _swapped(row: list[int]) -> list[int]:
    return [{IMAGE: VIDEO, VIDEO: IMAGE}.get(each, each) for each in row]


@pytest.mark.parametrize(
    "name, edit, runs",
    [
        ("qwen3_vl", _joined, "1 runs of tokens of pictures and 3 of videos, for 1 pictures and 1 videos of 4 steps"),
        ("qwen3_vl", _split, "5 of videos"),
        ("qwen2_5_vl", _split, "2 of videos"),
    ],
)
def test_prompts_whose_runs_are_not_those_of_their_videos_are_refused(name: str, edit: Any, runs: str) -> None:
    """torch's shapes, or the end of an iterator, had the last word."""
    with pytest.raises(ArrayError, match=f"cannot place the tokens of the prompts: .*{runs}"):
        reduced(name, _edited(name, edit), 4)


@pytest.mark.parametrize("name", QWEN)
def test_placeholders_of_the_other_kind_are_refused(name: str) -> None:
    """As many in all, but a part of the video stood where the picture was."""
    with pytest.raises(ArrayError, match="other numbers of placeholders of images and of videos"):
        reduced(name, _edited(name, _swapped), 4)


@pytest.mark.parametrize("name", QWEN)
@pytest.mark.parametrize("missing", ["mm_token_type_ids", "video_grid_thw", "image_grid_thw"])
def test_inputs_that_place_tokens_are_missed_by_name(name: str, missing: str) -> None:
    inputs = {key: value for key, value in batch(name).items() if key != missing}
    with pytest.raises(ArrayError, match=f"{missing} is missing"):
        reduced(name, inputs, 4)


@pytest.mark.parametrize("change", [torch.Tensor.tolist, torch.Tensor.float, lambda sizes: sizes[0], torch.zeros_like])
def test_sizes_that_are_none_are_refused(change: Any) -> None:
    inputs = batch("qwen3_vl")
    with pytest.raises(ArrayError, match="video_grid_thw are not whole numbers"):
        reduced("qwen3_vl", {**inputs, "video_grid_thw": change(inputs["video_grid_thw"])}, 4)


@pytest.mark.parametrize("change", [torch.Tensor.numpy, lambda types: types[:, :5]])
def test_types_of_other_tokens_are_refused(change: Any) -> None:
    inputs = batch("qwen3_vl")
    with pytest.raises(ArrayError, match="mm_token_type_ids is not a tensor of shape"):
        reduced("qwen3_vl", {**inputs, "mm_token_type_ids": change(inputs["mm_token_type_ids"])}, 4)


def ernie() -> dict[str, Any]:
    """A prompt with a picture and a video of two steps of two frames each, as the processor of ERNIE returns it."""
    rng = torch.Generator().manual_seed(3)
    ids = torch.tensor([[1, 5, START, *[IMAGE] * 6, END, 7, 92, *[VIDEO] * 8, 93, 8, 9]])
    kinds = (ids == IMAGE).int() + 2 * (ids == VIDEO).int()
    return {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "mm_token_type_ids": kinds,
        # Starts and ends go to the experts of what they surround.
        "moe_mm_token_type_ids": kinds + torch.isin(ids, torch.tensor([START, END])) + 2 * ((ids == 92) | (ids == 93)),
        "pixel_values": torch.randn(24, 588, generator=rng), "image_grid_thw": torch.tensor([[1, 4, 6]]),
        "pixel_values_videos": torch.randn(64, 588, generator=rng), "video_grid_thw": torch.tensor([[4, 4, 4]]),
    }  # fmt: skip


def test_frames_that_are_merged_and_kinds_that_choose_experts() -> None:
    torch.manual_seed(0)
    model, inputs = ernie4_5_vl_moe().eval(), ernie()
    whole = reduce(model, inputs, allocator=tokens.Random(), budget=float("inf"), realize="select", processor=PROCESSOR)
    assert whole.encoded.layout.steps == (1, 2)
    torch.testing.assert_close(model(**whole.inputs).logits, model(**inputs).logits, **CLOSE)
    frames = shown(model, inputs, PROCESSOR)
    pyramid = tokens.PyramidSampling(tokens.UniformRelevance(), patch=4)
    assert len(frames[1]) == 4 and reduce(model, inputs, allocator=pyramid, budget=5, images=frames).counts == (5, 5)
    small = reduce(model, inputs, allocator=tokens.Random(), budget=3, realize="select", processor=PROCESSOR)
    kept = small.columns[0]
    mask = torch.zeros_like(inputs["attention_mask"])
    mask[0, kept] = 1
    named = ("mm_token_type_ids", "image_grid_thw", "video_grid_thw", "attention_mask")
    places = model.model.get_rope_index(inputs["input_ids"], **{name: inputs[name] for name in named})[0]
    places = torch.cat([torch.arange(inputs["input_ids"].shape[1])[None, None], places])
    alone = model(**{**inputs, "attention_mask": mask, "position_ids": places}).logits
    torch.testing.assert_close(model(**small.inputs).logits[0], alone[0, kept], **CLOSE)
    options = {"max_new_tokens": STEPS, "do_sample": False, "return_dict_in_generate": True, "output_logits": True}
    said = model.generate(**whole.inputs, **options, suppress_tokens=[IMAGE, VIDEO])
    plain = model.generate(**inputs, **options, suppress_tokens=[IMAGE, VIDEO])
    assert torch.equal(said.sequences, plain.sequences)
    further = torch.tensor([[11, 12]])
    again = model.generate(**next_turn(model, whole.inputs, said, further), **options)
    longer = torch.cat([said.sequences, further], dim=1)
    kinds = {name: _longer(inputs[name], longer, 0) for name in ("mm_token_type_ids", "moe_mm_token_type_ids")}
    mask = _longer(inputs["attention_mask"], longer, 1)
    new = model.generate(**{**inputs, **kinds, "input_ids": longer, "attention_mask": mask}, **options)
    torch.testing.assert_close(torch.stack(again.logits), torch.stack(new.logits), rtol=0, atol=1e-5)


def test_videos_whose_tokens_the_processor_may_leave_out() -> None:
    torch.manual_seed(0)
    model, ids = video_llama_3().eval(), torch.tensor([[1, 5, *[VIDEO] * 12, 8, 9]])
    inputs = {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values_videos": torch.randn(48, 588),
        "video_grid_thw": torch.tensor([[3, 4, 4]]), "video_merge_sizes": torch.tensor([2]),
        "video_compression_mask": torch.ones(12, dtype=torch.bool),
    }  # fmt: skip
    whole = reduce(model, inputs, allocator=tokens.REDUCERS["divprune"](), budget=float("inf"), realize="select")
    torch.testing.assert_close(model(**whole.inputs).logits, model(**inputs).logits, **CLOSE)
    small = reduce(model, inputs, allocator=tokens.REDUCERS["divprune"](), budget=5)
    assert small.counts == (5,) and model(**small.inputs).logits.isfinite().all()
    inputs["video_compression_mask"][7:] = False
    with pytest.raises(ArrayError, match="left out 5 of the 12 tokens of the videos") as caught:
        reduce(model, inputs, allocator=tokens.REDUCERS["divprune"](), budget=5)
    assert "use_token_compression=False" in caught.value.fix


def test_colours_of_videos_are_those_of_the_processor_of_videos() -> None:
    inputs = batch("qwen2_5_vl", [[(1, 2, 3), (2, 2, 3)]])
    processor = SimpleNamespace(image_processor=PROCESSOR, video_processor=PLAIN)
    picture, video = shown(made("qwen2_5_vl"), inputs, processor)
    np.testing.assert_array_equal(picture, shown(made("qwen2_5_vl"), inputs, PROCESSOR)[0])
    np.testing.assert_array_equal(video, shown(made("qwen2_5_vl"), inputs, PLAIN)[1])


@FAMILY
def test_an_odd_number_of_frames_is_filled_up_as_processors_do(name: str) -> None:
    allocator = tokens.PyramidSampling(tokens.UniformRelevance(), patch=4)
    inputs = batch(name, [[(3, 2, 3)]] if name in QWEN else FRAMES)
    frames = shown(made(name), inputs, PROCESSOR)
    if name in QWEN:
        frames = [[*frames[0][:-1], frames[0][-2]]]
        own = reduced(name, inputs, 5, allocator=allocator, realize="pool", images=frames)
        odd = reduced(name, inputs, 5, allocator=allocator, realize="pool", images=[frames[0][:-1]])
        assert [one.slots.tolist() for one in own.chosen] == [one.slots.tolist() for one in odd.chosen]
    with pytest.raises(ArrayError, match="for a video of"):  # a whole step of frames is missing
        few = [each[: len(each) * 2 // 3] for each in frames]
        reduced(name, inputs, 5, allocator=allocator, realize="pool", images=few)
