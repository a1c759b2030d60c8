"""The kernels suite: pyramids, occlusion and hierarchy building on the host or on a CUDA device."""

from __future__ import annotations

from functools import partial

import numpy as np

from hra_lab.bench.devices import Device
from hra_lab.bench.kernels import (
    build_cases,
    culling_cases,
    filter_cases,
    pruning_cases,
    pyramid_cases,
    rectangle_cases,
    sampling_cases,
    token_cases,
)
from hra_lab.bench.kernels.rows import KernelBenchmark

_MILLION = 1_000_000
_IMAGES = ("PIL.Image:open",)


def kernel_suite(device: Device) -> tuple[KernelBenchmark, ...]:
    """All benchmarks on ``device``, in the order of the table."""
    mips = pyramid_cases.mips
    return (
        KernelBenchmark("mips_4096_f32", partial(mips, dtype=np.float32), 4096, 64, device, _IMAGES),
        KernelBenchmark("mips_4096_u8", partial(mips, dtype=np.uint8), 4096, 64, device, _IMAGES),
        KernelBenchmark("maxpyr_4096", pyramid_cases.max_pyramid, 4096, 64, device, _IMAGES),
        KernelBenchmark("hiz_1080p", pyramid_cases.hiz, 1080, 67, device),
        KernelBenchmark("rectmax_1e6", rectangle_cases.rectangle_maxima, _MILLION, 1000, device),
        KernelBenchmark("cull_1e6_boxes", culling_cases.visible, _MILLION, 1000, device),
        KernelBenchmark("gauss_1024", filter_cases.gaussian, 1024, 32, device, _IMAGES),
        KernelBenchmark("laplace_1024", filter_cases.laplacian, 1024, 32, device, _IMAGES),
        KernelBenchmark("steer_1024", filter_cases.steerable, 1024, 32, device, _IMAGES),
        KernelBenchmark("sample_trilinear", sampling_cases.trilinear, _MILLION // 4, 1000, device, _IMAGES),
        KernelBenchmark("sample_anisotropic", sampling_cases.anisotropic, _MILLION // 4, 1000, device, _IMAGES),
        KernelBenchmark("build_tokens_batch", token_cases.tokens_batch, 512, 128, device, _IMAGES),
        KernelBenchmark("build_mips_errors", token_cases.mips_errors, 2048, 256, device, _IMAGES),
        KernelBenchmark("rectmax_64x4096", rectangle_cases.relevance, 64, 2, device, _IMAGES),
        KernelBenchmark("relevance_prune_64x4096", pruning_cases.relevance, 64, 2, device, _IMAGES),
        KernelBenchmark("build_1e6", build_cases.octree, _MILLION, 1000, device, _IMAGES),
    )
