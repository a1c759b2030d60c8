"""Check the English of pages, docstrings and messages: proselint's rules and those of this project.

``python scripts/check_prose.py [FILES]`` prints what it finds, one line each; exit code 1 if it finds anything. It
reads pages without code, tables and links' targets. In Python files it looks at docstrings and texts, for phrases only.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from proselint.checks import __register__ as STANDARD
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, CheckResult
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "scripts/prose.toml"


class Finding(NamedTuple):
    """What is wrong, and where."""

    path: str
    line: int
    rule: str
    message: str


class House(NamedTuple):
    """The rules in ``prose.toml``."""

    phrases: dict[str, str]
    inversions: list[str]
    words: int
    enabled: dict[str, bool]
    pages: list[str]
    sources: list[str]
    generated: list[str]

    @classmethod
    def read(cls, path: Path = CONFIG) -> House:
        """From the file in the repository."""
        return cls(**tomllib.loads(path.read_text("utf-8")))


def main(arguments: list[str]) -> int:
    """Check the named files, or all; the exit code."""
    house = House.read()
    register(house)
    files = [Path(name) for name in arguments] or [*house_files(house)]
    found = [one for path in files for one in check(path, house)]
    for one in found:
        print(f"{one.path}:{one.line}: {one.rule}: {one.message}")
    return 1 if found else 0


def house_files(house: House) -> Iterator[Path]:
    """Pages and sources that the configuration names, without pages that programs write."""
    skipped = {path for pattern in house.generated for path in ROOT.glob(pattern)}
    for pattern in (*house.pages, *house.sources):
        yield from (path for path in sorted(ROOT.glob(pattern)) if path not in skipped)


def register(house: House) -> None:
    """Make proselint know its own rules and ours, once."""
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(STANDARD)
    if any(one.path.startswith("house.") for one in registry.checks):
        return
    quoted = CheckFlags(allow_quotes=True)
    registry.register(Check(check_type=_phrases(house), path="house.phrases", flags=quoted))
    registry.register(Check(check_type=_inversions(house), path="house.inversions", flags=quoted))
    registry.register(Check(check_type=_long(house), path="house.length", flags=quoted))


def check(path: Path, house: House) -> list[Finding]:
    """What is wrong in a page or a Python file."""
    name = path.resolve().relative_to(ROOT).as_posix() if path.resolve().is_relative_to(ROOT) else str(path)
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return findings(name, prose_of_page(text), house.enabled)
    only_phrases = {"house.phrases": True}
    return [
        one._replace(line=one.line + line - 1)
        for line, part in texts_of_source(text)
        for one in findings(name, part, only_phrases)
    ]


def findings(name: str, text: str, enabled: dict[str, bool]) -> list[Finding]:
    """What proselint says of a text."""
    if not text.strip():
        return []
    found = LintFile(name, text).lint({"max_errors": 1000, "checks": enabled})
    # proselint puts an empty line before the text.
    return [Finding(name, one.pos[0], one.check_result.check_path, one.check_result.message) for one in found]


def prose_of_page(text: str) -> str:
    """A page with everything that is not prose blanked; lines stay where they are."""
    text = re.sub(r"^(```|~~~|:::+).*?^\1\s*$", _blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", _blank, text, flags=re.DOTALL)
    text = re.sub(r"^(\||    |#|\(|:::).*$", _blank, text, flags=re.MULTILINE)
    text = re.sub(r"``[^`]+``|`[^`]+`", _word, text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", _link, text)
    marks = r"\$[^$\n]+\$|(?<![\w)])\*\*|\*\*(?!\w)|\{\w+\}"
    return re.sub(marks, lambda found: " " * len(found[0]), text)


def texts_of_source(source: str) -> Iterator[tuple[int, str]]:
    """Line and content of each text in a Python file that has a blank, docstrings included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, re.sub(r"``[^`]+``|`[^`]+`", _word, node.value)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _word(found: re.Match[str]) -> str:
    """A word as long as the code that it stands for."""
    return "x" * (len(found[0]) - found[0].count("\n")) + "\n" * found[0].count("\n")


def _link(found: re.Match[str]) -> str:
    return found[1] + "\n" * (found[0].count("\n") - found[1].count("\n"))


def _phrases(house: House) -> Any:
    rules = [(re.compile(rf"\b{phrase}", re.IGNORECASE), better) for phrase, better in house.phrases.items()]

    def run(text: str, check: Check) -> Iterator[CheckResult]:
        for pattern, better in rules:
            for found in pattern.finditer(_one_line(text)):
                yield CheckResult(check.path, f"'{found[0]}': {better}", found.span(), None)

    return run


def _inversions(house: House) -> Any:
    words = "|".join(house.inversions)
    pattern = re.compile(rf"(?:\A\s*|(?<=[.:;!?] )|(?<=[.:;!?]\n)|(?<=\n\n)|(?<=- ))(?:{words}) (?:is|are|was|were)\b")

    def run(text: str, check: Check) -> Iterator[CheckResult]:
        for found in pattern.finditer(text):
            yield CheckResult(check.path, f"'{found[0].strip()}': put the subject first", found.span(), None)

    return run


def _long(house: House) -> Any:
    sentence = re.compile(r"[^.!?:;]+(?:[.!?:;](?!\s)[^.!?:;]*)*", re.DOTALL)

    def run(text: str, check: Check) -> Iterator[CheckResult]:
        for begin, paragraph in _paragraphs(text):
            for found in sentence.finditer(paragraph):
                count = len(re.findall(r"\w[\w'-]*", found[0]))
                if count > house.words:
                    at = begin + found.start() + len(found[0]) - len(found[0].lstrip())
                    message = f"a sentence of {count} words, more than {house.words}: '{found[0].strip()[:50]} ...'"
                    yield CheckResult(check.path, " ".join(message.split()), (at, begin + found.end()), None)

    return run


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    for found in re.finditer(r"(?:(?!\n\s*\n|\n\s*[-*] |\n\s*\d+\. ).)+", text, re.DOTALL):
        yield found.start(), found[0]


def _one_line(text: str) -> str:
    """Line breaks as blanks, so that phrases may run over them; places stay."""
    return text.replace("\n", " ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
