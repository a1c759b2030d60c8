"""The kernels suite: pyramids, occlusion and hierarchy building on the host or on a CUDA device."""

from __future__ import annotations

from functools import partial

import numpy as np

from hra.bench import (
    kernel_build_cases,
    kernel_culling_cases,
    kernel_filter_cases,
    kernel_pyramid_cases,
    kernel_rectangle_cases,
)
from hra.bench.devices import Device
from hra.bench.kernel_rows import KernelBenchmark

_MILLION = 1_000_000
_IMAGES = ("PIL.Image:open",)


def kernel_suite(device: Device) -> tuple[KernelBenchmark, ...]:
    """All benchmarks on ``device``, in the order of the table."""
    mips = kernel_pyramid_cases.mips
    return (
        KernelBenchmark("mips_4096_f32", partial(mips, dtype=np.float32), 4096, 64, device, _IMAGES),
        KernelBenchmark("mips_4096_u8", partial(mips, dtype=np.uint8), 4096, 64, device, _IMAGES),
        KernelBenchmark("maxpyr_4096", kernel_pyramid_cases.max_pyramid, 4096, 64, device, _IMAGES),
        KernelBenchmark("hiz_1080p", kernel_pyramid_cases.hiz, 1080, 67, device),
        KernelBenchmark("rectmax_1e6", kernel_rectangle_cases.rectangle_maxima, _MILLION, 1000, device),
        KernelBenchmark("cull_1e6_boxes", kernel_culling_cases.visible, _MILLION, 1000, device),
        KernelBenchmark("gauss_1024", kernel_filter_cases.gaussian, 1024, 32, device, _IMAGES),
        KernelBenchmark("laplace_1024", kernel_filter_cases.laplacian, 1024, 32, device, _IMAGES),
        KernelBenchmark("steer_1024", kernel_filter_cases.steerable, 1024, 32, device, _IMAGES),
        KernelBenchmark("relevance_prune_64x4096", kernel_rectangle_cases.relevance, 64, 2, device, _IMAGES),
        KernelBenchmark("build_1e6", kernel_build_cases.octree, _MILLION, 1000, device, _IMAGES),
    )
