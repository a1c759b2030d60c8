"""Every error and warning that hra raises on purpose.

An error says *what* is wrong, *where* (file, element, index) and *how to fix it*. The command line prints these three
lines and exits with code 2; programs branch on the class or on the stable ``code``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# What stands between a line that calls hra and what goes on in it: contexts, threads and generators as well.
_BETWEEN = {"hra", *sys.stdlib_module_names}


class HraError(Exception):
    """Base of all errors of hra.

    Parameters
    ----------
    what : one sentence naming the problem.
    where : the file, argument, element or index concerned; may be empty.
    fix : what the caller can do about it; by default what usually helps with errors of the class.

    Examples
    --------
    >>> import hra
    >>> try:
    ...     hra.solve(hra.Hierarchy.flat([1, 1]), budget=-1, gains=[1.0, 2.0])
    ... except hra.HraError as error:
    ...     print(error.code, "|", error.what)
    invalid-budget | a budget cannot be -1.0
    """

    code = "error"
    # What to do where an error knows nothing better.
    usual_fix = "change the named value to one that its documentation allows"

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix = fix or self.usual_fix
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The message as at most three lines: what, where, fix."""
        parts = [self.what]
        if self.where:
            parts.append(f"where: {self.where}")
        return [*parts, f"fix: {self.fix}"]

    def __reduce__(self):
        # Keyword-only arguments do not survive the default pickling of exceptions (multiprocessing needs it).
        return (_rebuild, (type(self), self.what, self.where, self.fix))


def _rebuild(cls: type[HraError], what: str, where: str, fix: str) -> HraError:
    return cls(what, where=where, fix=fix)


def wrong_kind(name: str, value: object, kinds: type | tuple[type, ...], fix: str) -> HraError:
    """The error for an argument ``name`` that is not of one of ``kinds``: swapped ones are named before they are used.

    `check_kind` raises it. The ways from a camera to a cut and from an image to tokens, whose changes of file are
    counted, check in line.

    Parameters
    ----------
    fix : how to call it right.
    """
    wanted = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    given = f"the class {value.__name__} itself" if isinstance(value, type) else f"a {type(value).__name__}"
    return HraError(f"{name} must be a {wanted}, got {given}", where=name, fix=fix)


def check_kind(name: str, value: object, kinds: type | tuple[type, ...], fix: str) -> None:
    """Raise `wrong_kind` unless the argument ``name`` is of one of ``kinds``; parameters as there.

    Raises
    ------
    HraError : it is not.
    """
    if not isinstance(value, kinds):
        raise wrong_kind(name, value, kinds, fix)


def check_function(name: str, value: object, fix: str) -> None:
    """Raise unless the argument ``name`` can be called with data: classes are passed for their objects by mistake.

    Parameters
    ----------
    fix : how to call it right.

    Raises
    ------
    HraError : neither a function nor an object that can be called, or a class.
    """
    if isinstance(value, type) or not callable(value):
        what = f"{name} must be a function, or an object that is called as one, got {value!r:.80}"
        raise HraError(what, where=name, fix=fix)


