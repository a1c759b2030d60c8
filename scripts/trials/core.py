"""The solver, its answer in a file and back, and the command line's help."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np

import hra

tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [0, 2, 3, 1, 4])
allocation = hra.solve(tree, 5, gains=[0, 3, 2, 1, 5], traversal=hra.Exact())
assert hra.verify(allocation).ok and allocation.cost <= 5, allocation
with tempfile.TemporaryDirectory() as folder:
    allocation.save(Path(folder, "a.npz"))
    assert hra.verify(hra.Allocation.load(Path(folder, "a.npz"))).ok
for group in ([], ["mesh", "build"], ["tokens", "allocate"]):
    command = [str(Path(sys.executable).with_name("hra")), *group, "--help"]
    assert "Usage" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
print(f"numpy {np.__version__}, numba {numba.__version__}")
