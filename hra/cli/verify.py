"""``hra verify``: check what a saved allocation states."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.console import JsonOption, running, show, write_json
from hra.errors import VerificationError


def verify(
    file: Annotated[Path, typer.Argument(help="An allocation that Allocation.save wrote.", show_default=False)],
    json_file: JsonOption = None,
) -> None:
    """Prove an allocation's cost, gain and bound in exact arithmetic, independently of what chose it."""
    with running(f"verifying {file.name}"):
        from hra.allocating.allocation import Allocation
        from hra.allocating.verification import verify as check

        found = check(Allocation.load(file))
    parts = {"proven": found.proven, "not proven here": found.unproven, "refuted": found.refuted}
    write_json(json_file, {"file": str(file), "bound": float(found.bound), **{k: list(v) for k, v in parts.items()}})
    show(f"{file}", [(heading, statement) for heading, part in parts.items() for statement in part])
    if not found.ok:
        fix = "do not trust this allocation; allocate again"
        raise VerificationError("; ".join(f"not true: {text}" for text in found.refuted), where=str(file), fix=fix)
