"""The page of all commands, read from the Typer apps: a table, then each command with its arguments and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from hra.cli import app as hra

_HEAD = """# Commands

Read from the commands themselves. `hra COMMAND --help` prints the same. A command that allocates takes
`--traversal NAME` and `--metric NAME`, with options: `--traversal hull:finish=none`. Every command that reports numbers
writes them to a file with `--json FILE`. Bad input ends with exit code 2 and three lines: what is wrong, where, and
how to fix it.

`bench`, `eval`, `train`, `tokens ask` and `tokens compare` come from the laboratory: `pip install -e examples/lab`.
[Other packages](../write-your-own.md) can add commands, too.
"""


def write_page(app: Any) -> None:
    """Write ``reference/commands.md``, before Sphinx looks for its sources."""
    target = Path(app.srcdir) / "reference/commands.md"
    target.parent.mkdir(exist_ok=True)
    text = page()
    if not target.exists() or target.read_text("utf-8") != text:
        target.write_text(text, "utf-8")


def page() -> str:
    """All commands as Markdown."""
    found = list(commands())
    rows = [f"| [`{name}`](#{_anchor(name)}) | {_first_sentence(command.help)} |" for name, command in found]
    parts = [_section(name, command) for name, command in found]
    return "\n".join([_HEAD, "| command | what it does |", "| --- | --- |", *rows, "", *parts])


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it, in the order of ``hra --help``."""
    root = get_command(hra)
    context = root.make_context("hra", [], resilient_parsing=True)
    for name in root.list_commands(context):  # pyright: ignore[reportAttributeAccessIssue]
        command = root.get_command(context, name)  # pyright: ignore[reportAttributeAccessIssue]
        below = sorted(getattr(command, "commands", {}).items())
        yield from ((f"hra {name} {word}", one) for word, one in below) if below else [(f"hra {name}", command)]


def _section(name: str, command: Any) -> str:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    rows = [f"| {_called(one)} | {_cell(one.help)} |" for one in shown]
    table = ["| argument or option | meaning |", "| --- | --- |", *rows, ""] if rows else []
    return "\n".join([f"## {name}", "", _paragraphs(command.help), "", *table])


def _called(parameter: Any) -> str:
    """How it is typed: an argument in capitals, an option by its names."""
    if parameter.param_type_name == "argument":
        name = parameter.name.upper()
        return f"`{name}`" if parameter.required else f"`[{name}]`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _paragraphs(text: str | None) -> str:
    return re.sub(r"[\b\f]", "", text or "").strip().replace("<", "&lt;")


def _cell(text: str | None) -> str:
    return " ".join(_paragraphs(text).split()).replace("|", "\\|")


def _first_sentence(text: str | None) -> str:
    return _cell(text).partition(". ")[0].rstrip(".") + "."


def _anchor(name: str) -> str:
    return name.replace(" ", "-")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_page, priority=100)
    return {"parallel_read_safe": True}
