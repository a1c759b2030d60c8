"""From the pixels of an image to its tokens: everything in the clock, and what its parts take."""

from __future__ import annotations

import os
import tempfile
import time
import timeit
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.files.images import load_image, save_png
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels.checks import require
from hra_lab.bench.kernels.peers import require_host
from hra_lab.bench.threads import kernel_threads
from hra_lab.bench.tokens.inputs import QUERY
from hra_lab.bench.tokens.selection_cases import budget_of
from hra_lab.inputs.crops import crops

_CROPS, _ROUNDS, _RUNS, _BASE = 8, 5, 25, 256
METHODS = tuple(tokens.PRESETS)


def pipeline(side: int, device: Device, *, method: str, images: int = 1) -> Case:
    """The tokens of 8-bit crops of ``side`` pixels with relevance by cues, by the preset ``method``."""
    require_host(device)
    count, batch = tokens_of(method, side), _images(images, side)
    allocator = tokens.preset(method)

    def run(given: list[np.ndarray]) -> list[Any]:
        return allocator.tokens_batch([(image, QUERY) for image in given], count)

    def judge(given: list[np.ndarray], outputs: Mapping[str, list[Any]]) -> dict[str, Gaps]:
        for name, sets in outputs.items():
            require(name, [len(one) for one in sets] == [count] * images, f"not {count} tokens per image")
        return {}

    moved = images * (5 * batch[0].size + 4 * 768 * count)  # 8 bits in, 32 bits out, and the tokens
    rolled = [batch[n:] + batch[:n] for n in range(min(images, _CROPS))] if images > 1 else [[one] for one in batch]
    return Case((Contender("hra", run),), lambda n: rolled[n % len(rolled)], judge, images * side * side, moved, {})


def parts(side: int, *, method: str) -> dict[str, Any]:
    """Medians of the processor time of each step of one image, and the least time of all, in seconds."""
    allocator, count, (image,) = tokens.preset(method), tokens_of(method, side), _images(1, side)[:1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image.png"
        save_png(path, image)
        rounds = [_time(allocator, path, image, count) for _ in range(_ROUNDS + 1)][1:]
    medians = {name: float(np.median([each[name] for each in rounds])) for name in rounds[0]}
    # What else runs on the machine makes some runs longer, and none shorter.
    once = partial(allocator.tokens_batch, [(image, QUERY)], count)
    least = min(timeit.repeat(once, number=1, repeat=_RUNS, timer=time.process_time))
    return {"count": count, "least_cpu_s": least, "parts_cpu_s": medians}


def batch(side: int, *, method: str, images: int) -> dict[str, Any]:
    """What an image of a batch takes on all cores, beside one that is alone on one: the least of some rounds each.

    Seconds of the clock say what waits for what, if nothing else runs; processor time says what is computed anyway.
    """
    allocator, count, given = tokens.preset(method), tokens_of(method, side), _images(images, side)
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def seconds(parts: list[list[np.ndarray]], workers: int) -> np.ndarray:
        with kernel_threads(workers):
            begin = np.array([time.perf_counter(), time.process_time()])
            for part in parts:
                allocator.tokens_batch([(image, QUERY) for image in part], count)
            spent = np.array([time.perf_counter(), time.process_time()]) - begin
            return spent * (workers, 1) / sum(map(len, parts))

    alone = [[image] for image in given[:_CROPS]]
    rounds = [(seconds(alone, 1), seconds([given], threads)) for _ in range(_ROUNDS)]
    (single, single_cpu), (together, together_cpu) = np.min(rounds, axis=0).tolist()
    return {
        "count": images * count,
        "images": images,
        "cores": threads,
        "single_s": single,
        "per_image_and_core_s": together,
        "to_single": together / single,
        "cpu_to_single": together_cpu / single_cpu,
    }


def tokens_of(method: str, side: int) -> int:
    """The budget of a method: beside a base, as many tokens again as others have, but no more than patches."""
    base = _BASE if method in ("gestalt-saccades", "two-pass") else 0
    return min(budget_of(side) + base, (side // 16) ** 2)


def _time(allocator: tokens.TokenAllocator[Any], path: Path, image: np.ndarray, count: int) -> dict[str, float]:
    seconds: dict[str, float] = {}

    def step(name: str, do: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = do()
        seconds[name] = time.process_time() - begin
        return result

    step("decode", lambda: load_image(path))
    context = step("pyramid", lambda: allocator.context(image, QUERY))
    step("relevance", lambda: context.relevance)
    if isinstance(allocator.metric, tokens.RelevanceError):
        step("errors", lambda: context.node_errors)
    allocation = step("choice", lambda: allocator.allocate(context, count))
    step("realise", lambda: allocator.realize(allocation))
    return seconds


def _images(count: int, side: int) -> list[np.ndarray]:
    known = [np.rint(image * 255).astype(np.uint8) for _, image in crops(min(max(count, _CROPS), _CROPS), side)]
    return [known[n % len(known)] for n in range(max(count, len(known)))]
