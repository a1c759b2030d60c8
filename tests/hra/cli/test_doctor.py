"""``hra doctor`` names every package that an extra brings, and what an extra lacks."""

from __future__ import annotations

import json
import tomllib

import pytest

from hra.cli import doctor
from hra.kernels import operations
from hra.kernels.operations import OPERATIONS
from tests.helpers.scripts import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
USERS = set(EXTRAS) - {"all", "docs", "fuzz", "test"}


def test_every_extra_is_listed_with_its_packages() -> None:
    found = doctor.packages_by_extra()
    assert set(found) == USERS | {""} and {"numpy", "numba", "typer"} <= found[""]
    assert found["points"] == {"laspy", "zstandard"} and found["demo"] >= found["tokens"] | found["meshes"] | {
        "trimesh",
        "matplotlib",
    }
    assert not any("hra" in packages for packages in found.values())


@pytest.mark.parametrize("package", ["laspy", "pyarrow", "OpenImageIO", "onnxruntime", "transformers", "starlette"])
def test_an_extra_says_what_it_lacks(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: "not installed" if name == package else known(name))
    monkeypatch.setattr(doctor, "_backends", dict)
    monkeypatch.setattr(doctor, "_opengl", dict)
    extras = doctor.report()["extras"]
    lacking = {extra for extra, packages in doctor.packages_by_extra().items() if extra and package in packages}
    assert lacking and all(package in extras[extra] and f"hra[{extra}]" in extras[extra] for extra in lacking)
    assert all(package not in state for extra, state in extras.items() if extra not in lacking)


@pytest.mark.gl
def test_the_report_of_a_gpu_has_every_kernel_and_times() -> None:
    found = doctor.gpu_report()
    cells = found["kernels"] | found["refused"]
    assert len(cells) == 2 * len(OPERATIONS) and {"ok", "refused"} <= set(found["summary"])
    assert all(cell["state"] == "ok" and cell["seconds"] > 0 for cell in found["kernels"].values())
    assert not {"wrong", "failed"} & set(found["summary"]) and found["summary"]["processor seconds"] > 0
    assert found["device"]["name"] and found["seconds"]["build_pyramid mean"] > 0
    assert json.loads(json.dumps(found)) == found


def test_a_kernel_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(given: object, backend: str) -> list[object]:
        raise ZeroDivisionError("driver")

    monkeypatch.setattr(operations, "OPERATIONS", (operations.Operation("bad", fails),))
    monkeypatch.setattr(doctor, "_gpu_times", lambda device: {})
    assert doctor.gpu_report()["kernels"]["bad (warp)"] == {"state": "failed", "reason": "ZeroDivisionError: driver"}
