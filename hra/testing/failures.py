"""What a check raises."""

from __future__ import annotations

from hra.errors import HraError


class CheckFailed(HraError):
    """Something that hra relies on does not hold; the message says what, on which instance, and how to fix it.

    Examples
    --------
    >>> import hra, hra.testing
    >>> class Greedy(hra.Traversal):
    ...     def select(self, problem):
    ...         return hra.Solution(problem.gain >= 0)
    >>> try:
    ...     hra.testing.check_traversal(Greedy(), kinds=["flat"])
    ... except hra.testing.CheckFailed as failure:
    ...     print("the traversal spent 12" in failure.what)
    True
    """

    code = "check-failed"


def require(holds: bool, what: str, *, where: str, fix: str = "") -> None:
    """Raise unless ``holds``.

    Raises
    ------
    CheckFailed : it does not.
    """
    if not holds:
        raise CheckFailed(what, where=where, fix=fix)
