"""PLY headers: names are unique, and promises fit the bytes and the limits."""

from __future__ import annotations

import pytest

from hra.errors import FileError, LimitExceeded
from hra.files.limits import Limits
from hra.files.ply import read_elements

X = "property float x\n"


def text(elements: str, body: str = "1\n") -> bytes:
    return f"ply\nformat ascii 1.0\n{elements}end_header\n{body}".encode()


@pytest.mark.parametrize(
    ("elements", "name"),
    [(f"element a 1\n{X}element a 1\n{X}", "a"), (f"element a 1\n{X}property int y\n{X}", "x")],
)
def test_a_name_that_stands_twice_is_refused(elements: str, name: str) -> None:
    with pytest.raises(FileError, match=f"the PLY header names '{name}' twice") as caught:
        read_elements(text(elements, "1\n1\n"), "a.ply")
    assert caught.value.where == "a.ply"


def test_rows_beyond_a_limit_are_refused_before_they_are_read() -> None:
    whole = text(f"element a 3\n{X}", "1\n2\n3\n")
    assert read_elements(whole, "a.ply", Limits(vertices=3))["a"].scalars["x"].tolist() == [1, 2, 3]
    with pytest.raises(LimitExceeded, match="3 vertices") as caught:
        read_elements(whole, "a.ply", Limits(vertices=2))
    assert caught.value.where == "a.ply, element a"


def test_a_header_beyond_its_limit_is_refused() -> None:
    whole = text("comment " + "x" * 1000 + f"\nelement a 1\n{X}")
    assert read_elements(whole, "a.ply", Limits(header_bytes=len(whole)))
    with pytest.raises(LimitExceeded, match="header bytes"):
        read_elements(whole, "a.ply", Limits(header_bytes=500))


@pytest.mark.parametrize(
    ("elements", "what"),
    [
        ("element a 9\nproperty float x\n", "promises 9 a elements, but only 2 bytes follow"),
        ("element a 1\n", "the PLY element 'a' has no property"),
        ("element a -1\nproperty float x\n", "counts '-1' elements"),
        ("property float x\n", "a line of the PLY header is wrong: 'property float x'"),
        ("element a 1\nproperty list float int x\n", "unknown type: 'property list float int x'"),
    ],
)
def test_what_is_wrong_is_named(elements: str, what: str) -> None:
    with pytest.raises(FileError, match=what):
        read_elements(text(elements), "a.ply")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_is_wrong_in_a_row_is_named_with_its_line(end: str) -> None:
    lines = text(f"comment a\nelement a 3\n{X}", "1\n\n2\nx\n").replace(b"\n", end.encode())
    with pytest.raises(FileError, match="a line is not of numbers: 'x'") as caught:
        read_elements(lines, "a.ply")
    assert caught.value.where == "a.ply, line 10"
