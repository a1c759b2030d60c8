"""Dataclasses of options: what typer is told, and what the command is given."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from hra.cli import app
from hra.console.options import JsonOption, check_file, folder_or, with_option_lists, written_as
from hra.errors import FileError


@dataclass(frozen=True)
class Limits:
    """Two options."""

    weight: Annotated[float, typer.Option(help="In kilograms.")]
    parts: Annotated[int, typer.Option("--count", min=1)] = 3


def told(*arguments: str) -> tuple[int, list[object]]:
    """Exit code, and what the command was given."""
    given: list[object] = []
    application = typer.Typer()

    @application.command()
    @with_option_lists
    def pack(box: Annotated[Path, typer.Argument()], limits: Limits, fast: bool = False) -> None:
        """Pack a box."""
        given.extend([box, limits, fast])

    return CliRunner().invoke(application, list(arguments)).exit_code, given


def test_a_command_is_given_the_dataclass_that_its_options_make():
    assert told("a.box", "--weight", "2.5", "--fast") == (0, [Path("a.box"), Limits(2.5), True])
    assert told("a.box", "--weight", "2.5", "--count", "7") == (0, [Path("a.box"), Limits(2.5, 7), False])


def test_a_field_without_default_is_required_and_limits_of_options_hold():
    assert told("a.box")[0] == 2
    assert told("a.box", "--weight", "1", "--count", "0")[0] == 2


def test_commands_with_a_camera_have_the_same_options_for_it():
    camera = {"--azimuth", "--elevation", "--distance", "--up", "--eye", "--target", "--camera"}
    group = typer.main.get_group(app)
    mesh = group.get_command(typer.Context(group), "mesh")
    assert isinstance(mesh, TyperGroup)
    commands = mesh.commands
    options = {
        name: {word for parameter in command.params for word in parameter.opts} for name, command in commands.items()
    }
    # A flight has a path, and shares what is up.
    assert {name for name, words in options.items() if words & camera - {"--up"}} == {"cut", "render", "view"}
    assert all(camera <= options[name] for name in ("cut", "render", "view"))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("a.png -o a.png", True),
        ("a.png -oa.png", True),
        ("a.png --out=./folder/../a.png", True),
        ("link.png -o a.png", True),
        ("a.png -o b.png --json b.png", True),
        ("out.png", True),  # the default
        ("a.png", False),
        ("a.png -o b.png --json b.json", False),
        ("a.png -o out.png", False),
    ],
)
def test_no_file_is_written_that_the_command_names_twice(
    words: str, named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application, given = typer.Typer(), []

    @application.command()
    def copy(
        image: Path,
        out: Annotated[Path, typer.Option("--out", "-o", callback=written_as(".png"))] = Path("out.png"),
        json_file: JsonOption = None,
    ) -> None:
        given.append((image, out, json_file))

    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.png").write_bytes(b"a")
    (tmp_path / "link.png").symlink_to("a.png")
    monkeypatch.setattr("sys.argv", ["copy", *words.split()])
    result = CliRunner().invoke(application, words.split())
    assert bool(given) is not named
    assert isinstance(result.exception, FileError) is named, result.output


@pytest.mark.parametrize(
    "callback", [written_as(".png"), folder_or(".png"), folder_or()], ids=["file", "either", "folder"]
)
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="a folder in which nobody can write, whatever its permissions")
def test_a_place_that_cannot_be_written_is_refused_before_the_work(callback: Any) -> None:
    application, given = typer.Typer(), []
    option = typer.Option(..., "--out", "-o", callback=callback)

    @application.command()
    def copy(out: Path = option) -> None:
        given.append(out)

    result = CliRunner().invoke(application, ["-o", "/proc/a.png"])
    assert not given and isinstance(result.exception, FileError) and "not writable" in result.exception.what


def test_nothing_is_left_of_the_check(tmp_path: Path) -> None:
    check_file(tmp_path / "a.png", ".png")
    assert list(tmp_path.iterdir()) == []
