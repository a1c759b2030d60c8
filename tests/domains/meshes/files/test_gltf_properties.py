"""A glTF scene changed property by property: what Khronos' validator calls an error is refused or a named leniency."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from hra.errors import HraError
from tests.helpers import gltf_validator
from tests.helpers.hostile import gltf, gltf_extensions, sweep

PAGE = Path(__file__).parents[4] / "docs/readers.md"
needs_validator = pytest.mark.skipif(
    "not __import__('tests.helpers.gltf_validator', fromlist=['x']).available()", reason="no glTF validator"
)


def refusal(path: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            meshes.load(path)
        except HraError as error:
            assert error.where and error.fix
            return error.what
    return ""


@needs_validator
@pytest.mark.parametrize("share", [0.06, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_validator_agrees(share: float, tmp_path: Path) -> None:
    rng, names, paths = np.random.default_rng(3), [], []
    for number, (name, content) in enumerate(sweep.documents()):
        if rng.random() < share:
            names.append(name)
            paths.append(tmp_path / f"{number}.gltf")
            paths[-1].write_bytes(content)
    assert len(paths) > 300
    for name, path, codes in zip(names, paths, gltf_validator.errors(paths), strict=True):
        refused = refusal(path)
        if refused and not codes:
            assert any(reason in refused for reason in sweep.NOT_READ), (name, refused)
        if codes and not refused:
            assert sweep.leniency(codes, name), (name, codes)


@needs_validator
def test_labels_of_the_made_up_files_are_the_validators(tmp_path: Path) -> None:
    cases = [case for module in (gltf, gltf_extensions) for case in module.cases() if case.accepted]
    paths = []
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in case.beside.items():
            (folder / name).write_bytes(content)
        paths.append(folder / f"case{case.suffix}")
        paths[-1].write_bytes(case.content)
    for case, codes in zip(cases, gltf_validator.errors(paths), strict=True):
        assert bool(codes) == bool(case.lenient), (case.name, codes)
        assert not codes or case.lenient in sweep.leniency(codes, case.name), (case.name, codes)


def test_leniencies_are_documented() -> None:
    section = PAGE.read_text().partition("### glTF: leniencies")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `([a-z ]+)` \|", section, re.MULTILINE))
    assert listed == set(sweep.LENIENCIES)
    assert {case.lenient for case in gltf.cases() if case.lenient} <= listed
