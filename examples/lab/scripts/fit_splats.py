"""Fit Gaussian splats to pictures of a mesh from known views.

Run ``python examples/lab/scripts/fit_splats.py MESH -o SPLATS.ply``.

The pictures are drawn from the mesh's vertices by `hra.domains.points.render`. Splats begin at some of the vertices;
positions, sizes, turns, colours and opacities then follow the gradient of the squared error (Adam). The blending is
that of the library's renderer, written in torch over tiles, so that it has gradients.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch

from hra.camera import Camera
from hra.domains import points
from hra_lab.evaluation.points.run import lit

SIDE, TILE, BLUR, REACH = 96, 16, 0.3, 3.0


def cameras(bounds: np.ndarray, count: int) -> list[Camera]:
    """Around the object, on a spiral from above to below."""
    steps = [(360 * 0.618 * i, 70 - 140 * (i + 0.5) / count) for i in range(count)]
    return [Camera.orbit(bounds, a, e, up=(0, 0, 1), viewport=(SIDE, SIDE)) for a, e in steps]


def covariances(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
    """[P, 3, 3] of logarithms of standard deviations and quaternions."""
    w, x, y, z = torch.nn.functional.normalize(parameters["turn"], dim=1).unbind(1)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    rows += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    rows += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    scaled = torch.stack(rows, 1).reshape(-1, 3, 3) * parameters["scale"].exp()[:, None]
    return scaled @ scaled.transpose(1, 2)


def draw(parameters: dict[str, torch.Tensor], camera: Camera) -> torch.Tensor:
    """The picture [SIDE, SIDE, 3] over white."""
    view, projection = (torch.tensor(m.copy(), dtype=torch.float32) for m in (camera.view, camera.projection))
    eye = parameters["place"] @ view[:3, :3].T + view[:3, 3]
    depth = -eye[:, 2]
    focal = projection[[0, 1], [0, 1]] * SIDE / 2
    flip = torch.tensor([1.0, -1.0])
    center = eye[:, :2] / depth[:, None] * focal * flip + SIDE / 2
    slope = torch.zeros(len(eye), 2, 3)
    slope[:, 0, 0], slope[:, 1, 1] = focal[0] / depth, -focal[1] / depth
    slope[:, :, 2] = eye[:, :2] / depth[:, None] ** 2 * focal * flip
    slope = slope @ view[:3, :3]
    flat = slope @ covariances(parameters) @ slope.transpose(1, 2) + BLUR * torch.eye(2)
    picture = torch.ones(SIDE, SIDE, 3)
    reach = REACH * flat.diagonal(dim1=1, dim2=2).sqrt()
    order = torch.argsort(depth)
    for top in range(0, SIDE, TILE):
        for left in range(0, SIDE, TILE):
            corner = torch.tensor([left, top])
            near = ((center + reach > corner) & (center - reach < corner + TILE)).all(1)
            chosen = order[near[order]]
            if len(chosen):
                tile = _tile(parameters, center[chosen], flat[chosen], chosen, corner)
                picture[top : top + TILE, left : left + TILE] = tile
    return picture


def _tile(parameters: dict[str, torch.Tensor], center: torch.Tensor, flat: torch.Tensor, chosen: torch.Tensor,
          corner: torch.Tensor) -> torch.Tensor:  # fmt: skip
    across = torch.arange(TILE) + 0.5
    place = torch.stack(torch.meshgrid(across + corner[0], across + corner[1], indexing="xy"), -1).reshape(-1, 1, 2)
    apart = place - center
    fall = torch.einsum("pki,kij,pkj->pk", apart, torch.linalg.inv(flat), apart)
    alpha = (parameters["opacity"][chosen].sigmoid() * (-fall / 2).exp()).clamp(max=0.99)
    light = torch.cumprod(torch.cat([torch.ones(len(alpha), 1), 1 - alpha], 1), 1)
    colors = parameters["color"][chosen].sigmoid()
    return ((alpha * light[:, :-1]) @ colors + light[:, -1:]).reshape(TILE, TILE, 3)


def fit(cloud: points.PointCloud, count: int, steps: int, views: int) -> tuple[points.SplatCloud, list[float]]:
    """Splats that look like the cloud from all views, and the squared error of every step."""
    torch.manual_seed(0)
    tree = points.build(cloud)
    full, rng = tree.take(tree.leaves), np.random.default_rng(0)
    shots = cameras(tree.bounds, views)
    wanted = [torch.tensor(points.render(full, shot)[0]) for shot in shots]
    begin = rng.choice(len(cloud), min(count, len(cloud)), replace=False)
    size = math.log(float(np.ptp(tree.bounds, axis=0).max()) / math.sqrt(len(begin)))
    shares = torch.tensor(full.colors[begin]).clamp(0.02, 0.98)
    parameters = {
        "place": torch.tensor(full.positions[begin]), "scale": torch.full((len(begin), 3), size),
        "turn": torch.randn(len(begin), 4), "color": torch.logit(shares), "opacity": torch.ones(len(begin)),
    }  # fmt: skip
    extent = float(np.ptp(tree.bounds, axis=0).max())
    rates = {"place": 5e-4 * extent, "scale": 0.02, "turn": 0.02, "color": 0.05, "opacity": 0.05}
    groups = [{"params": [values.requires_grad_()], "lr": rates[name]} for name, values in parameters.items()]
    adam, errors = torch.optim.Adam(groups), []
    for step in range(steps):
        k = int(rng.integers(views)) if step >= views else step
        loss = (draw(parameters, shots[k]) - wanted[k]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        errors.append(loss.item())
    found = {name: values.detach() for name, values in parameters.items()}
    six = covariances(found)[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].numpy()
    colors, opacities = found["color"].sigmoid().numpy(), found["opacity"].sigmoid().numpy()
    return points.SplatCloud(found["place"].numpy(), six, colors, opacities), errors


def main() -> None:
    """Fit, write, and say how far it came."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("mesh", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--splats", type=int, default=4000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--views", type=int, default=24)
    given = parser.parse_args()
    splats, errors = fit(lit(given.mesh), given.splats, given.steps, given.views)
    points.save_points(given.out, splats)
    first, last = (float(np.mean(part)) for part in (errors[:10], errors[-10:]))
    print(f"{len(splats)} splats, PSNR {-10 * math.log10(first):.1f} -> {-10 * math.log10(last):.1f} dB")


if __name__ == "__main__":
    main()
