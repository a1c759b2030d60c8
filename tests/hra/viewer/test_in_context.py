from __future__ import annotations

import pytest

from hra.viewer.in_context import InContext


class Context:
    """Counts how often it is released."""

    released = 0

    def release(self) -> None:
        self.released += 1


class Thing(InContext):
    freed = 0

    def _free(self) -> None:
        self.freed += 1


def test_a_context_of_the_caller_stays():
    context = Context()
    with Thing(context) as thing:  # type: ignore[arg-type]
        assert (thing.freed, context.released) == (0, 0)
    assert (thing.freed, context.released) == (1, 0)


def test_one_of_its_own_goes_with_it(monkeypatch):
    made = Context()
    monkeypatch.setattr("hra.viewer.in_context.Context", lambda: made)
    Thing(None).close()
    assert made.released == 1


def test_what_fails_while_it_opens_leaves_nothing(monkeypatch):
    made = Context()
    monkeypatch.setattr("hra.viewer.in_context.Context", lambda: made)
    thing = Thing(None)
    with pytest.raises(ZeroDivisionError), thing._opening():
        _ = 1 / 0
    assert (thing.freed, made.released) == (1, 1)
