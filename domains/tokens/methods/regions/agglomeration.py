"""Agglomeration: neighbours on a graph are merged, the closest pair first, until one region is left."""

from __future__ import annotations

import heapq
from enum import IntEnum

import numpy as np

from hra.compiling import njit
from hra.model.disjoint_sets import find


class Linkage(IntEnum):
    """How far apart two regions are, from their sizes n, mean features f, mean textures t and centroids c in patches.

    COLOUR : |f1 - f2| + |t1 - t2| + (n1 + n2) / 10000, n in pixels; the sum of sizes keeps regions alike.
    WARD : n1 n2 / (n1 + n2) |f1 - f2|**2, the growth of the variance within regions (J. H. Ward, "Hierarchical grouping
        to optimize an objective function", JASA 1963).
    AVERAGE : 0.6 (1 - f1 . f2) + 0.4 |c1 - c2| / 64; with features of unit length the mean of all pairs' cosines
        (average linkage), while the distance is that of the centroids.
    """

    COLOUR = 0
    WARD = 1
    AVERAGE = 2


_COLOUR, _WARD = int(Linkage.COLOUR), int(Linkage.WARD)
_MIXED = -2  # the group of a region that is made of several
_AREA_SCALE = 10_000.0
_COSINE_SHARE, _DISTANCE_SHARE, _DISTANCE_SCALE = 0.6, 0.4, 64.0


def agglomerate(
    features: np.ndarray, sizes: np.ndarray, edges: np.ndarray, linkage: Linkage, *, group: np.ndarray | None = None
) -> np.ndarray:
    """Merge the closest of all neighbouring regions, one pair at a time.

    Regions stay connected. Where the graph is not, its parts are joined last, in the order of their numbers. Ties go to
    the smaller numbers.

    Parameters
    ----------
    features : float [L, D + 2], mean feature of each region, and what `Linkage` needs beside it in the last two columns
        (texture or centroid; ignored by WARD).
    sizes : [L], > 0.
    edges : int [E, 2], pairs of neighbours.
    group : int [L] or None; nothing is merged across groups while a group can still be merged within.

    Returns
    -------
    int32 [L - 1, 2], see `RegionTree.merges`.
    """
    group = np.zeros(len(sizes), np.int32) if group is None else group.astype(np.int32)
    rows = np.ascontiguousarray(features, np.float32)
    return _merge(rows, sizes.astype(np.float64), edges.astype(np.int64), int(linkage), group)


@njit(cache=True, nogil=True)
def _merge(features, sizes, edges, linkage, group):
    count = sizes.size
    nodes = max(2 * count - 1, 0)
    mean = np.zeros((nodes, features.shape[1]), np.float32)
    size, member = np.zeros(nodes), np.full(nodes, -1, np.int32)
    for v in range(count):  # assigned slices would take seconds to compile
        size[v], member[v] = sizes[v], group[v]
        for k in range(features.shape[1]):
            mean[v, k] = features[v, k]
    into = np.arange(nodes)  # the node that holds each node by now, compressed on the way
    seen = np.full(nodes, -1, np.int32)
    begin, end, neighbours = _neighbours(edges, count, nodes)
    # One entry for each region, that of its nearest neighbour, with whose it is. A pair is never nearer than what the
    # younger of the two had found when it came, so that the nearest of all is among them.
    heap = [(np.int64(2), 0.0, i - 1, i, -1) for i in range(1, count)]  # joins what no edge connects
    for v in range(count):
        if begin[v] < end[v]:
            heap.append(_nearest(mean, size, member, neighbours[begin[v] : end[v]], into, v, linkage))
    heapq.heapify(heap)
    merges = np.empty((max(count - 1, 0), 2), np.int32)
    made = 0
    while made < count - 1:
        tier, _, a, b, owner = heapq.heappop(heap)
        if tier == 2:
            a, b = find(into, a), find(into, b)
        if a == b or into[a] != a or into[b] != b:  # one of the two has been merged since
            if tier < 2 and into[owner] == owner:
                around = neighbours[begin[owner] : end[owner]]
                heapq.heappush(heap, _nearest(mean, size, member, around, into, owner, linkage))
            continue
        node = count + made
        merges[made, 0], merges[made, 1] = a, b
        made += 1
        into[a], into[b] = node, node
        _join(mean, size, member, a, b, node)
        neighbours = _with_room(neighbours, end[-1], end[a] - begin[a] + end[b] - begin[b])
        _list_neighbours(begin, end, neighbours, into, seen, a, b, node)
        if begin[node] < end[node]:
            around = neighbours[begin[node] : end[node]]
            heapq.heappush(heap, _nearest(mean, size, member, around, into, node, linkage))
    return merges


