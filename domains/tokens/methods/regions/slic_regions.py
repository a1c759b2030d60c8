"""Regions that grow from SLIC superpixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.agglomeration import Linkage
from hra.domains.tokens.methods.regions.merged_labels import merge_labels
from hra.domains.tokens.methods.regions.region_source import RegionSource
from hra.domains.tokens.methods.regions.region_tree import RegionTree
from hra.errors import MissingExtra


@dataclass(frozen=True)
class SlicRegions(RegionSource):
    """SLIC superpixels, merged by likeness; their borders follow edges of the image and not those of patches.

    Source: R. Achanta et al., "SLIC superpixels compared to state-of-the-art superpixel methods" (PAMI 2012), as
    implemented by scikit-image.

    Parameters
    ----------
    segments : about how many superpixels, at most one per finest patch. They are the finest tokens that there are.
    compactness : weight of distance against colour.
    """

    segments: int = 600
    compactness: float = 10.0
    linkage: Linkage = Linkage.WARD

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the superpixels.

        Raises
        ------
        MissingExtra : scikit-image is not installed.
        """
        try:
            from skimage.segmentation import slic
        except ImportError as error:
            raise MissingExtra.of("scikit-image", "tokens") from error
        image = context.pyramid.image
        count = min(self.segments, int(np.prod(context.pyramid.grids[0])))
        labels = slic(image, n_segments=count, compactness=self.compactness, start_label=0)
        _, consecutive = np.unique(labels, return_inverse=True)
        return merge_labels(context, consecutive.reshape(labels.shape).astype(np.int32), self.linkage)
