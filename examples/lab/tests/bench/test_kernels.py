"""The kernels suite at tiny sizes: rows are well formed, and no wrong answer gets through. Nothing depends on time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from hra.errors import BackendUnavailable, HraError, MissingExtra
from hra_lab.bench.devices import HOST, Device
from hra_lab.bench.harness import Case, Contender
from hra_lab.bench.kernels import peers_opencv, peers_torch, seeded_inputs
from hra_lab.bench.kernels.checks import check_arrays
from hra_lab.bench.kernels.kernel_suite import kernel_suite
from hra_lab.bench.kernels.peers import gather, host_only
from hra_lab.bench.kernels.rows import KernelBenchmark
from hra_lab.bench.suite import run
from hra_lab.commands.bench import bench

_ROW = {
    "name", "device", "n", "bytes", "ours_s", "ours_cpu_s", "peer", "peer_s", "ratio", "limit_s", "of_bandwidth",
    "threads", "peers", "absent",
}  # fmt: skip
_NAMES = [benchmark.name for benchmark in kernel_suite(HOST)]


@dataclass(frozen=True)
class WarpOnHost(Device):
    """Warp's CPU device treated as if it were a graphics card: its arrays are Warp's."""

    @property
    def on_host(self) -> bool:
        return False


@pytest.fixture(scope="module")
def record() -> dict:
    return run(kernel_suite(HOST), repeat=1, scale="small")


@cache
def _case(name: str) -> Case:
    (benchmark,) = (benchmark for benchmark in kernel_suite(HOST) if benchmark.name == name)
    return benchmark.build(benchmark.small, HOST)


@cache
def _outputs(name: str) -> tuple[Any, dict[str, Any]]:
    """The input of round 1, and what every contender makes of it."""
    case = _case(name)
    given = case.inputs(1)
    return given, {one.name: one.read(one.run(one.prepare(given))) for one in case.contenders}


def test_every_benchmark_has_a_row(record: dict):
    assert [row["name"] for row in record["rows"]] == _NAMES
    assert record["skipped"] == []


def test_rows_have_the_documented_fields(record: dict):
    for row in record["rows"]:
        assert row.keys() == _ROW
        assert row["device"] == "cpu"
        assert row["limit_s"] == row["bytes"] / record["settings"]["copy_bytes_per_s"]
        assert row["of_bandwidth"] == row["limit_s"] / row["ours_s"] > 0


def test_the_fastest_peer_is_quoted(record: dict):
    for row in record["rows"]:
        seconds = {name: peer["s"] for name, peer in row["peers"].items() if not name.startswith("hra")}
        if seconds:
            assert row["peer_s"] == min(seconds.values()) == seconds[row["peer"]]
            assert row["ratio"] == row["peer_s"] / row["ours_s"] > 0
        else:
            assert row["name"] == "steer_1024" and row["absent"].keys() == {"pyrtools"}


def test_threads_of_every_contender_are_stated(record: dict):
    for row in record["rows"]:
        assert row["threads"].keys() == {"hra", *row["peers"]}
        for name, threads in row["threads"].items():
            assert threads == (2 if name.endswith(", 2 threads") else 1)
    torch = [row for row in record["rows"] if any("torch" in name for name in row["peers"])]
    assert torch and all(2 in row["threads"].values() for row in torch)


def test_peers_that_are_not_installed_are_named(record: dict, monkeypatch: pytest.MonkeyPatch):
    def missing(device: Device) -> Any:
        raise MissingExtra.of("torch", "torch")

    monkeypatch.setattr(peers_torch, "load", missing)
    (row,) = run(kernel_suite(HOST), names=["hiz_1080p"], repeat=1, scale="small")["rows"]
    assert row["peer"] == "NumPy slices"
    assert row["absent"] == {"torch": "the package 'torch' is not installed"}


def test_a_row_without_peers_quotes_none():
    case = replace(_case("hiz_1080p"), contenders=_case("hiz_1080p").contenders[:1])
    row = KernelBenchmark("alone", lambda size, device: case, 1, 1, HOST).measure("small", 1, 1e9)
    assert (row["peer"], row["peer_s"], row["ratio"], row["peers"]) == (None, None, None, {})


@pytest.mark.parametrize("name", _NAMES)
def test_right_answers_pass(name: str):
    given, outputs = _outputs(name)
    assert _case(name).judge(given, outputs) == {}


@pytest.mark.parametrize("name", _NAMES)
def test_a_wrong_answer_of_any_contender_ends_the_run(name: str):
    given, outputs = _outputs(name)
    for contender, output in outputs.items():
        for wrong in _wrong(output):
            with pytest.raises(HraError, match=re.escape(f"{contender} gives a wrong answer")):
                _case(name).judge(given, outputs | {contender: wrong})


def _wrong(output: Any) -> Iterator[Any]:
    """The output with one array changed in turn; of trees that cannot be read, one over other points."""
    if is_dataclass(output) and not isinstance(output, type):
        for field in fields(output):
            yield replace(output, **{field.name: next(_wrong(getattr(output, field.name)))})
    elif isinstance(output, np.ndarray):
        yield ~output if output.dtype == np.bool_ else output - output.dtype.type(100)
    elif isinstance(output, (list, tuple)):
        for index, part in enumerate(output):
            yield [*output[:index], *_wrong(part), *output[index + 1 :]]
    else:
        wp = pytest.importorskip("warp")
        other = wp.array(np.zeros((1000, 3)), dtype=wp.vec3, device="cpu")
        yield wp.Bvh(other, other)


def test_arrays_are_compared_by_shape_and_value():
    ones = np.ones((2, 2), np.float32)
    check_arrays("x", [ones], [ones + np.float32(1e-6)], 1e-5)
    check_arrays("x", [np.full(2, -np.inf)], [np.full(2, -np.inf)], 0.0)
    for wrong in ([], [ones[:1]], [ones * 2], [ones * np.nan], [ones * np.inf]):
        with pytest.raises(HraError, match="x gives a wrong answer"):
            check_arrays("x", wrong, [ones], 1e-5)
    with pytest.raises(HraError, match="off by 255"):
        check_arrays("x", [np.array([255], np.uint8)], [np.array([0], np.uint8)], 1.0)


def test_arrays_of_a_device_stay_there():
    """All rows with Warp's arrays, on the way that a graphics card goes; its peers are those that can follow."""
    device = WarpOnHost()
    record = run(kernel_suite(device), repeat=1, scale="small", device=device)
    host_only = ["relevance_prune_64x4096"]
    assert record["skipped"] == [{"name": name, "reason": "does not run on cpu"} for name in host_only]
    assert [row["name"] for row in record["rows"]] == [name for name in _NAMES if name not in host_only]
    for row in record["rows"]:
        assert "NumPy" not in "".join(row["peers"])
        assert row["device"] == "cpu (CPU)"
        assert any(reason == "does not run on cpu" for reason in row["absent"].values())
        assert set(row["threads"].values()) == {1}


