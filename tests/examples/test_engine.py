"""What engines copy, in C++ and WGSL, draws the cuts that hra draws by the same rule."""

from __future__ import annotations

import http.server
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.traversals.threshold import Threshold
from tests.domains.meshes.building.test_parts import crown

FOLDER = Path(__file__).parents[2] / "examples" / "engine"
CAMERAS, TOLERANCES = 20, (0.5, 1.0, 4.0, 20.0)
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
PAGE = """<script type=module>
window.run = async (code, jobs) => {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return null;
  const device = await adapter.requestDevice(), module = device.createShaderModule({ code });
  const problems = (await module.getCompilationInfo()).messages.filter(one => one.type === "error");
  if (problems.length) throw new Error(problems[0].message);
  const S = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  const layout = device.createBindGroupLayout({ entries: [0, 1, 2, 3, 4, 5].map(binding => ({
    binding, visibility: GPUShaderStage.COMPUTE,
    buffer: { type: ["uniform", "read-only-storage", "read-only-storage", "read-only-storage"][binding] ?? "storage" }
  })) });
  const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
  const [refine, draw] = ["refine", "draw"].map(entryPoint =>
    device.createComputePipeline({ layout: pipelineLayout, compute: { module, entryPoint } }));
  const made = (array, usage = S) => {
    const buffer = device.createBuffer({ size: Math.max(array.byteLength, 16), usage });
    device.queue.writeBuffer(buffer, 0, array);
    return buffer;
  };
  const results = [];
  for (const { sphere, error, links, lenses } of jobs) {
    const own = [made(new Float32Array(sphere)), made(new Float32Array(error)), made(new Int32Array(links))];
    for (const lens of lenses) {
      const clusters = links.length / 2, refined = made(new Uint32Array(error.length));
      const drawn = made(new Uint32Array(clusters + 1));
      const uniform = made(new Float32Array(lens), GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
      const group = device.createBindGroup({ layout, entries:
        [uniform, ...own, refined, drawn].map((buffer, binding) => ({ binding, resource: { buffer } })) });
      const commands = device.createCommandEncoder();
      for (const [pipeline, count] of [[refine, error.length], [draw, clusters]]) {
        const pass = commands.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(Math.ceil(count / 64));
        pass.end();
      }
      const size = 4 * (clusters + 1);
      const back = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      commands.copyBufferToBuffer(drawn, 0, back, 0, size);
      device.queue.submit([commands.finish()]);
      await back.mapAsync(GPUMapMode.READ);
      const words = [...new Uint32Array(back.getMappedRange())];
      results.push(words.slice(1, 1 + words[0]));
    }
  }
  return results;
};
window.ready = true;
</script>"""


def ball(detail: int, seed: int) -> meshes.TriangleMesh:
    """A bumpy sphere of about 12 * 4**detail triangles, open at its poles."""
    rng = np.random.default_rng(seed)
    count = 2**detail
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 3 * count + 1)[:-1], np.linspace(0, np.pi, 2 * count + 1)[1:-1])
    waves = [rng.normal() / 12 * np.cos(rng.integers(1, 7) * u + rng.integers(1, 7) * v) for _ in range(6)]
    height = 1 + np.sum(waves, axis=0)
    points = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=-1) * height[..., None]
    rows, columns = points.shape[:2]
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = at[:-1], at[1:], np.roll(at, -1, axis=1)[:-1], np.roll(at, -1, axis=1)[1:]
    sides = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (c, b, d))])
    return meshes.from_arrays(points.reshape(-1, 3) * rng.uniform(0.01, 100), sides)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ten meshes in both kinds of pages, with bounds and without, one of them the skull and one of leaves."""
    folder = tmp_path_factory.mktemp("engine")
    sources = [ball(3 + seed % 3, seed) for seed in range(8)]
    sources += [meshes.from_arrays(*crown(600, 0.1)), meshes.load(hra.samples.path("skull.ply"))]
    found = []
    for number, source in enumerate(sources):
        built = meshes.build(source, certified=number % 4 != 1)
        found.append(folder / f"{number}.hra")
        built.save(found[-1], grid_bits=16 if number % 3 == 2 else None)
    return found


def cameras(asset: meshes.MeshAsset, seed: int) -> list[tuple[hra.Camera, float]]:
    """From outside and from within, with wide and narrow lenses."""
    rng, found = np.random.default_rng(seed), []
    center, size = asset.bounds.mean(axis=0), float(np.linalg.norm(np.ptp(asset.bounds, axis=0)))
    for k in range(CAMERAS):
        eye = center + rng.normal(size=3) * size * 10.0 ** rng.uniform(-1.5, 1.5)
        target = center + rng.normal(size=3) * size / 4
        angle = float(rng.uniform(10, 110))
        camera = hra.Camera.perspective(eye, target, vertical_fov_degrees=angle, viewport=(1600, 900), near=1e-3 * size)
        found.append((camera, TOLERANCES[k % len(TOLERANCES)]))
    return found


def group_values(asset: meshes.MeshAsset) -> tuple[np.ndarray, np.ndarray]:
    """The sphere float64 [G, 4] and the error [G] of each group."""
    hierarchy = asset.hierarchy
    made = np.flatnonzero(hierarchy.removed_by >= 0)
    of = hierarchy.removed_by[made]
    own = hierarchy.attribute("error")
    if "hausdorff" in hierarchy.node:
        own = np.maximum(own, hierarchy.attribute("hausdorff"))
    sphere, error = np.zeros((len(hierarchy), 4)), np.zeros(len(hierarchy))
    sphere[of, :3], sphere[of, 3] = hierarchy.attribute("center")[made], hierarchy.attribute("radius")[made]
    error[of] = own[made]
    return sphere, error


def expected(asset: meshes.MeshAsset, camera: hra.Camera, tolerance: float) -> np.ndarray:
    """The cut by hra's own projection and traversal."""
    sphere, error = group_values(asset)
    pixels = error * camera.pixels_per_unit(sphere[:, :3], sphere[:, 3])
    of = asset.hierarchy.removed_by
    errors = np.where(of >= 0, pixels[of], 0.0)
    return hra.solve(asset.hierarchy, float("inf"), errors=errors, traversal=Threshold(tolerance)).cut


