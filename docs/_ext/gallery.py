"""The gallery: each script of ``examples/`` under a heading, run with a folder that its pictures are taken from."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst
from sphinx_gallery.sorting import ExplicitOrder

_ROOT = Path(__file__).parents[2]
_COPIES = _ROOT / "docs/_examples"
_PICTURES = (".png", ".jpg")
# Sections by what a script's name contains; the first that fits.
_SECTIONS = {
    "tokens": ("Visual tokens", ("token", "vlm", "relevance", "foveated", "gigapixel", "atlas", "attention", "soft")),
    "meshes": ("Meshes", ("mesh", "cluster", "certified")),
    "points": ("Points and splats", ("point", "splat", "cloud")),
    "textures": ("Textures and streaming", ("texture", "stream", "residency", "tiles")),
    "core": ("One core", ("",)),
}


def settings() -> dict[str, Any]:
    """The configuration of sphinx-gallery."""
    copy_examples()
    return {
        "examples_dirs": [str(_COPIES)],
        "gallery_dirs": ["gallery"],
        "filename_pattern": r"\.py$",
        "subsection_order": ExplicitOrder([f"_examples/{name}" for name in _SECTIONS]),
        "within_subsection_order": "FileNameSortKey",
        "image_scrapers": ("gallery.take_pictures",),
        "reset_modules": (),
        "reset_argv": Arguments(),
        "capture_repr": (),
        "remove_config_comments": True,
        "show_memory": False,
        "show_signature": False,
        "download_all_examples": False,
        "min_reported_time": 1,
        "abort_on_example_error": True,
    }


def copy_examples() -> None:
    """Copies of the scripts that are up to date, in a folder for each section."""
    wanted = {}
    for script in sorted((_ROOT / "examples").glob("*.py")):
        wanted[_COPIES / section_of(script.stem) / script.name] = with_heading(script.read_text("utf-8"))
    wanted[_COPIES / "GALLERY_HEADER.rst"] = (
        "Gallery\n=======\n\nScripts that run as they stand; a test runs each. "
        "Times are those of the machine that built the site.\n"
    )
    for name, (title, _) in _SECTIONS.items():
        wanted[_COPIES / name / "GALLERY_HEADER.rst"] = f"{title}\n{'-' * len(title)}\n"
    for old in set(_COPIES.rglob("*.py")) - set(wanted):
        old.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def section_of(stem: str) -> str:
    """The section that a script belongs to by its name."""
    return next(name for name, (_, words) in _SECTIONS.items() if any(word in stem for word in words))


def with_heading(source: str) -> str:
    """The script with a heading in its docstring: what its first sentence says before a colon."""
    match = re.match(r'"""(.+?[.:])(\s.*?)?"""', source, re.DOTALL)
    if match is None:
        raise ValueError(f"an example begins with a docstring: {source[:60]!r}")
    title = " ".join(match[1].rstrip(".:").split())
    return f'"""\n{title}\n{"=" * len(title)}\n\n{match[1]}{match[2] or ""}\n"""{source[match.end() :]}'


class Arguments:
    """What an example is called with: a new folder for its pictures."""

    def __call__(self, gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
        """Called by sphinx-gallery before each script."""
        folder = pictures_of(script_vars["src_file"])
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return [str(folder)]

    def __repr__(self) -> str:
        return "Arguments()"


def pictures_of(script: str) -> Path:
    """Where an example writes what it draws."""
    return _COPIES / "out" / Path(script).stem


def take_pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **options: Any) -> str:
    """Move what the script drew to where the page looks for it."""
    found = sorted(pictures_of(block_vars["src_file"]).glob("*"), key=lambda path: path.stat().st_mtime_ns)
    taken = []
    for picture, target in zip(_drawn(found), block_vars["image_path_iterator"], strict=False):
        target = Path(target).with_suffix(picture.suffix)
        shutil.move(picture, target)
        taken.append(str(target))
    return figure_rst(taken, gallery_conf["src_dir"])


def _drawn(files: list[Path]) -> list[Path]:
    return [path for path in files if path.suffix in _PICTURES]


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    sys.modules.setdefault("gallery", sys.modules[__name__])
    return {"parallel_read_safe": True}
