"""The site is built without a warning; its generated pages say what their sources say."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.scripts import ROOT, script

pytest.importorskip("sphinx")
GENERATED = shutil.ignore_patterns("_build", "_examples", "_extra", "evidence", "gallery", "reference")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources of the site beside what they link to."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=GENERATED)
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=GENERATED)
    for name in ("README.md", "domains", "hra", "kernels", "scripts", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def build(copy: Path, *options: str, docs: str = "docs") -> Path:
    """The folder of a built site; any warning fails."""
    out = copy / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "-q", *options, str(copy / docs), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_pages_are_built_without_a_warning(copy: Path) -> None:
    out = build(copy, "-b", "html", "-D", "hra_quick=1", "-D", "plot_gallery=0")
    page = (out / "start.html").read_text("utf-8")
    assert "Ten lines" in page
    assert (out / "gallery/meshes/mesh_lod.html").exists() and (out / "searchindex.js").exists()


def test_the_pages_of_the_laboratory_are_built_without_a_warning(copy: Path) -> None:
    out = build(copy, "-b", "html", docs="examples/lab/docs")
    assert (out / "evidence/core-2-core-cpu.html").exists() and (out / "decisions.html").exists()


def test_no_page_asks_another_host(copy: Path) -> None:
    sources = [*(copy / "docs").glob("_static/*.css"), *(copy / "docs/_ext").glob("*.py"), copy / "docs/conf.py"]
    assert not [path for path in sources if "http" in path.read_text("utf-8")]


@pytest.mark.slow
def test_the_whole_reference_is_built_without_a_warning(copy: Path) -> None:
    out = build(copy, "-b", "html", "-D", "plot_gallery=0")
    for line in (ROOT / "docs/public-api.txt").read_text("utf-8").splitlines():
        name = line.split("(")[0]
        if name.count(".") == 1 and name[4:5].isalpha():
            assert (out / f"reference/names/{name}.html").exists(), name
    assert "TokenSet" in (out / "reference/hra.domains.tokens.html").read_text("utf-8")


def test_a_benchmark_page_has_every_row_and_reason() -> None:
    evidence = script("examples/lab/docs/_ext/evidence.py")
    for path in sorted((ROOT / "examples/lab/docs/benchmarks").glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        page = evidence.page(path.stem, record)
        assert all(f"| `{row['name']}` |" in page for row in record["rows"])
        assert all(str(one) in page for one in record["skipped"])


def test_an_example_gets_the_heading_that_its_sentence_begins_with() -> None:
    gallery = script("docs/_ext/gallery.py")
    shown = gallery.with_heading('"""Two words: and more.\n\nRun it.\n"""\n\nprint(1)\n')
    assert shown.startswith('"""\nTwo words\n=========\n\nTwo words:') and shown.endswith("\nprint(1)\n")
    with pytest.raises(ValueError, match="docstring"):
        gallery.with_heading("print(1)\n")


def test_what_an_entry_says_stands_below_its_name() -> None:
    lines = ["Do it.", "", "Parameters", "----------", "a, b : int [N], one : two", "    and more.", "", "Text : here."]
    script("docs/_ext/reference.py").part_entries(None, "", "", None, None, lines)
    assert lines[4:7] == ["a, b", "    int [N], one : two", "    and more."]


def test_nothing_outside_of_a_list_is_parted() -> None:
    lines = ["Text : here.", "", "Examples", "--------", ">>> {1 : 2}"]
    kept = list(lines)
    script("docs/_ext/reference.py").part_entries(None, "", "", None, None, lines)
    assert lines == kept


def test_the_page_of_commands_has_every_command_and_option() -> None:
    commands = script("docs/_ext/commands.py")
    page = commands.page()
    for name, command in commands.commands():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert f"| [`{name}`](#" in page
        assert all(f"`{one}`" in section for option in command.params for one in option.opts if one.startswith("--"))
    assert "hra mesh cut" in page and "`--triangles`" in page
