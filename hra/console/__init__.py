"""What commands share: the ``--json`` file, tables, progress, and options that name traversals, metrics and cameras.

Commands of hra's domains and of other packages use it. It stands below the domains and knows none of them; the command
line itself, which finds all commands, is `hra.cli`.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
