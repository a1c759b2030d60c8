"""The runtime suite runs in its small sizes, and its rows mean what they say."""

from __future__ import annotations

import json

import pytest

from tests.helpers.command import run_hra


@pytest.mark.gl
def test_rows_hold_parts_of_frames_and_what_culling_saves(tmp_path, capsys):
    file = tmp_path / "runtime.json"
    assert run_hra("bench", "runtime", "--scale", "small", "--repeat", "1", "--json", str(file)) == 0
    shown = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads(file.read_text())["rows"]}
    assert list(rows) == ["frame_1", "frame_100", "frame_10000", "one_pixel_100", "occlusion_interior"]
    assert all(name in shown for name in rows)
    frame, peers, inside = rows["frame_100"], rows["one_pixel_100"], rows["occlusion_interior"]
    assert 0 < frame["visible"] <= frame["drawn"] <= frame["in_frustum"] <= frame["triangles"]
    assert frame["ours_s"] == pytest.approx(sum(frame["parts"].values())) and min(frame["parts"].values()) >= 0
    assert inside["hidden_visible"] == 0 <= inside["saved_drawn"] <= inside["saved"] < 1
    assert 0.5 < inside["of_full_resolution"] <= 1
    everything = peers["peers"]["everything, no culling"]
    assert everything["drawn"] == everything["triangles"] == 2 * 42_480 > peers["drawn"] > 0
