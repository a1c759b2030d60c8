"""Hugging Face models with fewer visual tokens (extra ``hra[hf]``): any allocator, one hook, no patched code.

The layout of inputs, features and positions of these models belongs here; torch is imported with the package. Which
tokens to keep is the business of `hra.domains.tokens`.
"""

from __future__ import annotations

import lazy_loader

from hra.errors import MissingExtra

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra.of(str(error.name), "hf") from error

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
