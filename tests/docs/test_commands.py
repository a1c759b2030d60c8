"""Commands and options that pages name exist."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from hra import samples
from hra.cli import app
from hra.domains import points
from hra.residency import Trace, save_trace
from tests.helpers.command import run_hra
from tests.helpers.scripts import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("[!_]*.md"))]
PAGES += [*sorted((ROOT / "docs/tutorials").glob("*.md")), *sorted((ROOT / "examples/lab/docs").rglob("[!_]*.md"))]
# Of the example of a plug-in, of a wish, and of prose.
OTHERS = ("hra waveform", "hra points view", "hra follows")
# In a sentence, and as a line of a block of code: "hra" also begins sentences.
TYPED = re.compile(r"`(hra [a-z][^`\n]+)`")
BLOCK = re.compile(r"^```.*?^```|^(?: {4}[^\n]*\n)+", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^ *(hra [a-z][^\n]+)$", re.MULTILINE)


def wrong(line: str) -> str:
    """What of a command that a page names does not exist; empty where all does."""
    command = get_command(app)
    context = command.make_context("hra", [], resilient_parsing=True)
    words = shlex.split(line.split("#")[0].replace("'", ""))[1:]
    while hasattr(command, "get_command") and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        below = command.get_command(context, words[0])  # pyright: ignore[reportAttributeAccessIssue]
        if below is None:
            return words[0]
        command, words = below, words[1:]
    options = {"--help", *(name for one in command.params for name in (*one.opts, *one.secondary_opts))}
    return " ".join(word for word in words if re.match(r"--[a-z]", word) and word.split("=")[0] not in options)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    found = [*TYPED.findall(text), *(line for block in BLOCK.findall(text) for line in LINE.findall(block))]
    missing = {line: wrong(line) for line in found if not line.startswith(OTHERS)}
    assert not {line: name for line, name in missing.items() if name}


@pytest.mark.slow
@pytest.mark.gl
@pytest.mark.parametrize(
    ("page", "least"), [("README", 2), ("docs/explore", 6), ("docs/meshes", 5), ("docs/points", 5), ("docs/tiles", 5)]
)
def test_every_command_of_a_page_runs_on_a_scan(
    page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(Path(samples.path("skull.ply")).parent, "hra/samples")
    for name, sample in (("scan.ply", "skull.ply"), ("photo.jpg", "photo.jpg"), ("map.jpg", "earth.jpg")):
        shutil.copy(samples.path(sample), name)
    points.save_points("huge.copc.laz", points.load_points("scan.ply"))
    shutil.copy("huge.copc.laz", "huge.laz")
    save_trace("trace.npz", Trace(np.arange(4), np.array([0, 1, 2], np.int32), np.array([64, 64, 64])))
    text = (ROOT / f"{page}.md").read_text("utf-8")
    typed = [shlex.split(line, comments=True) for block in BLOCK.findall(text) for line in LINE.findall(block)]
    runs = {shlex.join(words): run_hra(*words[1:]) for words in typed if words[2] != "view"}  # takes a display
    assert len(runs) >= least and not {line: code for line, code in runs.items() if code}


def test_commands_are_found_in_blocks_and_not_in_sentences() -> None:
    page = "hra reads files.\n\n```\nhra mesh info a.hra\n```\n\n    hra doctor\n\nSo does `hra tokens cost`.\n"
    assert [line for block in BLOCK.findall(page) for line in LINE.findall(block)] == [
        "hra mesh info a.hra",
        "hra doctor",
    ]
    assert TYPED.findall(page) == ["hra tokens cost"]


def test_what_does_not_exist_is_found() -> None:
    assert wrong("hra mesh knead a.ply") == "knead"
    assert wrong("hra mesh cut a.hra --slices 3 -o b.glb") == "--slices"
    assert wrong("hra mesh cut a.hra --triangles 3 -o b.glb # why") == ""
