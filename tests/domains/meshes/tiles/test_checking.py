import json

import numpy as np
import pytest

from hra.domains import meshes
from hra.errors import HraError


def test_check_finds_what_is_wrong(skull_tree, tmp_path):
    skull_tree.save(tmp_path)
    path = tmp_path / "tileset.json"
    header = json.loads(path.read_text())
    node = header["root"]
    while len(node["children"]) == 1:
        (node,) = node["children"]
    lowest = node["children"]
    lowest[0]["content"], lowest[1]["content"] = lowest[1]["content"], lowest[0]["content"]
    lowest[0]["geometricError"] = 1.0
    path.write_text(json.dumps(header))
    report = meshes.check_tileset(tmp_path, cuts=20)
    assert report.falling_errors == 1 and report.loose_boxes >= 2 and not report.sound


def test_numbers_that_never_end_are_refused(skull_tree, tmp_path):
    with pytest.raises(HraError, match="cuts must be an integer from 0 to 1000000"):
        meshes.check_tileset(tmp_path, cuts=2**62)
    with pytest.raises(HraError, match="cuts must be an integer from 0 to 1000000"):
        meshes.check(skull_tree.mesh, cuts=2**62)
    with pytest.raises(HraError, match="frames must be an integer from 0 to 1000000"):
        meshes.orbit(np.array([[0.0, 0, 0], [1, 1, 1]]), 2**62, (160, 120))