def check_choice(
    name: str, value: object, choices: Iterable[str], kind: type[HraError] = HraError, where: str = ""
) -> None:
    """Refuse an argument ``name`` that is none of the texts ``choices``.

    Raises
    ------
    ``kind``, by default an HraError, with all choices as its fix; ``where`` is the argument's name by default.
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        fix = f"use one of {', '.join(known)}"
        raise kind(f"{name} {repr(value)[:100]} is unknown", where=where or name, fix=fix)


class ArrayError(HraError):
    """An array argument has the wrong shape, dtype, layout or values."""

    code = "invalid-array"
    usual_fix = "pass an array of the shape, type and values that the message asks for"


class HierarchyError(HraError):
    """The refinements do not form a partial order, or a cost or index is invalid."""

    code = "invalid-hierarchy"
    usual_fix = "number the nodes so that each refinement builds on coarser ones only, with costs >= 0"


class MetricError(HraError):
    """A metric returned unusable values, or lacks the data that it needs."""

    code = "invalid-metric"
    usual_fix = "let the metric return one finite number per node, from attributes that the hierarchy has"


class UnitMismatch(MetricError):
    """Two quantities of different units were to be added, compared or pooled."""

    code = "unit-mismatch"
    usual_fix = "weight one of the two by a factor that has the missing unit"


class InvalidBudget(HraError):
    """The budget is not a non-negative number."""

    code = "invalid-budget"
    usual_fix = "pass a number >= 0, or inf for everything"


class BudgetTooSmall(HraError):
    """The budget does not even cover the coarsest level; the message states the minimum."""

    code = "budget-too-small"
    usual_fix = "raise the budget to the minimum that the message states"


class InfeasibleShares(HraError):
    """Minimums of single levels cannot be met within the budget; the message states what is possible, where proven."""

    code = "infeasible-shares"
    usual_fix = "raise the budget, or ask for smaller shares"


class VerificationError(HraError):
    """What an allocation states was refuted."""

    code = "refuted"
    usual_fix = "do not use the allocation; allocate again"


class CameraError(HraError):
    """A camera parameter or matrix is invalid."""

    code = "invalid-camera"
    usual_fix = "make cameras by `Camera.perspective`, `orbit` or `orthographic`"


class FileError(HraError):
    """A file is missing, unreadable, malformed or not allowed."""

    code = "invalid-file"
    usual_fix = "check that the file is complete and of this format, or export it again"


class LimitExceeded(FileError):
    """Reading a file would take more than `hra.files.limits.Limits` allow; the message names the limit."""

    code = "limit-exceeded"


class OutOfMemory(HraError):
    """The machine has too little memory; the message says how much was needed, where that is known."""

    code = "out-of-memory"
    usual_fix = "use a smaller input, or a machine with more memory"


class MeshError(HraError):
    """A mesh is empty, or has invalid vertices or indices."""

    code = "invalid-mesh"
    usual_fix = "correct the mesh in a modelling program, or export it again"


class ImageError(HraError):
    """An image cannot be decoded, is too large, or has an invalid layout."""

    code = "invalid-image"
    usual_fix = "check that the file is a complete image, or save it again as PNG"


class BackendUnavailable(HraError):
    """A backend (Warp, OpenGL, CUDA ...) is missing or failed; the message gives the reason."""

    code = "backend-unavailable"
    usual_fix = "choose another backend; `hra doctor` shows which work"


class MissingExtra(HraError):
    """An optional dependency is not installed; the message prints the install command."""

    code = "missing-extra"
    # What is not installed, where that is known: commands ask for the extra of their own that has it.
    package = ""
    usual_fix = "install the extra that is named"

    @classmethod
    def of(cls, package: str, extra: str) -> MissingExtra:
        """The error for ``package``, which the extra ``hra[extra]`` provides."""
        error = cls(
            f"the package {package!r} is not installed", where=f"extra {extra!r}", fix=f"pip install 'hra[{extra}]'"
        )
        error.package = package
        return error


@contextmanager
def needs(package: str, extra: str) -> Iterator[None]:
    """For the imports of an optional ``package``, which the extra ``hra[extra]`` provides.

    Raises
    ------
    MissingExtra : an import within failed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra.of(package, extra) from error


class HraWarning(UserWarning):
    """Base of all warnings of hra: the input was repaired or a part of it skipped, or less is promised than usual."""


class RepairWarning(HraWarning):
    """An input was repaired; the message says what and how often."""


class HookWarning(HraWarning):
    """A method of a subclass looks like one that hra calls and is none; the message names the one that is meant."""


class EstimateWarning(HraWarning):
    """An estimate stands in where a bound is missing; the message says what that means."""


def warn(what: str, category: type[HraWarning] = RepairWarning) -> None:
    """Warn at the line that called hra, through however many calls, also of the standard library, it led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(what, category, stacklevel=level)
