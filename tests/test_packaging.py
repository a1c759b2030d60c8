"""The wheel holds what the folders hold, under the right names, and its data is licensed."""

from __future__ import annotations

import os
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.helpers.environments import build_wheel, clean_copy, clean_environment, run
from tests.helpers.scripts import script

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DATA = sorted(file for file in (ROOT / "hra/samples").iterdir() if file.suffix != ".py" and file.is_file())
SHADERS = sorted((ROOT / "kernels/raster/shaders").iterdir())
PAGES = [file for file in (ROOT / "hra/pages/explore/web").iterdir() if file.is_file()]
# The import name of each top-level folder with code.
FOLDERS = {"hra": "hra", "domains": "hra.domains", "kernels": "hra.kernels"}


def packages_on_disk() -> set[str]:
    found = set()
    for folder, name in FOLDERS.items():
        for directory, subdirectories, files in os.walk(ROOT / folder, followlinks=False):
            subdirectories[:] = [entry for entry in subdirectories if entry != "__pycache__"]
            if any(file.endswith(".py") for file in files):
                assert "__init__.py" in files, f"{directory} has modules but no __init__.py"
                found.add(".".join([name, *Path(directory).relative_to(ROOT / folder).parts]))
    return found


def modules_on_disk() -> set[str]:
    return {
        "/".join([*name.split("."), *file.relative_to(ROOT / folder).parts])
        for folder, name in FOLDERS.items()
        for file in (ROOT / folder).rglob("*.py*")  # does not follow the links
        if file.suffix in (".py", ".pyi")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist of a clean copy (an old egg-info would add files of earlier builds)."""
    source = clean_copy(ROOT, tmp_path_factory.mktemp("source") / "hra")
    return build_wheel(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a clean environment with the wheel; it borrows the third-party packages of this one."""
    return clean_environment(tmp_path_factory.mktemp("environment"), wheel)


def test_the_package_list_names_every_folder():
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_every_folder_with_code_is_mapped_and_linked():
    assert PROJECT["tool"]["setuptools"]["package-dir"] == {name: folder for folder, name in FOLDERS.items()}
    for folder in ("domains", "kernels"):
        assert os.readlink(ROOT / "hra" / folder) == f"../{folder}"
        # The type checker does not walk into links by itself.
        assert f"hra/{folder}" in PROJECT["tool"]["basedpyright"]["include"]


def test_the_version_is_the_same_everywhere():
    import hra

    assert hra.__version__ == PROJECT["project"]["version"]
    assert f"version: {hra.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^## \[{re.escape(hra.__version__)}\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_constraints_pin_every_direct_dependency():
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = {
        re.split(r"[\[=<>]", requirement)[0]
        for requirements in [PROJECT["project"]["dependencies"], *extras]
        for requirement in requirements
    }
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+", line) for line in lines)
    assert {name.lower() for name in wanted} - {"hra"} <= {line.split("==")[0].lower() for line in lines}


def test_the_wheel_holds_all_modules_and_data_under_their_import_names(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    samples = {f"hra/samples/{file.name}" for file in DATA}
    shaders = {f"hra/kernels/raster/shaders/{file.name}" for file in SHADERS}
    pages = {f"hra/pages/explore/web/{file.name}" for file in PAGES}
    assert names == modules_on_disk() | samples | shaders | pages | {
        "hra/py.typed",
        "hra/domains/tokens/text/ranker.json",
    }


def test_a_wheel_with_compiled_code_is_the_pure_one_and_a_file(wheel: Path, tmp_path: Path) -> None:
    build = script("scripts/build_compiled.py")
    made = build.with_code(wheel, b"code", tmp_path / "out")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert made.name.startswith(f"hra-{PROJECT['project']['version']}-{python}-{python}-")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made) as new:
        assert sorted(new.namelist()) == sorted([*old.namelist(), "hra/compiled.bin"])
        information = new.namelist()[-1].partition("/")[0]
        own = {f"{information}/{name}" for name in ("RECORD", "WHEEL")}
        assert all(old.read(name) == new.read(name) for name in old.namelist() if name not in own)
        tags = re.findall(r"^Tag: (.+)$", new.read(f"{information}/WHEEL").decode(), re.MULTILINE)
        assert tags and all(tag.startswith(f"{python}-{python}-") and tag.split("-")[2] in made.name for tag in tags)
        lines = new.read(f"{information}/RECORD").decode().splitlines()
        assert sorted(line.rpartition(",")[0].rpartition(",")[0] for line in lines) == sorted(new.namelist())
        assert "hra/compiled.bin,sha256=VpTQii5T_8rgwxA-Wtb2B2q9lg6x-KVldwQLwQKPcCs,4" in lines
    installed = clean_environment(tmp_path / "environment", made)
    code = "from hra import shipped; print(shipped.PATH.read_bytes(), shipped.find((), ('', '', '')))"
    assert run(installed, "-I", "-c", code, cwd=tmp_path) == "b'code' None\n"


def test_the_laboratory_is_a_wheel_of_its_own(tmp_path: Path):
    source = clean_copy(ROOT / "examples/lab", tmp_path / "hra-lab")
    names = {
        name
        for name in zipfile.ZipFile(build_wheel(source, tmp_path / "wheel")).namelist()
        if ".dist-info/" not in name
    }
    folder = ROOT / "examples/lab"
    assert names == {
        str(file.relative_to(folder))
        for file in (folder / "hra_lab").rglob("*")
        if file.suffix in (".py", ".safetensors", ".txt", ".md")
    }


def test_the_wheel_carries_its_licences(wheel):
    licences = {"LICENSE", "NOTICE", *(f"LICENSES/{file.name}" for file in (ROOT / "LICENSES").iterdir())}
    names = zipfile.ZipFile(wheel).namelist()
    assert licences == {name.partition("/licenses/")[2] for name in names if "/licenses/" in name}


def test_the_wheel_works_in_a_clean_environment(installed, tmp_path):
    code = "import hra.kernels, hra.domains; hra.Hierarchy; print(hra.__file__, hra.samples.path('page.png'))"
    package, page = run(installed, "-I", "-c", code, cwd=tmp_path).split()
    assert Path(package).is_relative_to(installed.parents[1])
    assert Path(page).read_bytes() == (ROOT / "hra/samples/page.png").read_bytes()


def test_the_wheel_adds_no_other_top_level_name(installed, tmp_path):
    names = ["kernels", "domains", "tests", "examples"]
    code = f"from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    assert run(installed, "-I", "-c", code, cwd=tmp_path).strip() == "[]"


def test_importing_the_package_loads_no_optional_dependency():
    optional = [
        "torch",
        "trimesh",
        "meshoptimizer",
        "moderngl",
        "PIL",
        "scipy",
        "skimage",
        "matplotlib",
        "pyvista",
        "warp",
    ]
    code = f"import sys, hra, hra.kernels, hra.domains; print([n for n in {optional} if n in sys.modules])"
    assert run(sys.executable, "-I", "-c", code, cwd=ROOT).strip() == "[]"


@pytest.mark.parametrize("file", DATA, ids=lambda file: file.name)
def test_notice_names_every_data_file(file):
    assert re.search(rf"^hra/samples/{re.escape(file.name)}$", (ROOT / "NOTICE").read_text(), re.MULTILINE)


def test_notice_names_only_files_that_exist():
    named = re.findall(r"(?:hra/samples|LICENSES)/[\w.-]+\w", (ROOT / "NOTICE").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_data_stays_small():
    assert sum(file.stat().st_size for file in DATA) <= 6_000_000
