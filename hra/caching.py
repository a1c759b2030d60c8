"""``functools.cached_property`` without the lock that a forked child can inherit held (3.11), `kept` and `Scratch`.

Up to Python 3.11 one lock for each property is held while its function runs, for all objects of the class. A child that
was forked meanwhile waits for it forever: the thread that would release it does not exist there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")
Made = TypeVar("Made")


class cached_property(Generic[T]):
    """A property computed once for each object and kept in its ``__dict__``.

    Threads that ask at the same time may each compute it; all get the value that was kept first.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__, self.__module__ = function, function.__doc__, function.__module__
        self._name = function.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        """The attribute's name, which need not be the function's."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        """The value; on the class, the property itself."""
        return self if instance is None else instance.__dict__.setdefault(self._name, self.function(instance))


def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
    """What ``make`` returned when the object was first asked for ``key``; later calls must mean the same.

    A method for classes whose objects keep what follows from them alone: ``once = kept``.
    """
    made = self.__dict__.setdefault("_made", {})
    if key not in made:
        made[key] = make()
    return made[key]


class Scratch(threading.local):
    """Arrays by name, one set for every thread; contents are whatever the last user left.

    Fresh memory of the size of a solve costs as much as the solve itself.
    """

    def array(self, name: str, shape: tuple[int, ...], dtype: type = float) -> np.ndarray:
        """The array ``name``, made on first use and again when its shape changes."""
        known = self.__dict__.get(name)
        if known is None or known.shape != shape:
            import numpy as np

            known = np.empty(shape, dtype)
            setattr(self, name, known)
        return known
