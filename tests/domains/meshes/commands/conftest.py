"""What the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest
import trimesh

from tests.helpers.mesh_commands_cases import run


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ball")
    trimesh.creation.icosphere(subdivisions=5).export(folder / "ball.ply")
    assert run("build", folder / "ball.ply", "-o", folder / "ball.hra", "--json", folder / "build.json") == 0
    assert run("build", folder / "ball.ply", "-o", folder / "plain.hra", "--no-certified") == 0
    return folder
