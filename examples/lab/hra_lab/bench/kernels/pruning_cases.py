"""Pruning of patches under a threshold of relevance, by the function that the token domain calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from hra.domains.tokens import prune_patches
from hra.kernels import build_pyramid
from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels import peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import check_arrays
from hra_lab.bench.kernels.peers import gather, host_only, require_host

_PATCHES = 64
# Share of the patches that stay.
_KEPT = 0.2


def relevance(images: int, device: Device) -> Case:
    """The relevance maps of all images in, the patches to keep out: pyramids and look-ups.

    The peers compare every patch with the threshold, which is all that pruning by a pyramid can find out.
    """
    require_host(device)
    inputs = seeded_inputs.relevance(images, _PATCHES)
    threshold = np.float32(np.quantile(inputs(0), 1 - _KEPT))

    def judge(given: np.ndarray, outputs: Mapping[str, np.ndarray]) -> dict[str, Gaps]:
        for name, output in outputs.items():
            check_arrays(name, [output], [given[..., 0] >= threshold], 0.0)
        return {}

    own = Contender("hra", lambda maps: prune_patches(build_pyramid(maps, "max"), float(threshold)))
    numpy_threshold = Contender("NumPy threshold", lambda maps: maps[..., 0] >= threshold)

    def torch_threshold(device: Device) -> Iterator[Contender]:
        return peers_torch.contenders(
            device,
            "torch threshold",
            lambda maps: maps[..., 0] >= float(threshold),
            lambda maps: peers_torch.tensors(maps, device),
            lambda output: output.cpu().numpy(),
        )

    others, absent = gather(device, {"NumPy": host_only(numpy_threshold), "torch": torch_threshold})
    maps = inputs(0)
    return Case((own, *others), inputs, judge, maps.size, maps.nbytes + maps.size, absent)
