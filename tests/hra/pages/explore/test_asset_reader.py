"""The reader for the web: what the browser makes of an asset is what Python makes of it."""

from __future__ import annotations

import io
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import meshes
from tests.helpers.ranges import served

pytestmark = pytest.mark.browser
MODULE = Path(hra.__file__).parent / "pages/explore/web/asset.mjs"
PAGE = """<!doctype html><canvas width=320 height=240></canvas><script type=module>
import { openAsset, draw } from './asset.mjs';
window.open_ = async (name, plan, decoder) => {
  const asset = await openAsset(name, { decoder: decoder && (await import(decoder)).MeshoptDecoder });
  const mesh = await asset.read(plan.cut);
  draw(document.querySelector('canvas'), mesh, plan);
  const { bytes, requests } = asset.source;
  return { position: [...mesh.position], origin: asset.origin, triangles: [...mesh.triangles],
           colors: mesh.colors && [...mesh.colors], bytes, requests };
};
window.ready = true;
</script>"""


@pytest.fixture(scope="module")
def page(browser):
    return browser.new_page(viewport={"width": 320, "height": 240})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A skull with colours in both versions of the format, the page and its module."""
    place = tmp_path_factory.mktemp("web")
    mesh = meshes.load(hra.samples.path("skull.ply"))
    shade = np.full((len(mesh.positions), 4), 255, np.uint8)
    shade[:, 0] = np.arange(len(shade)) % 256
    colored = meshes.TriangleMesh(mesh.positions, mesh.triangles, meshes.VertexAttributes(colors=shade))
    built = meshes.build(colored)
    built.save(place / "one.hra")
    built.save(place / "two.hra", grid_bits=16)
    (place / "page.html").write_text(PAGE)
    shutil.copy(MODULE, place)
    return place


def open_in(page, folder, name, plan, decoder=None):
    with served(folder) as address:
        page.goto(f"{address}/page.html")
        page.wait_for_function("window.ready")
        return page.evaluate("([name, plan, decoder]) => open_(name, plan, decoder)", [name, plan, decoder])


def the_plan(folder, name, budget=3000):
    asset = meshes.open_asset(folder / name)
    camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1), viewport=(320, 240))
    cut = meshes.MeshAllocator(asset).allocate(camera, budget=budget).cut
    matrices = {"view": camera.view.tolist(), "projection": camera.projection.tolist()}
    return asset, camera, {"cut": cut.tolist(), **matrices}


def corners(positions, triangles):
    """The triangles by their corners, each from its least one on, sorted."""
    points = np.array(positions, np.float32).reshape(-1, 3)[np.array(triangles).reshape(-1, 3)]
    first = np.lexsort(points.transpose(2, 0, 1)[::-1], axis=1)[:, 0]
    turned = np.take_along_axis(points, ((first[:, None] + np.arange(3)) % 3)[..., None], axis=1)
    return np.unique(turned.reshape(len(turned), 9), axis=0)


def test_the_browser_reads_the_cut_that_python_reads(page, folder):
    asset, _, plan = the_plan(folder, "one.hra")
    found, own = open_in(page, folder, "one.hra", plan), asset.mesh(np.array(plan["cut"]))
    assert len(found["triangles"]) == own.triangles.size
    assert np.array_equal(corners(found["position"], found["triangles"]), corners(own.positions, own.triangles))
    size = (folder / "one.hra").stat().st_size
    assert found["bytes"] < size / 3 and found["requests"] < 30


def test_positions_count_from_the_origin(page, folder):
    skull = meshes.load(hra.samples.path("skull.ply"))
    far = meshes.from_arrays(skull.positions + np.array([381_797.0, 5_820_377.0, 0.0]), skull.triangles)
    meshes.build(far).save(folder / "far.hra")
    asset, _, plan = the_plan(folder, "far.hra")
    found, own = open_in(page, folder, "far.hra", plan), asset.mesh(np.array(plan["cut"]))
    assert tuple(found["origin"]) == asset.origin != (0.0, 0.0, 0.0)
    assert np.array_equal(corners(found["position"], found["triangles"]), corners(own.positions, own.triangles))


def test_compressed_pages_with_the_decoder(page, folder):
    viewers = os.environ.get("HRA_VIEWERS")
    if viewers is None:
        pytest.skip("set HRA_VIEWERS to a folder in which the packages of examples/lab/scripts/viewers are installed")
    shutil.copy(
        Path(viewers) / "node_modules/three/examples/jsm/libs/meshopt_decoder.module.js", folder / "decoder.mjs"
    )
    asset, _, plan = the_plan(folder, "two.hra")
    found, own = open_in(page, folder, "two.hra", plan, "./decoder.mjs"), asset.mesh(np.array(plan["cut"]))
    assert np.array_equal(corners(found["position"], found["triangles"]), corners(own.positions, own.triangles))
    shades = np.array(found["colors"]).reshape(-1, 4)[:, 0]
    assert len(np.unique(shades)) > 100


def test_the_picture_covers_what_the_camera_sees(page, folder):
    asset, camera, plan = the_plan(folder, "one.hra", 20_000)
    open_in(page, folder, "one.hra", plan)
    picture = np.array(Image.open(io.BytesIO(page.locator("canvas").screenshot())).convert("RGB"), np.int32)
    drawn = picture.sum(axis=2) > 0
    seen = np.zeros((240, 320), bool)
    mesh = asset.mesh(np.array(plan["cut"]))
    pixels = camera.project(mesh.positions[mesh.triangles].mean(axis=1)).pixels
    seen[np.floor(pixels[:, 1]).astype(int), np.floor(pixels[:, 0]).astype(int)] = True
    # Middles of triangles are drawn on, and nothing far from one is drawn.
    assert drawn[seen].mean() > 0.995
    spread = np.pad(seen, 4)
    near = np.any([spread[4 + y : 244 + y, 4 + x : 324 + x] for y in range(-4, 5) for x in range(-4, 5)], axis=0)
    assert drawn[~near].mean() < 0.001


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda data: b"no" + data[2:], "no .hra file"),
        (lambda data: data[:70] + b"x" + data[71:], "directory is damaged"),
        (lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2), "damaged"),
    ],
)
def test_damaged_files_are_refused(page, folder, change, what):
    (folder / "bad.hra").write_bytes(change((folder / "one.hra").read_bytes()))
    plan = the_plan(folder, "one.hra", 40_000)[2]
    with pytest.raises(Exception, match=what):
        open_in(page, folder, "bad.hra", plan)


def test_compressed_pages_without_a_decoder_are_refused(page, folder):
    with pytest.raises(Exception, match="decoder"):
        open_in(page, folder, "two.hra", json.loads(json.dumps(the_plan(folder, "two.hra")[2])))