def numbers(camera: hra.Camera) -> list[float]:
    """The twelve numbers of the view, and those of the lens."""
    lens = camera._lens
    assert lens.scale == pytest.approx(1.0, abs=1e-12)
    return [
        *camera.view[:3].reshape(-1).tolist(),
        float(lens.focal_pixels),
        float(lens.near),
        float(lens.corner_cosine),
    ]


# The sum of errors may rise where a group's clusters are refined to more of them; here the largest counts.
@pytest.mark.filterwarnings("ignore:the metric is not monotone")
def test_cpp_draws_the_same_cuts(files: list[Path], tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    program = tmp_path / "select"
    flags = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run([compiler, *flags, str(FOLDER / "select.cpp"), "-o", str(program)], check=True, timeout=120)
    sizes = set()
    for number, file in enumerate(files):
        asset = meshes.open_asset(file)
        views = cameras(asset, number)
        lines = "".join(" ".join(map(repr, [*numbers(camera), pixels])) + "\n" for camera, pixels in views)
        run = subprocess.run([program, file], input=lines, capture_output=True, text=True, check=True, timeout=60)
        cuts = [np.array(line.split(), np.int64) for line in run.stdout.splitlines()]
        assert len(cuts) == CAMERAS
        for cut, (camera, pixels) in zip(cuts, views, strict=True):
            assert np.array_equal(cut, np.sort(expected(asset, camera, pixels)))
            sizes.add(len(cut))
    assert len(sizes) > CAMERAS


def test_cpp_refuses_what_is_no_file(files: list[Path], tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    program = tmp_path / "select"
    subprocess.run([compiler, "-std=c++17", str(FOLDER / "select.cpp"), "-o", str(program)], check=True, timeout=120)
    for name, content in (("empty", b""), ("cut", files[0].read_bytes()[:300])):
        (tmp_path / name).write_bytes(content)
        run = subprocess.run([program, tmp_path / name], input="", capture_output=True, text=True, timeout=60)
        assert run.returncode == 1 and run.stderr


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore:the metric is not monotone")
def test_wgsl_draws_the_same_cuts(files: list[Path]) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        pytest.skip("no Chromium here")
    jobs, plans = [], []
    for number, file in enumerate(files):
        asset = meshes.open_asset(file)
        (sphere, error), views = group_values(asset), cameras(asset, number)
        links = np.stack([asset.hierarchy.added_by, asset.hierarchy.removed_by], axis=1)
        lenses = [[*numbers(camera), pixels] for camera, pixels in views]
        jobs.append(
            {"sphere": sphere.reshape(-1).tolist(), "error": error.tolist(), "links": links.reshape(-1).tolist()}
        )
        jobs[-1]["lenses"] = lenses
        plans += [(asset, camera, pixels) for camera, pixels in views]
    results = _in_browser(playwright, chromium, jobs)
    if results is None:
        pytest.skip("the browser has no WebGPU adapter")
    exact = 0
    for drawn, (asset, camera, pixels) in zip(results, plans, strict=True):
        sphere, error = group_values(asset)
        ratio = error * camera.pixels_per_unit(sphere[:, :3], sphere[:, 3]) / pixels
        # What single precision cannot tell apart may go either way; without such groups the cut is the same.
        close = np.abs(ratio - 1) < 1e-3
        near = [close[np.maximum(of, 0)] & (of >= 0) for of in (asset.hierarchy.added_by, asset.hierarchy.removed_by)]
        unlike = np.setxor1d(drawn, expected(asset, camera, pixels))
        assert (near[0] | near[1])[unlike].all()
        exact += not len(unlike)
    assert exact > 0.9 * len(plans)


def _in_browser(playwright, chromium: str, jobs: list) -> list[list[int]] | None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE.encode())

        def log_message(self, format: str, *args) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)  # WebGPU asks for a secure origin
    threading.Thread(target=server.serve_forever, daemon=True).start()
    flags = [
        "--no-sandbox",
        "--enable-unsafe-webgpu",
        "--use-webgpu-adapter=swiftshader",
        "--enable-unsafe-swiftshader",
    ]
    flags += ["--enable-features=Vulkan,WebGPU", "--use-vulkan=swiftshader", "--use-angle=swiftshader"]
    try:
        with playwright.sync_playwright() as run:
            browser = run.chromium.launch(executable_path=chromium, args=flags)
            page = browser.new_page()
            page.set_default_timeout(240_000)
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.wait_for_function("window.ready")
            code = (FOLDER / "select.wgsl").read_text()
            found = page.evaluate("([code, jobs]) => run(code, jobs)", [code, jobs])
            browser.close()
            return found
    finally:
        server.shutdown()
