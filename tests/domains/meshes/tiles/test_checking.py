import json

from hra.domains import meshes


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
