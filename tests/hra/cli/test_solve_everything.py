from __future__ import annotations

import hra
from hra.cli import solve_everything as core
from hra.console.output import _is_compiling


def test_every_traversal_is_run_and_holds() -> None:
    made = core.solve_everything()
    assert len(made) > 15 and all(hra.verify(allocation).ok for allocation in made[:-1])
    assert len(made[-1].hierarchy) > 10_000
    assert not _is_compiling()
