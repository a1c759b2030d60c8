"""What several tests of mesh commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.helpers.command import run_hra


def run(*arguments: object) -> int:
    """Exit code of ``hra mesh`` with these arguments."""
    return run_hra("mesh", *arguments)


def result(folder: Path, *arguments: object) -> Any:
    """The JSON that a command on the ball gives."""
    command, *rest = arguments
    assert run(command, folder / "ball.hra", *rest, "--json", folder / "result.json") == 0
    return json.loads((folder / "result.json").read_text())
