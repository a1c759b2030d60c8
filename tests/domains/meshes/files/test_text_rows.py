"""Text files of numbers and OBJ lines: the fast way reads what the slow way reads."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.files import obj_lines
from hra.domains.meshes.files.obj_lines import read_lines
from hra.domains.meshes.files.obj_words import ObjLines

corner_kinds = st.sampled_from(["{0}", "{0}/{1}", "{0}//{2}", "{0}/{1}/{2}"])


@st.composite
def obj_texts(draw: st.DrawFn) -> str:
    """Blocks of vertices and faces, some with comments, continuations, tabs and relative numbers."""
    out, counts = [], 0
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(3, 5))
        for word, width in (("v", 3), ("vt", 2), ("vn", 3)):
            for _ in range(size):
                numbers = " ".join(f"{draw(st.integers(-9, 9)) / 4:g}" for _ in range(width))
                out.append(f"{word} {numbers}{draw(st.sampled_from(['', '', ' # c', '  ']))}")
        counts += size
        kind = draw(corner_kinds)
        for _ in range(draw(st.integers(0, 3))):
            numbers = draw(st.lists(st.integers(1, counts), min_size=3, max_size=5))
            chosen = [n if draw(st.booleans()) else n - counts - 1 for n in numbers]
            out.append("f " + draw(st.sampled_from([" ", "\t", " \\\n"])).join(kind.format(n, n, n) for n in chosen))
        out += draw(st.lists(st.sampled_from(["usemtl a", "usemtl b c", "g x", "", "l 1 2"]), max_size=2))
    return "\n".join(out) + "\n"


@given(obj_texts())
def test_runs_of_obj_lines_are_read_as_the_lines_one_by_one(text: str) -> None:
    fast = read_lines(text.encode(), "a.obj")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(obj_lines, "FAST", {})
        slow = read_lines(text.encode(), "a.obj")
    assert same(fast) == same(slow)


def same(found: ObjLines) -> dict[str, object]:
    return {name: value.tolist() if isinstance(value, array) else value for name, value in vars(found).items()}
