"""Export meshes in every format, put the files before the programs that open them, and count what these say.

Run ``python examples/lab/scripts/judge_tiles.py MESH ... --npm FOLDER [--pictures FOLDER] [--tile-triangles N]``.
Needs Node 20, npm, Chromium and ``pip install playwright``. The packages of
``examples/lab/scripts/viewers/package.json`` are installed into
``--npm``, a folder outside of the repository. All is served on the loopback; no page asks for anything else.
"""

from __future__ import annotations

import argparse
import http.server
import io
import json
import shutil
import subprocess
import threading
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from PIL import Image

import hra
from hra.domains import meshes, tiles
from hra.domains.meshes.tiles.usd import write_usd
from hra.domains.meshes.tiles.whole import quarter_levels

VIEWERS = Path(__file__).parent / "viewers"
SIZE, FOV, TARGET = (640, 480), 45.0, 2.0
CHROMIUM = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, with the types that browsers insist on, and no log."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Served:
    """A folder on the loopback for as long as the ``with`` block lasts; ``url`` is its address."""

    def __init__(self, folder: Path) -> None:
        handler = partial(Handler, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Served:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def camera_of(folder: Path, distance: float = 1.0) -> tuple[hra.Camera, dict[str, Any]]:
    """A camera that sees all of a tileset, in the tileset's frame, and the same for the pages."""
    box = np.array(json.loads((folder / "tileset.json").read_text())["root"]["boundingVolume"]["box"])
    reach = np.abs(box[3:].reshape(3, 3)).sum(axis=0)
    bounds = np.array([box[:3] - reach, box[:3] + reach])
    options = {"azimuth": 30.0, "elevation": 20.0, "up": (0, 0, 1), "viewport": SIZE, "vertical_fov_degrees": FOV}
    far = float(np.linalg.norm(reach) / np.sin(np.radians(FOV / 2)) * distance)
    camera = hra.Camera.orbit(bounds, distance=far, **options)
    eye, middle = camera.position, bounds.mean(axis=0)
    place = {"eye": np.asarray(eye).tolist(), "target": middle.tolist(), "up": [0, 0, 1], "fov": FOV}
    return camera, place | {"near": far / 100, "far": far * 10}


def frame_of(tileset: tiles.Tileset, camera: hra.Camera) -> dict[str, list[Any]]:
    """What select.mjs needs of a camera: error, distance and whether it is in view, of each tile by its content."""
    distance = tileset.volumes.distances(np.asarray(camera.position))
    in_view = tileset.volumes.in_view(camera)
    rows = zip(tileset.seen(camera).errors.tolist(), distance.tolist(), in_view.tolist(), strict=True)
    return {name: list(row) for name, row in zip(tileset.names, rows, strict=True) if name}


def select(npm: Path, url: str, frames: list[Any], cache: float, target: float, updates: int = 40) -> dict[str, Any]:
    """What 3d-tiles-renderer does in Node along the ``frames``."""
    task = {"url": url, "frames": frames, "cache": cache, "target": target, "updates": updates}
    (npm / "task.json").write_text(json.dumps(task))
    return node(npm, "select.mjs", "task.json")


def install(npm: Path) -> None:
    """The packages, and the scripts beside them: modules are found from where a script lies."""
    npm.mkdir(parents=True, exist_ok=True)
    for file in VIEWERS.iterdir():
        shutil.copy(file, npm)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=npm, check=True)