def test_devices_hold_arrays_of_their_own():
    array = np.arange(3.0)
    assert HOST.send(array) is HOST.fetch(array) is array
    device = WarpOnHost()
    sent = device.send(array)
    assert type(sent).__module__.startswith("warp")
    assert np.array_equal(device.fetch(sent), array)
    with pytest.raises(BackendUnavailable, match="there is no device 'cuda:99'"):
        Device("cuda:99")


def test_peers_of_the_host_do_not_follow_to_a_device():
    contender = Contender("slices", lambda image: image)
    assert gather(HOST, {"NumPy": host_only(contender)}) == ((contender,), {})
    contenders, absent = gather(WarpOnHost(), {"NumPy": host_only(contender), "OpenCV": peers_opencv.area_levels})
    assert contenders == ()
    assert absent.keys() == {"NumPy", "OpenCV"}


def test_inputs_are_seeded_and_new_in_every_round():
    makers = [
        seeded_inputs.images(32, 4, np.float32),
        seeded_inputs.images(32, 4, np.uint8),
        seeded_inputs.depths(90),
        seeded_inputs.relevance(2, 16),
        seeded_inputs.surface_points(50),
        lambda seed: seeded_inputs.boxes(20, seed),
        lambda seed: seeded_inputs.rectangles(20, 30, 40, seed),
    ]
    for make in makers:
        assert np.array_equal(make(1), make(1))
        assert not np.array_equal(make(1), make(2))


def test_rectangles_lie_within_the_image():
    x0, y0, x1, y1 = seeded_inputs.rectangles(1000, 30, 40, 0).T
    assert (x0 >= 0).all() and (x0 <= x1).all() and x1.max() == 39
    assert (y0 >= 0).all() and (y0 <= y1).all() and y1.max() == 29


def test_the_camera_maps_near_and_far_to_zero_and_one():
    matrix = seeded_inputs.perspective(9, 16)
    for distance, depth in ((seeded_inputs.NEAR, 0.0), (seeded_inputs.FAR, 1.0)):
        x, y, z, w = matrix @ [16 / 9 * distance * np.sqrt(1 / 3), distance * np.sqrt(1 / 3), distance, 1]
        assert (x / w, y / w, z / w) == pytest.approx((1, 1, depth))


def test_torch_without_cuda_is_absent(monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(Device, "__post_init__", lambda device: None)
    absent = gather(Device("cuda:0"), {"torch": peers_torch.pool_levels(1)})[1]
    assert absent == {"torch": "torch cannot use cuda:0"}


def test_torch_gets_its_threads_back():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    seen = []
    for contender in peers_torch.contenders(
        HOST, "torch", lambda given: seen.append(torch.get_num_threads()), lambda given: given, lambda output: output
    ):
        contender.run(None)
        assert torch.get_num_threads() == before
    assert seen == [1, 2]


def _call(*arguments: str) -> Any:
    app = typer.Typer()
    app.command()(bench)
    return CliRunner().invoke(app, arguments)


def test_the_command_prints_the_table_and_writes_json(tmp_path: Path):
    file = tmp_path / "kernels.json"
    arguments = ["kernels", "--scale", "small", "--repeat", "1", "--names", "hiz_*,mips_4096_u8", "--json", str(file)]
    result = _call(*arguments)
    assert result.exit_code == 0
    written = json.loads(file.read_text())
    assert [row["name"] for row in written["rows"]] == ["mips_4096_u8", "hiz_1080p"]
    for row in written["rows"]:
        assert row["name"] in result.stdout
        assert row["peer"] in result.stdout
        for peer, reason in row["absent"].items():
            assert f"skipped {peer} (" in result.stdout
            assert reason in result.stdout


def test_the_solver_runs_on_the_host_only(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hra_lab.bench.devices.Device", lambda name: WarpOnHost())
    error = _call("core", "--device", "cuda:0").exception
    assert isinstance(error, HraError)
    assert "the solver does not run on" in error.what


def test_cuda_is_the_first_device_of_its_kind_and_needs_no_other_flag(monkeypatch: pytest.MonkeyPatch):
    backend = SimpleNamespace(devices=lambda: ("cpu", "cuda:0"))
    monkeypatch.setattr("hra_lab.bench.devices.load_backend", lambda name: backend)
    assert Device("cuda") == Device("cuda:0")
    assert {row.device.name for row in kernel_suite(Device("cuda"))} == {"cuda:0"}
