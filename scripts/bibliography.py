#!/usr/bin/env python
"""Write docs/bibliography.md: every paper that a docstring or a comment names, with the places that name it.

Add a paper that is named to docs/bibliography.txt, and run ``python scripts/bibliography.py``; a test compares both.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/bibliography.md"
_YEAR = re.compile(r"(?<![\w.*/-])(19[5-9]\d|20[0-3]\d)(?![\w*]|\.\d)")
# A name stands in the sentence that ends with its year, or just after it.
_REACH = 260
# Years by their looks: counts, file formats, dates.
_NO_YEAR = re.compile(r"JPEG 2000|\b\d+ x \d+|\b2000 (tiles|pixels|cuts)|20\d\d-\d\d|61966")


@dataclass(frozen=True)
class Paper:
    """A line of docs/bibliography.txt; ``names`` are what the sources call it, any of them."""

    names: tuple[str, ...]
    year: str
    authors: str
    title: str
    where: str


def papers() -> list[Paper]:
    """All papers of docs/bibliography.txt."""
    lines = (ROOT / "docs/bibliography.txt").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line and not line.startswith("#")]
    return [Paper(tuple(name.strip() for name in row[0].split(";")), *row[1:]) for row in rows]


def mentions(known: list[Paper]) -> tuple[dict[Paper, set[str]], list[str]]:
    """The modules that name each paper, and what looks like a paper and is none of them."""
    found: dict[Paper, set[str]] = {paper: set() for paper in known}
    unknown = []
    for module, path in modules():
        source = path.read_text("utf-8")
        for text in prose(source) if _YEAR.search(source) else ():
            for year in _YEAR.finditer(text):
                named = [paper for paper in known if paper.year == year[1] and _near(paper, text, year.start())]
                for paper in named:
                    found[paper].add(module)
                if not named:
                    unknown.append(f"{module}: {text[max(0, year.start() - 80) : year.end()]}")
    return found, unknown


def _near(paper: Paper, text: str, place: int) -> bool:
    around = text[max(0, place - _REACH) : place]
    return any(re.search(rf"\b{re.escape(name)}\b", around) for name in paper.names)


def modules() -> list[tuple[str, Path]]:
    """All modules of the library and its laboratory by their import names, in alphabetical order."""
    folders = {"hra": ROOT / "hra", "hra.domains": ROOT / "domains", "hra.kernels": ROOT / "kernels"}
    folders["hra_lab"] = ROOT / "examples/lab/hra_lab"
    found = []
    for prefix, folder in folders.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            if prefix != "hra" or parts[0] not in ("domains", "kernels"):
                found.append((".".join((prefix, *parts)).removesuffix(".__init__"), path))
    return sorted(found)


@cache
def prose(source: str) -> list[str]:
    """Docstrings and blocks of comments, each in one line, without examples."""
    tree = ast.walk(ast.parse(source))
    texts = [ast.get_docstring(node) or "" for node in tree if isinstance(node, _DOCUMENTED)]
    texts = [re.sub(r"^\s*(>>>|\.\.\.).*(\n(?!\s*$).*)*", "", text, flags=re.MULTILINE) for text in texts]
    return [_NO_YEAR.sub("", " ".join(text.split())) for text in [*texts, *_comments(source)] if text]


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _comments(source: str) -> list[str]:
    blocks, last = [], -2
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("# ")
            blocks.append(f"{blocks.pop()} {text}" if token.start[0] == last + 1 else text)
            last = token.start[0]
    return blocks


def page() -> str:
    """The bibliography as Markdown, by first author."""
    found, _ = mentions(papers())
    rows = sorted(found.items(), key=lambda item: (_surname(item[0]), item[0].year))
    lines = [_entry(paper, sorted(places)) for paper, places in rows]
    head = "# Bibliography\n\nEvery paper that a docstring or a comment names, with the modules that name it.\n"
    return head + "Written by `scripts/bibliography.py`.\n\n" + "\n".join(lines) + "\n"


def _surname(paper: Paper) -> str:
    return re.sub(r"^(.*\. )?", "", paper.authors.split(",")[0].removesuffix(" and others"))


def _entry(paper: Paper, places: list[str]) -> str:
    named = ", ".join(f"`{place}`" for place in places)
    return f"- {paper.authors}, *{paper.title}*, {paper.where}, {paper.year}. Named in {named}."


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