def node(npm: Path, *arguments: str) -> Any:
    """What a script prints, as JSON."""
    done = subprocess.run(["node", *arguments], cwd=npm, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def judge(source: Path, chosen: argparse.Namespace, url: str, browser: Any) -> dict[str, Any]:
    """What every judge says of a mesh in each format; its files are served below ``url``."""
    folder, npm = chosen.npm / "tiles" / source.stem, chosen.npm
    tree = meshes.build_tiles(source, chosen.tile_triangles)
    files = tree.save(folder)
    report, sound = meshes.check(tree.mesh, cuts=200), meshes.check_tileset(folder, cuts=200)
    valid = node(npm, "validate.mjs", str(folder))
    camera, view = camera_of(folder)
    address = f"{url}/tiles/{folder.name}/tileset.json"
    frames = [frame_of(tiles.read_tileset(folder / "tileset.json"), camera)]
    selected = select(npm, address, frames, 2**40, TARGET)
    record = {
        "triangles": sound.triangles,
        "tiles": sound.tiles,
        "bytes": sum(file.stat().st_size for file in files),
        "check: sound": report.sound and sound.sound,
        "cracked of 200": sound.cracked_cuts,
        "validator: files, errors, warnings": [valid["files"], valid["errors"], valid["warnings"]],
        "3d-tiles-tools: files": tools(folder, npm),
        "3d-tiles-renderer: drawn, failures": [len(selected["tiles"][0]), len(selected["failures"])],
    }
    drawn = [int(tile["uri"][4:8]) for tile in selected["tiles"][0]]
    pictures = [ours(tree, drawn, view)]
    for page in ("three", "cesium"):
        query = f"tileset={quote(address)}&target={TARGET}&view={quote(json.dumps(view))}"
        counts, picture = shown(browser, f"{url}/{page}.html?{query}")
        record[f"{page}: drawn, failures"] = counts
        pictures.append(picture)
    if chosen.pictures:
        beside = np.concatenate(pictures, axis=1)
        Image.fromarray(beside).save(chosen.pictures / f"{source.stem}.png")
    return record | other_formats(source, npm)


def ours(tree: meshes.TileTree, chosen: list[int], view: dict[str, Any]) -> np.ndarray:
    """The same tiles by our renderer, in the mesh's own frame, whose y axis points up."""
    eye, target, up = ([x, z, -y] for x, y, z in (view["eye"], view["target"], view["up"]))
    camera = hra.Camera.perspective(eye, target, up, vertical_fov_degrees=FOV, viewport=SIZE)
    return meshes.render(tree.mesh, np.array(chosen), camera)


def other_formats(source: Path, npm: Path) -> dict[str, Any]:
    """GLB, GLB with levels and USD: how large they are, and what reads them."""
    folder = npm / "others" / source.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    chain = quarter_levels(source)
    compressed = meshes.compressed_glb(meshes.load(source).with_normals())
    (folder / "one.glb").write_bytes(compressed)
    chain.export_one(folder / "levels.glb")
    write_usd(chain, folder / "levels.usdz")
    valid = node(npm, "validate.mjs", str(folder))
    return {
        "glb: bytes": len(compressed),
        "glb-lod: levels, bytes": [len(chain.levels), (folder / "levels.glb").stat().st_size],
        "glb and glb-lod: files, errors, warnings": [valid["files"], valid["errors"], valid["warnings"]],
        "usd: variants read, bytes": [variants_of(folder / "levels.usdz"), (folder / "levels.usdz").stat().st_size],
    }


def variants_of(path: Path) -> int:
    """How many variants USD reads a mesh from."""
    from pxr import Usd, UsdGeom

    stage: Any = Usd.Stage.Open(str(path))  # pyright: ignore[reportAttributeAccessIssue]
    chosen, read = stage.GetDefaultPrim().GetVariantSets().GetVariantSet("LOD"), 0
    for name in chosen.GetVariantNames():
        chosen.SetVariantSelection(name)
        mesh = UsdGeom.Mesh.Get(stage, "/Object/Mesh")  # pyright: ignore[reportAttributeAccessIssue]
        read += len(mesh.GetFaceVertexCountsAttr().Get()) > 0
    return read


def tools(folder: Path, npm: Path) -> str:
    """Whether 3d-tiles-tools reads all of the tileset: it packs and unpacks it without a difference."""
    packed, again = npm / "packed.3tz", npm / "unpacked"
    shutil.rmtree(again, ignore_errors=True)
    packed.unlink(missing_ok=True)
    command = ["npx", "3d-tiles-tools", "convert", "-f", "-i"]
    for source, target in ((folder.resolve() / "tileset.json", packed), (packed, again)):
        done = subprocess.run([*command, str(source), "-o", str(target)], cwd=npm, capture_output=True, text=True)
        if done.returncode:
            return f"failed: {done.stderr[-200:]}"
    names = [file.name for file in folder.glob("tile*")]
    same = [(again / name).read_bytes() == (folder / name).read_bytes() for name in names]
    return f"{sum(same)} of {len(same)} files"


def shown(browser: Any, address: str) -> tuple[list[int], np.ndarray]:
    """A page until it has drawn what it wants: how many tiles, how much failed, and a picture [H, W, 3]."""
    page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(address)
    try:
        page.wait_for_function("window.drawn", timeout=120_000)
        drawn = page.evaluate("Array.isArray(window.drawn) ? window.drawn.length : window.drawn")
        failures = failed + page.evaluate("window.failures")
    except Exception as error:  # of Playwright, whose classes are known only with it
        drawn, failures = 0, [*failed, str(error)[:200]]
    picture = np.array(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    page.close()
    if failures:
        print(failures)
    return [drawn, len(failures)], picture


def main() -> None:
    """One column of counts for each tileset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("meshes", nargs="+", type=Path)
    parser.add_argument("--npm", type=Path, required=True, help="where npm packages go, outside of the repository")
    parser.add_argument("--pictures", type=Path, help="where pictures go")
    parser.add_argument("--tile-triangles", type=int, default=8192)
    chosen = parser.parse_args()
    chosen.npm = chosen.npm.resolve()
    from playwright.sync_api import sync_playwright

    install(chosen.npm)
    below = chosen.npm / "tiles"
    shutil.rmtree(below, ignore_errors=True)
    below.mkdir()
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with Served(chosen.npm) as served, sync_playwright() as run:
        browser = run.chromium.launch(executable_path=chromium, args=CHROMIUM)
        for source in chosen.meshes:
            record = judge(source, chosen, served.url, browser)
            print(source.name, json.dumps(record, indent=1), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
