"""Gains and nodes of chains in Warp, one thread per member and node or refinement; on the CPU and on CUDA."""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: UP018, RUF046

from __future__ import annotations

from typing import Any

from hra.kernels.cut.chains import Chains
from hra.kernels.warp_arrays import like, new, view, wp, zeros  # there Warp is told to be silent

wp.set_module_options({"fuse_fp": False, "enable_backward": False})
_SAME, _REPAIR = wp.constant(wp.float64(1 + 1e-12)), wp.constant(wp.float64(1 + 1e-6))


@wp.kernel
def add_level(
    begin: int,
    first_root: int,
    parent: wp.array(dtype=wp.int32),
    offsets: wp.array(dtype=wp.int32),
    children: wp.array(dtype=wp.int32),
    first_child: wp.array(dtype=wp.int32),
    last: wp.array(dtype=wp.bool),
    inherited: wp.array2d(dtype=wp.float64),
    kept: wp.array2d(dtype=wp.float64),
    slot: wp.array2d(dtype=wp.int32),
    gain: wp.array2d(dtype=wp.float64),
    node: wp.array2d(dtype=wp.int32),
    repaired: wp.array(dtype=wp.int32),
):
    """The slots and gains of a level's nodes, when those of their parents are known."""
    b, i = wp.tid()
    v = begin + i
    p = parent[v]
    before = inherited[b, v]
    total = wp.float64(0.0)
    rank = int(0)
    for k in range(offsets[p], offsets[p + 1]):
        other = inherited[b, children[k]]
        total += other
        if other > before or (other == before and children[k] < v):
            rank += 1
    r = int(p - first_root)
    if p < first_root:
        above = slot[b, p]
        r = first_child[above] + wp.where(last[above], 0, 1)
    for _ in range(rank):
        r = first_child[r]
    limit = kept[b, p]
    if total > limit * _SAME:
        if total > limit * _REPAIR:
            wp.atomic_add(repaired, b, 1)
        before *= limit / total
    if kept[b, v] > before:
        if kept[b, v] > before * _REPAIR:
            wp.atomic_add(repaired, b, 1)
        kept[b, v] = before
    slot[b, v] = r
    gain[b, r] = before - kept[b, v]
    node[b, r] = v


@wp.kernel
def show(node: wp.array2d(dtype=wp.int32), selected: wp.array2d(dtype=wp.bool), active: wp.array2d(dtype=wp.bool)):
    """Mark what is added."""
    b, r = wp.tid()
    if selected[b, r]:
        active[b, node[b, r]] = True


@wp.kernel
def hide(
    parent: wp.array(dtype=wp.int32),
    last: wp.array(dtype=wp.bool),
    node: wp.array2d(dtype=wp.int32),
    selected: wp.array2d(dtype=wp.bool),
    active: wp.array2d(dtype=wp.bool),
):
    """Unmark what the last child takes away."""
    b, r = wp.tid()
    if selected[b, r] and last[r]:
        active[b, parent[node[b, r]]] = False


@wp.kernel
def show_roots(first_root: int, active: wp.array2d(dtype=wp.bool)):
    """Mark the roots alone."""
    b, v = wp.tid()
    active[b, v] = v >= first_root


def chain_gains(chains: Chains, own: Any, inherited: Any) -> tuple[Any, ...]:
    """See :func:`hra.kernels.cut.chains.chain_gains`."""
    kept, given = wp.clone(view(own)), view(inherited)
    device, size = kept.device, (kept.shape[0], chains.last.shape[0])
    slot = new(kept.shape, wp.int32, device)
    gain, node, repaired = (
        zeros(size, wp.float64, device),
        zeros(size, wp.int32, device),
        zeros(size[0], wp.int32, device),
    )
    tree = [view(each) for each in (chains.parent, chains.offsets, chains.children, chains.first_child, chains.last)]
    for begin, end in chains.levels:
        inputs = [begin, chains.first_root, *tree, given, kept, slot, gain, node, repaired]
        wp.launch(add_level, (size[0], end - begin), inputs, device=device)
    return like(gain, own), like(node, own), like(repaired, own)


def chain_cut(chains: Chains, node: Any, selected: Any) -> Any:
    """See :func:`hra.kernels.cut.chains.chain_cut`."""
    nodes, taken = view(node), view(selected)
    active = new((nodes.shape[0], chains.parent.shape[0]), wp.bool, nodes.device)
    wp.launch(show_roots, active.shape, [chains.first_root, active], device=nodes.device)
    wp.launch(show, nodes.shape, [nodes, taken, active], device=nodes.device)
    # A launch of its own: a node may be added and taken away.
    wp.launch(hide, nodes.shape, [view(chains.parent), view(chains.last), nodes, taken, active], device=nodes.device)
    return like(active, node)
