"""Checks for people who write a hierarchy, a metric or a traversal of their own.

Each raises `CheckFailed` at the first violation, and says what is wrong, on which instance, and how to fix it. Authors
of plug-ins can run them in tests of their own; they need no test framework. Here belong the checks, the small random
instances that they run on, and answers by enumeration; nothing of it is used by the library itself.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
