"""Options that several commands share, each list in one place: a dataclass stands for all options in its fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hra.console.outputs import written_as

JsonOption = Annotated[
    Path | None,
    typer.Option("--json", callback=written_as(), help="Also write the result as JSON to this file."),
]


class Scale(StrEnum):
    """Sizes of benchmarks and evaluations: those that the pages state, or tiny ones that only show that all runs."""

    full = "full"
    small = "small"


ScaleOption = Annotated[Scale, typer.Option(help="Sizes of the documented runs, or small.")]


def with_option_lists(command: Callable[..., None]) -> Callable[..., None]:
    """``command`` as typer reads it: a parameter that is a dataclass of options becomes one option for each field."""
    hints = get_type_hints(command, include_extras=True)
    lists: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flat: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        known = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        flat += _options(lists[parameter.name]) if parameter.name in lists else [known]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in lists.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    run.__signature__ = Signature(flat)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _options(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
