"""The Python blocks of tutorials and of some other pages run as they stand, and print what is stated below them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hra import samples
from tests.helpers.scripts import ROOT

DOCS = ROOT / "docs"
# The index has no blocks; it leads to the others.
TUTORIALS = [path for path in sorted((DOCS / "tutorials").glob("*.md")) if path.stem != "index"]
TUTORIALS += [DOCS / f"{name}.md" for name in ("how-to-choose", "pools", "residency", "start")]
TUTORIALS += [DOCS / f"{name}.md" for name in ("meshes", "models", "points", "textures")]
PAGES = [*TUTORIALS, pytest.param(DOCS / "interop.md", marks=pytest.mark.gl)]
# Files that a reader has, by their names in pages.
FILES = {
    "scan.ply": samples.path("skull.ply"),
    "rates.json": ROOT / "examples/lab/docs/benchmarks/calibration-2-core-cpu.json",
}
# What a reader of these pages has before the first block.
MODEL = (DOCS / "tutorials/fewer-tokens-for-your-vlm.md").read_text("utf-8")
BEFORE = {
    "models": MODEL.split("```python\n")[1].split("```")[0]
    + """from hra.domains import tokens

allocator, processor_inputs, ids_of_the_next_question = tokens.REDUCERS["divprune"](), inputs, question[None]
""",
    "textures": """
from hra import samples
from hra.domains import textures

scene = textures.PlaneScene.ground(samples.path("earth.jpg"))
camera, next_camera = textures.flyover(scene.planes[0], frames=2, viewport=(64, 36))
allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
streamer = textures.TextureStreamer(allocator, 2**21)
""",
}
# A block, and what it prints where a block of text follows at once.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", PAGES, ids=lambda path: path.stem)
def test_every_python_block_runs(tutorial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, file in FILES.items():
        shutil.copy(file, name)
    names: dict[str, object] = {"__name__": "__main__"}  # as in a script
    exec(BEFORE.get(tutorial.stem, ""), names)
    for block, stated in BLOCK.findall(tutorial.read_text("utf-8")):
        exec(compile(block, str(tutorial), "exec"), names)
        printed = capsys.readouterr().out
        assert not stated or printed == stated


@pytest.mark.parametrize("tutorial", PAGES, ids=lambda path: path.stem)
def test_blocks_compile_and_links_lead_somewhere(tutorial: Path):
    text = tutorial.read_text("utf-8")
    assert BLOCK.search(text)
    for block, _ in BLOCK.findall(text):
        compile(block, str(tutorial), "exec")
        assert "hra_lab" not in block  # no extra of hra brings it
    links = re.findall(r"\]\(([^)#]+)\)", re.sub(r"`[^`\n]+`", "", text))
    assert not [link for link in links if "://" not in link and not (tutorial.parent / link).exists()]