@njit(cache=True, nogil=True)
def _nearest(mean, size, member, neighbours, into, v, linkage):
    """A region and the nearest around it: whether that is across groups, distance, both in order, and whose entry."""
    best = (np.int64(2), np.inf, v, v, v)
    for other in neighbours:
        u = find(into, other)
        if u != v:
            a, b = min(u, v), max(u, v)
            across = int(member[a] == _MIXED or member[b] == _MIXED or member[a] != member[b])
            pair = (np.int64(across), _distance(mean, size, a, b, linkage), a, b, v)
            if pair < best:
                best = pair
    return best


@njit(cache=True, nogil=True)
def _join(mean, size, member, a, b, node):
    size[node] = size[a] + size[b]
    member[node] = member[a] if member[a] == member[b] else _MIXED
    for k in range(mean.shape[1]):
        mean[node, k] = (size[a] * mean[a, k] + size[b] * mean[b, k]) / size[node]


@njit(cache=True, nogil=True)
def _list_neighbours(begin, end, neighbours, into, seen, a, b, node):
    """Write the neighbours of the new node, those of its parts without repetition, behind all others."""
    seen[node] = node
    begin[node] = end[-1]
    for part in (a, b):
        for k in range(begin[part], end[part]):
            other = find(into, neighbours[k])
            if seen[other] != node:
                seen[other] = node
                neighbours[end[-1]] = other
                end[-1] += 1
    end[node] = end[-1]


@njit(cache=True, nogil=True)
def _with_room(array, used, more):
    if used + more <= array.size:
        return array
    larger = np.empty(2 * (used + more), array.dtype)
    for k in range(used):
        larger[k] = array[k]
    return larger


@njit(cache=True, nogil=True)
def _neighbours(edges, count, nodes):
    """Where the neighbours of each node begin and end [nodes], [nodes + 1], its last the first free place; and they."""
    begin, end = np.zeros(nodes, np.int64), np.zeros(nodes + 1, np.int64)
    for e in range(len(edges)):
        end[edges[e, 0]] += 1
        end[edges[e, 1]] += 1
    total = 0
    for v in range(count):
        begin[v], total = total, total + end[v]
        end[v] = begin[v]
    neighbours = np.empty(max(4 * total, 16), np.int64)
    for e in range(len(edges)):
        a, b = edges[e]
        neighbours[end[a]], neighbours[end[b]] = b, a
        end[a] += 1
        end[b] += 1
    end[nodes] = total
    return begin, end, neighbours


@njit(cache=True, nogil=True)
def _distance(mean, size, a, b, linkage):
    last = mean.shape[1] - 2
    if linkage == _WARD:
        return size[a] * size[b] / (size[a] + size[b]) * _squared(mean, a, b, 0, last)
    aside = np.sqrt(_squared(mean, a, b, last, last + 2))
    if linkage == _COLOUR:
        return np.sqrt(_squared(mean, a, b, 0, last)) + aside + (size[a] + size[b]) / _AREA_SCALE
    return _COSINE_SHARE * (1 - _dot(mean, a, b, last)) + _DISTANCE_SHARE * aside / _DISTANCE_SCALE


@njit(cache=True, nogil=True)
def _squared(mean, a, b, first, last):
    total = np.float32(0)
    for k in range(first, last):
        difference = mean[a, k] - mean[b, k]
        total += difference * difference
    return np.float64(total)


@njit(cache=True, nogil=True)
def _dot(mean, a, b, last):
    total = np.float32(0)
    for k in range(last):
        total += mean[a, k] * mean[b, k]
    return np.float64(total)
