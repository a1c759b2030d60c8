"""Tokens of an image, triangles of a mesh and pages of a ground under one budget of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes, textures, tokens
from hra.domains.tokens.patches.metrics import pyramid_numbers
from hra.errors import BudgetTooSmall
from hra.files.images.arrays import as_image
from hra.model.problem import Problem
from hra.pages.explore.meshes import MOST_TRIANGLES, drawn_mesh
from hra.pages.explore.textures import drawn_ground, ground
from hra.pages.explore.tokens import drawn_tokens
from hra.pages.explore.track import STEPS, Number, Track, allocate_all, budgets_between, slider
from hra.pooling.union import join_problems, union
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.hull import Hull

# A token's values as bytes: 8 bits for each channel of each pixel.
_CHANNELS = 3
_UNIT = "share of the error at the least budget"
_JOINT: dict[str, Traversal] = {"hra: one price for all": Hull(), "refine the best ratio first": BestFirst()}


@dataclass(frozen=True, eq=False)
class Member:
    """Something that takes part in the pool.

    Attributes
    ----------
    problem : of unlimited budget, in bytes.
    draw : from cuts, what the browser draws them from, and the page's numbers of nodes.
    """

    problem: Problem
    draw: Callable[[Sequence[np.ndarray]], tuple[dict[str, Any], Number]]


def of_image(image: Any, query: str, relevance: tokens.Relevance) -> Member:
    """Tokens of an image, see `hra.files.images.as_image`, for a question; a token costs its 8-bit values."""
    allocator = tokens.PyramidSampling(relevance)
    context = allocator.context(as_image(image), query)
    problem = allocator.problem(context, np.inf)
    size = _CHANNELS * context.pyramid.patch**2
    hierarchy = replace(problem.hierarchy, node_cost=size * problem.hierarchy.node_cost, cost_unit="bytes")
    number = pyramid_numbers(allocator.builder.build(context), context)
    return Member(replace(problem, hierarchy=hierarchy), partial(_draw_tokens, context, number))


def of_mesh(mesh: meshes.ClusterMesh, camera: Camera) -> Member:
    """Clusters of a mesh for a camera.

    Raises
    ------
    BudgetTooSmall : full detail has more triangles than a page can hold.
    """
    if mesh.triangle_count > MOST_TRIANGLES:
        what = f"the mesh has {mesh.triangle_count:,} triangles, a page of a pool holds {MOST_TRIANGLES:,}"
        raise BudgetTooSmall(what, where="the mesh", fix="cut it first, or give it a page of its own")
    problem = meshes.MeshAllocator(mesh.with_cost("bytes")).problem(camera, np.inf)
    return Member(problem, partial(drawn_mesh, mesh, camera))


def of_texture(image: Any) -> Member:
    """Pages of an image as ground, see `ground`."""
    scene, camera = ground(image)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    return Member(allocator.problem(camera, np.inf), partial(drawn_ground, scene, camera))


def pool_view(members: Sequence[Member], budget: int) -> dict[str, Any]:
    """What a page needs to show members at every common budget of bytes.

    Their errors have no common unit, so each counts as a share of what it is at the least budget.

    Parameters
    ----------
    budget : bytes where the slider begins, one of its steps.
    """
    problems = [_as_share(member.problem) for member in members]
    whole, places = union([problem.hierarchy for problem in problems])
    joint = join_problems(whole, problems, places, np.inf)
    useful = whole.cost_of(Hull().solve(joint).selected)
    budgets = budgets_between(whole.base_cost, useful, STEPS, (budget,))
    parted = [_joint(name, joint, problems, budgets) for name in _JOINT]
    parted.append(_apart(problems, budgets))
    drawn = [member.draw([cut for _, parts in parted for cut in parts[i]]) for i, member in enumerate(members)]
    return {
        "kind": "pool",
        "name": "pool",
        **slider(budgets, budget, "bytes", _UNIT),
        "members": [record for record, _ in drawn],
        "tracks": [_record(track, parts, problems, drawn) for track, parts in parted],
    }


def _as_share(problem: Problem) -> Problem:
    """The problem with its error as a share of what remains at the least budget."""
    whole = problem.base_error or 1.0
    peak = problem.refinement_peak
    return replace(
        problem,
        gain=problem.gain / whole,
        least_error=problem.least_error / whole,
        unit=_UNIT,
        refinement_peak=lambda: peak() / whole,
        price=None,
        metric=None,
    )


def _joint(
    name: str, joint: Problem, problems: Sequence[Problem], budgets: np.ndarray
) -> tuple[Track, list[list[np.ndarray]]]:
    """The answers of a rule to the whole, and the cuts [P] of each member."""
    track = Track.of(name, allocate_all(joint, budgets, _JOINT[name]))
    first = np.cumsum([0, *(problem.hierarchy.node_cost.size for problem in problems)])
    parts = [[cut[(cut >= low) & (cut < high)] - low for cut in track.cuts] for low, high in pairwise(first)]
    return replace(track, cuts=()), parts


def _apart(problems: Sequence[Problem], budgets: np.ndarray) -> tuple[Track, list[list[np.ndarray]]]:
    """Every member by itself, with an equal part of what the bases leave."""
    bases = [problem.hierarchy.base_cost for problem in problems]
    each = (budgets - sum(bases)) // len(problems)
    alone = [
        Track.of("", allocate_all(problem, base + each, Hull())) for problem, base in zip(problems, bases, strict=True)
    ]
    cost, residual = (np.sum([getattr(track, name) for track in alone], axis=0) for name in ("cost", "residual"))
    whole = Track("equal parts, each spent alone", budgets, cost, residual, np.full(len(budgets), np.nan))
    return whole, [list(track.cuts) for track in alone]


def _record(track: Track, parts: list[list[np.ndarray]], problems: Sequence[Problem], drawn: Any) -> dict[str, Any]:
    members = []
    for cuts, problem, (_, number) in zip(parts, problems, drawn, strict=True):
        cost = np.array([problem.hierarchy.node_cost[cut].sum() for cut in cuts])
        none = np.full(len(cuts), np.nan)
        members.append(Track("", track.budgets, cost, none, none, [np.sort(number(cut)) for cut in cuts]).record())
    return {**track.record(), "members": members}


def _draw_tokens(
    context: tokens.TokenContext, number: np.ndarray, cuts: Sequence[np.ndarray]
) -> tuple[dict[str, Any], Number]:
    return drawn_tokens(context), lambda cut: number[cut]
