"""What notebooks show of objects: tables and pictures, or nothing where a package for it is missing."""

from __future__ import annotations

import io
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import meshes
from hra.model.short_repr import html_table
from tests.helpers.allocators import Plain, Table

TREE = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1] * 5, cost_unit="<tiles>")


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def cells(html: str) -> list[str]:
    """The texts of a table whose tags are all closed."""
    parser = _Cells()
    parser.feed(html)
    assert parser.depth == 0 and html.startswith("<table>")
    return parser.texts


def pixels(png: bytes | None) -> np.ndarray:
    assert png is not None
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def test_cells_are_texts_and_no_tags() -> None:
    assert cells(html_table([("<b>", "1 & 2")], ("a", "b>"))) == ["a", "b>", "<b>", "1 & 2"]


@pytest.mark.parametrize("budget", [3, np.inf])
def test_allocations_are_tables(budget: float) -> None:
    allocation = hra.solve(TREE, budget, errors=[8, 4, 3, 1, 1])
    shown = cells(allocation._repr_html_())
    assert "cost, <tiles>" in shown and f"{allocation.residual:.4g} of 8" in shown
    assert any(text.startswith("the best possible") for text in shown)


def test_curves_are_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = Plain(TREE, Table([8, 4, 3, 1, 1]), hra.Hull()).curve(None)
    assert repr(curve) == "Curve(2 hull points, cost 1 to 3)"
    assert Image.fromarray(pixels(curve._repr_png_())).getcolors(5) is None  # there are more
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert curve._repr_png_() is None


@pytest.mark.gl
def test_meshes_are_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    mesh = meshes.load(hra.samples.path("skull.ply"))
    seen = pixels(mesh._repr_png_()).astype(int)
    drawn = np.abs(seen - seen[0, 0]).sum(axis=2) > 30
    # As wide as the frame, or as high.
    assert max(np.ptp(np.flatnonzero(drawn.any(axis=axis))) / drawn.shape[1 - axis] for axis in (0, 1)) > 0.9
    monkeypatch.setitem(sys.modules, "pyvista", None)
    assert mesh._repr_png_() is None


@pytest.mark.gl
def test_cluster_meshes_are_pictures() -> None:
    pytest.importorskip("pyvista")
    clusters = meshes.build(hra.samples.path("skull.ply"))
    seen, source = (
        pixels(mesh._repr_png_()).astype(int) for mesh in (clusters, meshes.load(hra.samples.path("skull.ply")))
    )
    assert np.abs(seen - source).mean() < 1
    assert (seen == pixels(clusters.with_cost("bytes")._repr_png_())).all()


def test_chains_are_tables() -> None:
    chain = meshes.lod_chain(hra.samples.path("skull.ply"), [0.5, 0.1])
    shown = cells(chain._repr_html_())
    assert shown[:3] == ["level", "triangles", "error, a bound"]
    assert [text.replace(",", "") for text in shown[4::3]] == [str(len(mesh.triangles)) for mesh in chain.levels]
