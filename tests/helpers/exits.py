"""A script in place of a plug-in: to import it ends the process."""

from __future__ import annotations

import sys

sys.exit(3)
