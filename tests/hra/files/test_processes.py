"""Memory that is freed and needed again comes without new pages."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# In a process of its own: what it sets holds for all that comes after.
CHILD = """
import resource, sys
import numpy as np
from hra.files.processes import keep_freed_memory

assert sys.argv[1] == "as it is" or keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    arrays = [np.ones(1_000_000, np.uint8) for _ in range(4)]  # what one image needs
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", CHILD, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library of GNU")
def test_pages_are_filled_once():
    pages = 4_000_000 // 4096
    assert _faults("kept") < 2 * pages < 5 * pages < _faults("as it is")
