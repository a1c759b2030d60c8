"""What is measured, shown and tried out with the library, and the samples to do it on.

The lab uses the library as anybody does; it may import every domain, and only the command line imports it. An algorithm
that is worth calling from elsewhere belongs to the core, a kernel or a domain.
"""

from __future__ import annotations

from hra.lab import samples as samples
