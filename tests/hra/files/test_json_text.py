"""JSON from files: bounded before it is parsed, and never another error than a typed one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError, LimitExceeded
from hra.files.json_text import parse_object
from hra.files.limits import Limits

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def depth(value: Any) -> int:
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if entries is None else 1 + max(map(depth, entries), default=0)


@given(st.dictionaries(st.text(), values, max_size=4), st.booleans())
def test_objects_come_back_and_their_depth_is_what_counts(record: dict[str, Any], ascii: bool) -> None:
    text = json.dumps(record, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    try:
        text.decode()
    except UnicodeDecodeError:
        return
    assert parse_object(text, "header", "a file", Limits(json_depth=depth(record))) == record
    if depth(record) > 1:
        with pytest.raises(LimitExceeded, match="json depth"):
            parse_object(text, "header", "a file", Limits(json_depth=depth(record) - 1))


def test_brackets_within_texts_do_not_count() -> None:
    text = json.dumps({"a": '[[[[{{{{"\\', "b": "\\\\"}).encode()
    assert len(parse_object(text, "header", "a file", Limits(json_depth=1, json_values=3))) == 2


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[1]", b"null", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1,}', b"{'a': 1}", b'"', b'{"a": "'),
        *(b'{"\xff": 1}', b'{"a": ' + b"9" * 5000 + b"}", b'{"a": 1} 2', '{"a": 1}'.encode("utf-16")),
    ],
)
def test_what_is_no_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(FileError) as caught:
        parse_object(text, "header", "a file")
    assert caught.value.where == "a file" and "header" in caught.value.what


def test_values_are_counted_before_they_are_read() -> None:
    text = b'{"a": [[], {}, 1]}'
    assert parse_object(text, "header", "a file", Limits(json_values=6))
    with pytest.raises(LimitExceeded, match="json values"):
        parse_object(text, "header", "a file", Limits(json_values=5))


def test_many_open_texts_take_no_time() -> None:
    with pytest.raises(FileError):
        parse_object(b'{"' + b'\\"' * 500_000, "header", "a file")
    with pytest.raises(FileError):
        parse_object(b'{"a' + b"\\" * 500_001, "header", "a file")
