"""Ray (extra ``hra[ray]``): token rows of images by a pool of actors, as a step of a pipeline of Ray Data or alone.

`TokenAllocation` is the callable that ``hra tokens allocate FOLDER`` runs in processes; here it is one actor's. Only
the way in which Ray starts it belongs here. Ray Data is not imported, because actors alone do not need it.
"""

from __future__ import annotations

import lazy_loader

from hra.errors import MissingExtra

try:
    import ray  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra.of(str(error.name), "ray") from error

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
