"""Array kernels that the domains share: image pyramids, rectangle look-ups in them, and Hi-Z occlusion culling.

>>> import numpy as np
>>> from hra.kernels import build_pyramid, rect_max
>>> depth = np.zeros((480, 640, 1), np.float32)
>>> depth[100, 200] = 1.0
>>> pyramid = build_pyramid(depth, reduce="max")
>>> rects = np.array([[192, 96, 207, 111], [0, 0, 63, 63]], np.int32)
>>> rect_max(pyramid, rects).tolist()
[1.0, 0.0]
"""

from __future__ import annotations

from hra.kernels.culling.hiz import depth_pyramid, visible_boxes, visible_spheres
from hra.kernels.culling.projection import ProjectedBounds, project_boxes, project_spheres
from hra.kernels.culling.two_pass import TwoPassFrame, draw_in_two_passes
from hra.kernels.pyramids.gaussian import gaussian_pyramid
from hra.kernels.pyramids.laplacian import LaplacianPyramid, laplacian_pyramid
from hra.kernels.pyramids.levels.pyramid import Pyramid, build_pyramid
from hra.kernels.pyramids.levels.rectangles import rect_max, rect_min
from hra.kernels.pyramids.levels.selftest import available_backends
from hra.kernels.pyramids.steerable import SteerablePyramid, steerable_pyramid

__all__ = [
    "LaplacianPyramid",
    "ProjectedBounds",
    "Pyramid",
    "SteerablePyramid",
    "TwoPassFrame",
    "available_backends",
    "build_pyramid",
    "depth_pyramid",
    "draw_in_two_passes",
    "gaussian_pyramid",
    "laplacian_pyramid",
    "project_boxes",
    "project_spheres",
    "rect_max",
    "rect_min",
    "steerable_pyramid",
    "visible_boxes",
    "visible_spheres",
]
