"""Commands by entry point: each is imported when it is called, or when the list of all is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_group

from hra.errors import HraError
from hra.plugins import available, load

_GROUP = "hra.commands"
# Headings of `hra --help`, in their order; commands of other packages come last.
_HEADINGS = {
    "Spend a budget": ("mesh", "points", "texture", "tiles", "tokens"),
    "Look and check": ("demo", "explore", "verify"),
    "Measure": ("bench", "eval", "train"),
    "This machine": ("doctor", "warm-up"),
}
_OTHERS = "Of other packages"


class Commands(TyperGroup):
    """The commands that packages register in the group ``hra.commands``: a function, or a Typer app with commands.

    An entry ``app.name`` adds the command ``name`` to the app that is registered as ``app``.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, by heading."""
        order = [*_HEADINGS, _OTHERS]
        names = sorted(name for name in available(_GROUP) if "." not in name)
        return sorted(names, key=lambda name: order.index(_heading(name)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command called ``cmd_name``, None if there is none; one that cannot be loaded says why when called."""
        if cmd_name not in self.list_commands(ctx):
            return None
        try:
            command = _load(cmd_name)
        except HraError as error:
            command = _unavailable(cmd_name, error)
        command.rich_help_panel = _heading(cmd_name)
        if isinstance(command, TyperGroup):
            _complete(command, cmd_name)
        return command


def _heading(name: str) -> str:
    return next((heading for heading, names in _HEADINGS.items() if name in names), _OTHERS)


def failures() -> dict[str, HraError]:
    """Which registered commands are missing and why, by name; imports all of them."""
    found: dict[str, HraError] = {}
    for name in sorted(available(_GROUP)):
        above = name.rpartition(".")[0]
        try:
            _add(_load(above), name) if above else _load(name)
        except HraError as error:
            found[name] = error
    return found


def _complete(app: TyperGroup, app_name: str) -> None:
    """Add the commands that are registered for the inside of an app."""
    for name in sorted(available(_GROUP)):
        if name.rpartition(".")[0] == app_name:
            try:
                _add(app, name)
            except HraError as error:
                _commands(app).setdefault(_last(name), _unavailable(_last(name), error))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _load(name: str) -> Any:
    """What is registered as ``name``, made a command.

    Raises
    ------
    HraError : it cannot be loaded, or is neither a function nor an app that Typer understands.
    """
    loaded, own = load(_GROUP, name), _last(name)
    try:
        if isinstance(loaded, typer.Typer):
            return _only(own, lambda app: app.add_typer(loaded, name=own))
        return _only(own, lambda app: app.command(own)(loaded))
    except Exception as error:  # of whatever stands there instead
        what = f"{name!r} is not a command: {type(error).__name__}: {error}"
        where = available(_GROUP)[name].value
        raise HraError(what, where=where, fix="register a function with annotations, or a typer.Typer") from error


def _only(name: str, register: Callable[[typer.Typer], Any]) -> Any:
    """The command ``name`` as Typer makes it of what is registered in an app of its own."""
    app = typer.Typer()
    register(app)
    return get_group(app).commands[name]


def _add(app: Any, name: str) -> None:
    """Load the command ``app.name`` and put it into the app."""
    places, own = _commands(app), _last(name)
    if own in places:
        raise HraError(f"there is another command {name!r}", where=_GROUP, fix="register it under a free name")
    places[own] = _load(name)


def _commands(app: Any) -> dict[str, Any]:
    if not isinstance(app, TyperGroup):
        what = f"{app.name!r} is a command and takes no subcommands"
        raise HraError(what, where=_GROUP, fix="register a name without dots")
    return app.commands  # pyright: ignore[reportReturnType]


def _unavailable(name: str, error: HraError) -> Any:
    """A command that states why the one in its place is missing."""

    def command() -> NoReturn:
        raise error

    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    settings = {"help": "Cannot be loaded; `hra doctor` says why.", "context_settings": anything}
    return _only(name, lambda app: app.command(name, **settings)(command))
