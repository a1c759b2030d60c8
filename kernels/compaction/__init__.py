"""What to draw: threshold cuts, and lists of what is set.

From an error per node to the list of what is drawn, on the host or on the device.
"""

from __future__ import annotations

from hra.kernels.compaction.draw_list import compact, threshold_cut

__all__ = ["compact", "threshold_cut"]
