"""Dataclasses of options: what typer is told, and what the command is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from hra.cli import app
from hra.console.options import with_option_lists


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
