"""From the errors of a batch of trees to the gains of one forest that they share, and from cuts back to nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from hra.kernels.backends import adopt, check_fits, device_of, give_back, give_back_all, implementation, load_warp

PACKAGE = "hra.kernels.cut"
_OFFERED = ("warp", "reference")


@dataclass(frozen=True, eq=False)
class Chains:
    """A tree whose children are added one by one, with siblings in another order for each member of a batch.

    All nodes of a level have the same number of children, so that the refinements are one forest whatever the order: a
    slot of it takes one node here and another there.

    Parameters
    ----------
    parent : int32 [N], -1 for the roots, which are the last nodes; children come before their parents.
    offsets, children : int32 [N + 1] and [C], the children of each node in ascending order.
    first_child : int32 [R + 1], the successors of refinement r are ``first_child[r] .. first_child[r + 1] - 1``: first
        the next sibling, then the first child of what r adds.
    last : bool [R], whether r adds the last child, which takes the parent away.
    levels : begin and end of each level of nodes below the roots, from coarse to fine.
    """

    parent: Any
    offsets: Any
    children: Any
    first_child: Any
    last: Any
    levels: tuple[tuple[int, int], ...]

    @property
    def first_root(self) -> int:
        """The number of the first root."""
        return self.levels[0][1] if self.levels else 0

    def to(self, device: str) -> Chains:
        """The same as Warp arrays on ``device``; keep it where several calls share it."""
        names = [field.name for field in fields(self) if field.name != "levels"]
        return replace(self, **{name: load_warp().array(getattr(self, name), device=device) for name in names})


@dataclass(frozen=True, eq=False)
class ChainGains:
    """What each member gains by each refinement, and which node that adds.

    Parameters
    ----------
    gain : float64 [B, R].
    node : int32 [B, R].
    repaired : int32 [B], how many nodes had more error than their parents, which were capped.
    """

    gain: Any
    node: Any
    repaired: Any


def chain_gains(chains: Chains, own: Any, inherited: Any, *, backend: str = "auto") -> ChainGains:
    """The gains of a batch: siblings in falling inherited error, those that are equal in ascending order.

    What children inherit is scaled down where it adds up to more than their parent's error; what they keep is capped
    (`hra.Hierarchy` with nodes that are added one by one does the same, to the bit).

    Parameters
    ----------
    chains : on the device of the errors, see `Chains.to`.
    own, inherited : float64 [B, N], >= 0, error of each node's region while it or its parent shows it; NumPy, torch,
        Warp or any array with DLPack, on the host or a CUDA device.
    backend : "auto", "reference" or "warp".

    Raises
    ------
    ArrayError : another shape or dtype. BackendUnavailable : the backend is missing or cannot read the device.
    """
    given = [adopt(array, name) for array, name in ((own, "own"), (inherited, "inherited"))]
    for array, name in zip(given, ("own", "inherited"), strict=True):
        _check(array, name, np.float64, chains.parent, given[0].shape[0])
    found = implementation(PACKAGE, backend, given[0], _OFFERED).chain_gains(chains, *given)
    return ChainGains(*give_back_all(found, own))


def chain_cut(chains: Chains, node: Any, selected: Any, *, backend: str = "auto") -> Any:
    """Which nodes are shown, bool [B, N], after the ``selected`` refinements bool [B, R], which add ``node`` [B, R]."""
    nodes, taken = adopt(node, "node"), adopt(selected, "selected")
    _check(nodes, "node", np.int32, chains.last, nodes.shape[0])
    _check(taken, "selected", np.bool_, chains.last, nodes.shape[0])
    return give_back(implementation(PACKAGE, backend, nodes, _OFFERED).chain_cut(chains, nodes, taken), node)


def _check(array: Any, name: str, dtype: Any, like: Any, rows: int) -> None:
    check_fits(array, name, dtype, (rows, like.shape[0]), device_of(like))
