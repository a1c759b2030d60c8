"""Tokens of two images as tensors, a resampler's gradients, and attention kept by a soft choice."""

import torch

import hra
from hra.domains import tokens
from hra.domains.tokens import learned

grid = tokens.UniformGrid(tokens.UniformRelevance())
images = [hra.samples.path(name) for name in ("photo.jpg", "page.png")]
sets = [grid.realize(grid.allocate((image, ""), 16)) for image in images]
batch = tokens.batch_tokens(sets).torch()
assert isinstance(batch.values, torch.Tensor) and batch.values.shape[:2] == (2, 16)
resampler = learned.Resampler(width=24, heads=4)
made = resampler(torch.rand(16, 16, 24), (4, 4))
made.square().sum().backward()
assert made.shape == (4, 4, 24) and resampler.value.weight.grad is not None
chosen = learned.soft_top_k(torch.rand(64), count=7, temperature=0.1)
assert abs(float(chosen.sum()) - 7) < 1e-2
print(f"torch {torch.__version__}")
