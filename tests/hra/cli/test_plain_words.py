"""Plain words mean what Typer makes of them, and take no pydantic."""

from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer import core
from typer.models import OptionInfo

from hra.cli.plain_words import _UNKNOWN, _plain

_coercion = pytest.importorskip("typer._coercion")


class Choice(Enum):
    one = "one"
    two = "2"


def doubled(word: str) -> float:
    return 2 * float(word)


KINDS: list[tuple[Any, dict[str, Any]]] = [
    (str, {}),
    (int, {}),
    (int, {"min": 1, "max": 40}),
    (int, {"min": 1, "max": 40, "clamp": True}),
    (float, {}),
    (float, {"min": 0.5}),
    (bool, {}),
    (Path, {}),
    (Path, {"exists": True}),
    (Path, {"dir_okay": False}),
    (Choice, {}),
    (Choice, {"case_sensitive": False}),
    (float, {"parser": doubled}),
    (tuple[int, int], {}),
]
WORDS = [
    "",
    "0",
    "-0",
    "7",
    "007",
    "41",
    "1.5",
    "-2.",
    ".5",
    "1e3",
    "1_0",
    " 3",
    "inf",
    "nan",
    "one",
    "ONE",
    "2",
    "/tmp",
]
PARAMETER = SimpleNamespace(nargs=1, multiple=False, name="word")


def outcome(make: Any, described: Any, value: Any) -> tuple[str, str]:
    """The type and the value, or the error."""
    try:
        found = make(described).coerce(value, param=PARAMETER, ctx=None)
    except Exception as error:
        return type(error).__name__, str(error)
    return type(found).__name__, repr(found)


@given(
    st.sampled_from(KINDS),
    st.sampled_from(WORDS)
    | st.text(max_size=5)
    | st.from_regex(r"-?[0-9.]{1,18}", fullmatch=True)
    | st.none()
    | st.integers(0, 50),
)
def test_a_value_is_what_typer_makes_of_it(kind: tuple[Any, dict[str, Any]], value: Any) -> None:
    described = _coercion.resolve_type_descriptor(kind[0], OptionInfo(**kind[1]))
    with_plain: Any = vars(core)["build_runtime_param"]
    assert outcome(with_plain, described, value) == outcome(_coercion.build_runtime_param, described, value)


@pytest.mark.parametrize(("kind", "word"), [(str, "a"), (int, "-12"), (float, "1.25"), (Path, "a/b"), (Choice, "2")])
def test_plain_words_are_known(kind: Any, word: str) -> None:
    assert _plain(word, _coercion.resolve_type_descriptor(kind, OptionInfo())) is not _UNKNOWN


def test_a_command_without_mistakes_takes_no_pydantic() -> None:
    code = (
        "import sys, atexit; from hra.cli import main\n"
        "atexit.register(lambda: print('pydantic' in sys.modules))\n"
        "sys.argv = ['hra', 'mesh', 'info', 'missing.hra']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "False\n"
