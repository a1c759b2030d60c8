"""What is measured, shown and tried out with the library, and the samples to do it on."""

from __future__ import annotations

from hra.lab import samples as samples
