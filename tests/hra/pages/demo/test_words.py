from __future__ import annotations

from hra.pages.demo.words import LABELS, conclusion, label, shown


def test_figures_have_words_and_units() -> None:
    assert (label("pool_bytes"), shown("pool_bytes", 3 * 2**20)) == ("pool", "3.00 MiB")
    assert (label("new_figure"), shown("new_figure", 7)) == ("new figure", "7")
    assert shown("gap", 0.0) == "0 %, proven" and shown("gap", 0.0123) == "1.2 %"
    assert not any("_" in words for words, _ in LABELS.values())


def test_conclusions_are_of_the_run() -> None:
    found = {"triangles": 5000, "source_triangles": 20_000, "residual_gap": 0.02}
    assert conclusion("meshes", found) == (
        "5,000 triangles, 25% of the scan, leave an error that no other choice within the budget could lower by more "
        "than 2 %."
    )
    assert "proven" in conclusion("meshes", {**found, "residual_gap": 0.0})
    assert "geometry gets 25%" in conclusion("pool", {"budget_bytes": 100, "mesh_bytes": 20, "texture_bytes": 60})
