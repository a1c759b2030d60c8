"""Options that name what packages register: ``hull``, ``hull:finish=none``, ``coherent:traversal=exact,max_churn=8``.

A name is followed by options of its constructor. ``shares.3=0.1`` is an item of a mapping, and
``traversal.max_states=1000`` an option of the traversal that ``traversal=exact`` names. Texts become what the
constructor's annotations say, or are refused; nothing is evaluated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer

from hra.errors import HraError
from hra.plugins import Group, load

if TYPE_CHECKING:
    from hra.model.metrics import ErrorMetric
    from hra.traversals.base import Traversal

TraversalOption = Annotated[
    str | None,
    typer.Option("--traversal", help="Strategy: 'exact', 'hull:finish=none' ...", metavar="NAME[:KEY=VALUE,..]"),
]
MetricOption = Annotated[
    str | None, typer.Option("--metric", help="The error to minimise, by name.", metavar="NAME[:KEY=VALUE,..]")
]

Chosen = TypeVar("Chosen")
_Tree = dict[str, Any]
# Annotations are texts where a module names types for type checkers only.
_PLAIN = {"bool": bool, "float": float, "int": int, "str": str}


def choose_traversal(text: str) -> Traversal:
    """The traversal that ``text`` names; see `choose`."""
    from hra.traversals.base import Traversal

    return choose("hra.traversals", text, Traversal)


def choose_metric(text: str) -> ErrorMetric:
    """The metric that ``text`` names; see `choose`."""
    from hra.model.metrics import ErrorMetric

    return choose("hra.metrics", text, ErrorMetric)


def choose(group: Group, text: str, promised: type[Chosen]) -> Chosen:
    """What ``NAME:KEY=VALUE,KEY=VALUE`` names in ``group``.

    Raises
    ------
    HraError : nothing is registered under that name, or it cannot be loaded; options that it does not have, values of
        another type; its constructor raises; or what it makes is not a ``promised``.
    """
    name, _, options = text.partition(":")
    return _make(group, name.strip(), _tree(options, text), promised)


def _tree(options: str, text: str) -> _Tree:
    """``a=1,b.c=2`` as {"a": "1", "b": {"c": "2"}}; what ``b`` itself is stands under ""."""
    tree: _Tree = {}
    for option in filter(None, options.split(",")):
        path, equals, value = option.partition("=")
        *above, last = path.strip().split(".")
        if not equals or not all((*above, last)):
            raise HraError(f"{option!r} is not an option", where=text, fix="write NAME:KEY=VALUE,KEY=VALUE")
        branch = tree
        for key in above:
            branch = branch.setdefault(key, {})
        place = branch.setdefault(last, {})
        if "" in place:
            raise HraError(f"{path.strip()!r} is given twice", where=text, fix="leave one of them out")
        place[""] = value.strip()
    return tree


def _make(group: Group, name: str, tree: _Tree, promised: type[Chosen]) -> Chosen:
    factory = load(group, name)
    if not callable(factory):
        what = f"{name!r} is {factory!r:.80}, which cannot be called"
        raise HraError(what, where=group, fix="tell the authors of its package")
    parameters = _parameters(factory)
    arguments = {}
    for key, branch in tree.items():
        if key not in parameters:
            fix = f"it has {', '.join(parameters)}" if parameters else "it has no options"
            raise HraError(f"{name!r} has no option {key!r}", where=group, fix=fix)
        arguments[key] = _value(f"{name}:{key}", branch, parameters[key])
    try:
        made = factory(**arguments)
    except (HraError, MemoryError):
        raise
    except Exception as error:  # other people's code may raise anything
        fix = f"give its options: {', '.join(parameters)}" if parameters else "tell the authors of its package"
        what = f"{name!r} cannot be made: {type(error).__name__}: {error}"
        raise HraError(what, where=group, fix=fix) from error
    if not isinstance(made, promised):
        what = f"{name!r} makes a {type(made).__name__}, which is not a {promised.__name__}"
        raise HraError(what, where=group, fix="tell the authors of its package")
    return made


def _parameters(factory: Callable[..., Any]) -> dict[str, Any]:
    """Annotation of each argument of ``factory`` that can be named; one that says nothing takes a text."""
    try:
        parameters = inspect.signature(factory, eval_str=True).parameters.values()
    except NameError:
        parameters = inspect.signature(factory).parameters.values()
    named = [p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    kinds = {p.name: str if p.annotation is p.empty else p.annotation for p in named}
    return {name: _PLAIN.get(kind, kind) if isinstance(kind, str) else kind for name, kind in kinds.items()}


def _value(where: str, branch: _Tree, kind: Any) -> Any:
    """A branch of options as a value of an annotated type: the first member of a union that it fits."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    members = sorted(members, key=lambda member: member is str)  # any text is a str, "none" and "3" are more
    for member in members:
        try:
            return _read(where, branch, member)
        except (KeyError, ValueError):
            continue
    given = branch.get("", "") or ", ".join(branch)
    names = " or ".join(map(_type_name, members))
    raise HraError(f"{given!r} is not a value of this option", where=where, fix=f"it takes {names}")


def _read(where: str, branch: _Tree, kind: Any) -> Any:
    from hra.model.metrics import ErrorMetric
    from hra.traversals.base import Traversal

    nested: dict[Any, Group] = {Traversal: "hra.traversals", ErrorMetric: "hra.metrics"}
    below = {key: value for key, value in branch.items() if key}
    if kind in nested and "" in branch:
        return _make(nested[kind], branch[""], below, kind)
    if get_origin(kind) is Mapping and "" not in branch:
        of_key, of_value = get_args(kind)
        return {_scalar(key, of_key): _value(f"{where}.{key}", item, of_value) for key, item in below.items()}
    if below:
        raise ValueError
    return _scalar(branch[""], kind)


def _scalar(text: str, kind: Any) -> Any:
    """Raises KeyError or ValueError if ``text`` is nothing of this type."""
    if get_origin(kind) is Literal:
        return {str(value): value for value in get_args(kind)}[text]
    if kind is bool or kind is NoneType:
        return {"true": True, "false": False}[text] if kind is bool else {"none": None}[text]
    if kind not in (int, float, str):
        raise ValueError
    return kind(text)


def _type_name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    if get_origin(kind) is Mapping:
        return "items, OPTION.ITEM=VALUE"
    return {bool: "true or false", NoneType: "none"}.get(kind) or getattr(kind, "__name__", str(kind))
