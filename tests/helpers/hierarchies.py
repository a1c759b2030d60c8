"""Small random hierarchies of every kind: those that `hra.testing` uses."""

from __future__ import annotations

from hra.testing.instances import (
    KINDS,
    case,
    depths,
    random_chains,
    random_closed_set,
    random_dag,
    random_edges,
    random_flat,
    random_group_table,
    random_groups,
    random_parents,
    random_tree,
    random_values,
)

FORESTS = ("replace", "child", "add", "chains", "flat")

__all__ = [
    "FORESTS",
    "KINDS",
    "case",
    "depths",
    "random_chains",
    "random_closed_set",
    "random_dag",
    "random_edges",
    "random_flat",
    "random_group_table",
    "random_groups",
    "random_parents",
    "random_tree",
    "random_values",
]
