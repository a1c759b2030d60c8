"""The tokens suite: choosing, features, regions and reconstruction of images of 1024 x 1024."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from hra.domains import tokens
from hra_lab.bench.devices import Device
from hra_lab.bench.kernels.rows import KernelBenchmark
from hra_lab.bench.tokens import feature_cases, image_cases, pipeline_cases
from hra_lab.bench.tokens.rows import TokenBenchmark
from hra_lab.bench.tokens.selection_cases import budget_of, selection

_FULL, _SMALL = 1024, 256
_IMAGES = ("PIL.Image:open",)
_BATCH = 64
_REDUCERS = ("ToMe", "DivPrune", "CDPruner")


def token_suite(device: Device) -> tuple[TokenBenchmark, ...]:
    """All benchmarks, in the order of the table; they run on the host only."""
    return tuple(_rows(device))


def _rows(device: Device) -> Iterator[TokenBenchmark]:
    choose = partial(_selection, device)
    yield choose("grid", tokens.GridTopK, ("torch.topk",))
    yield choose("grid_batch64", tokens.GridTopK, ("torch.topk",), _BATCH)
    yield choose("pyramid", tokens.PyramidSampling, _REDUCERS)
    yield choose("pyramid_batch64", tokens.PyramidSampling, _REDUCERS, _BATCH)
    yield choose("pyramid_4_levels_batch64", partial(tokens.PyramidSampling, levels=4), _REDUCERS[:1], _BATCH)
    yield choose("pyramid_top_k_batch64", tokens.PyramidTopK, ("torch.topk",), _BATCH)
    yield choose("foveated_pyramid", tokens.FoveatedPyramid, _REDUCERS[1:])
    yield choose("stratified", tokens.Stratified, _REDUCERS)
    yield choose("logpolar", tokens.LogPolar, _REDUCERS)
    yield choose("token_dag", tokens.TokenDAG, _REDUCERS)
    yield _row(device, "atlas_ward", feature_cases.ward, lambda side: {"count": feature_cases.REGIONS})
    yield _row(device, "features_1024", feature_cases.features, lambda side: {})
    for method in pipeline_cases.METHODS:
        build = partial(pipeline_cases.pipeline, method=method)
        yield _row(device, _pipeline_name(method), build, partial(pipeline_cases.parts, method=method))
    build = partial(pipeline_cases.pipeline, method="pyramid", images=_BATCH)
    facts = partial(pipeline_cases.batch, method="pyramid", images=_BATCH)
    yield _row(device, f"{_pipeline_name('pyramid')}_batch{_BATCH}", build, facts)
    for name, source in (("documents", "page.png"), ("photos", "photo.jpg")):
        build = partial(image_cases.reconstruction, source=source)
        facts = partial(image_cases.gain_db, source=source)
        yield _row(device, f"reconstruct_{name}", build, facts)


def _pipeline_name(method: str) -> str:
    return f"image_to_tokens_{method.replace('-', '_')}"


def _selection(
    device: Device, name: str, make: Callable[[], Any], rivals: tuple[str, ...], images: int = 1
) -> TokenBenchmark:
    build = partial(selection, make=make, images=images, rivals=rivals)
    return _row(device, name, build, lambda side: {"count": images * budget_of(side), "images": images})


def _row(
    device: Device, name: str, build: Callable[..., Any], facts: Callable[[int], dict[str, Any]]
) -> TokenBenchmark:
    return TokenBenchmark(KernelBenchmark(name, build, _FULL, _SMALL, device, _IMAGES), facts)
