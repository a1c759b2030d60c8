"""Commands of other packages: found, called, and named where they are broken."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
import typer

from hra import plugins
from hra.cli import groups
from tests.helpers.command import run_hra

REAL = plugins.find_registered


def greet(name: str = "you", json_file: Path | None = None) -> None:
    """Say hello."""
    typer.echo(f"hello {name}")


def unreadable(what: NoSuchName) -> None:  # noqa: F821  # pyright: ignore[reportUndefinedVariable]
    """A function that no command line can call."""


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other packages register, beside hra's own."""
    module = ModuleType("others")
    app = typer.Typer(help="Commands of others.")
    app.command()(greet)
    module.__dict__.update(greet=greet, app=app, unreadable=unreadable, number=3)
    monkeypatch.setitem(sys.modules, "others", module)
    registered = {
        "greet": "others:greet",
        "others": "others:app",
        "others.again": "others:greet",
        "others.greet": "others:greet",
        "mesh.greet": "others:greet",
        "broken": "others.missing:app",
        "others.broken": "others:nothing",
        "greet.deeper": "others:greet",
        "nowhere.greet": "others:greet",
        "unreadable": "others:unreadable",
        "number": "others:number",
    }
    points = [EntryPoint(name, value, "hra.commands") for name, value in registered.items()]
    points.append(EntryPoint("broken", "others.missing:Thing", "hra.traversals"))
    points += [EntryPoint("twice", f"others:{name}", "hra.metrics") for name in ("greet", "app")]
    monkeypatch.setattr(
        plugins, "find_registered", lambda group: [*REAL(group), *(p for p in points if p.group == group)]
    )


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("command", ["greet", "others greet", "others again", "mesh greet"])
def test_commands_of_others_are_called(command: str, capsys: pytest.CaptureFixture[str]):
    assert run_hra(*command.split(), "--name", "there") == 0
    assert capsys.readouterr().out == "hello there\n"


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("broken", "No module named 'others.missing'"),
        ("broken --any option", "No module named 'others.missing'"),
        ("others broken", "has no attribute 'nothing'"),
        ("unreadable", "'unreadable' is not a command"),
        ("number", "'number' is not a command"),
    ],
)
def test_a_broken_command_says_why_and_breaks_no_other(command: str, what: str, capsys: pytest.CaptureFixture[str]):
    assert run_hra(*command.split()) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[0].startswith("error: ") and what in lines[0]
    assert len(lines) == 3


@pytest.mark.usefixtures("others")
def test_help_lists_all_and_marks_what_is_broken(capsys: pytest.CaptureFixture[str]):
    assert run_hra("--help") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("greet", "others", "mesh", "doctor", "broken", "number"))
    assert "Say hello." in printed and "Commands of others." in printed
    assert printed.count("Cannot be loaded") == 3
    headings = ["Spend a budget", "Look and check", "Measure", "This machine", "Of other packages"]
    assert sorted(headings, key=printed.index) == headings
    assert printed.index("greet") > printed.index("Of other packages") > printed.index("doctor")
    assert "nowhere" not in printed


@pytest.mark.usefixtures("others")
def test_failures_are_named():
    found = groups.failures()
    names = {"broken", "others.greet", "others.broken", "greet.deeper", "nowhere.greet", "unreadable", "number"}
    assert found.keys() == names
    assert "another command" in found["others.greet"].what
    assert "'greet' is a command and takes no subcommands" in found["greet.deeper"].what
    assert "nothing is registered as 'nowhere'" in found["nowhere.greet"].what


@pytest.mark.usefixtures("others")
def test_doctor_names_what_does_not_load_and_why(tmp_path: Path):
    assert run_hra("doctor", "--json", tmp_path / "d.json") == 0
    record = json.loads((tmp_path / "d.json").read_text())["plug-ins that do not load"]
    assert "others.missing" in record["hra.traversals: broken"]
    assert "No module named 'others.missing'" in record["hra.commands: broken"]
    assert "several packages register 'twice'" in record["hra.metrics: twice"]
    assert "reinstall or remove" in record["hra.commands: others.broken"]
    assert not any("exact" in name or name.endswith(": mesh") for name in record)


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]):
    assert run_hra("nothing") == 2
    assert "no such command 'nothing'" in capsys.readouterr().err


def test_an_installation_without_entry_points_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(plugins, "find_registered", lambda group: [])
    assert run_hra("--help") == 2
    assert "no commands are registered" in capsys.readouterr().err
