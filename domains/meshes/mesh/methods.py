"""Methods of meshes that rooms above this one carry out: a mesh does not import what writes or draws it.

`hra.domains.meshes` names the functions when it is imported, which comes before the import of any of its modules. Each
of them imports its room when it is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

METHODS: dict[str, Callable[..., Any]] = {}
"""Functions of a mesh by the method that they are."""
