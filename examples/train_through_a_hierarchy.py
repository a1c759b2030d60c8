"""Training through a hierarchy: a small network learns from thumbnails where an image has detail (needs torch).

Run ``python examples/train_through_a_hierarchy.py [FOLDER]``; a plot is written there (default: out). The
network states an error for each patch of a quadtree, `hra.SoftCut`
turns their gains into probabilities, and the loss is the error that is expected to remain with a budget of 28 patches.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

import hra

LEVELS, BITS, BUDGET = np.repeat(np.arange(5), 4 ** np.arange(5)), 6, 28
QUADTREE = hra.Hierarchy.tree((np.arange(LEVELS.size) - 1) // 4, np.ones(LEVELS.size), cost_unit="tokens")


def images(count, seed):
    """Pictures [count, 64 * 64] in Morton order that are rough where they are bright, with four spots each."""
    rng, (y, x) = np.random.default_rng(seed), np.indices((2**BITS, 2**BITS)) / 2**BITS
    spots = rng.random((count, 4, 2, 1, 1))
    light = np.exp(-60 * ((y - spots[:, :, 0]) ** 2 + (x - spots[:, :, 1]) ** 2)).max(axis=1)
    picture = light + 0.5 * light * rng.normal(size=light.shape)
    order = [0, *(1 + axis + BITS * k for axis in range(BITS) for k in (0, 1))]
    return picture.reshape(count, *[2] * (2 * BITS)).transpose(order).reshape(count, -1)


def known(pictures):
    """What the network sees [B, N, 7], and the true errors of all patches [B, N], 1 for the coarsest."""
    patches = [pictures.reshape(len(pictures), 4**level, -1) for level in range(5)]
    mean = np.concatenate([patch.mean(axis=2) for patch in patches], axis=1)
    error = np.concatenate([patch.var(axis=2) for patch in patches], axis=1) / 4.0**LEVELS
    level = np.tile(np.eye(5)[LEVELS], (len(pictures), 1, 1))
    seen = np.concatenate([mean[..., None], mean[..., None] ** 2, level], axis=2)
    return torch.tensor(seen, dtype=torch.float32), torch.tensor(error / error[:, :1])


def remaining(errors, true):
    """The share of the coarsest patch's error that is expected to remain where patches are chosen by ``errors``."""
    probabilities = hra.SoftCut(temperature=0.01).probabilities(QUADTREE, QUADTREE.gains(errors), BUDGET)
    return 1 - (probabilities * QUADTREE.gains(true)).sum(dim=1).mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the tensors are small
    (seen, true), (new, judge) = known(images(16, seed=0)), known(images(16, seed=1))
    layers = torch.nn.Linear(7, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Flatten(1), torch.nn.Softplus()
    network, area = torch.nn.Sequential(*layers), torch.tensor(0.25**LEVELS)  # of a patch; errors are sums over it
    optimizer = torch.optim.Adam(network.parameters(), lr=0.03)
    losses = []
    for step in range(61):
        loss = remaining(network(seen) * area, true)
        losses.append(loss.item())
        if step % 15 == 0:
            print(f"step {step}: {loss.item():.3f} of the error remains")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = np.mean([hra.solve(QUADTREE, BUDGET, errors=errors).residual for errors in judge])
    print(f"new images: {remaining(network(new) * area, judge).item():.3f}, the best cuts leave {best:.3f}")
    axes = (figure := Figure(figsize=(7, 3.6), layout="constrained")).subplots()
    axes.plot(losses, label="expected to remain while training")
    axes.axhline(float(best), color="black", linestyle=":", label="the best cuts of new images")
    axes.set(xlabel="step", ylabel="share of the error")
    axes.legend()
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "training.png", dpi=100)
