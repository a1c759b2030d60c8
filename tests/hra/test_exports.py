"""What `import hra` gives, and what it does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hra


@pytest.mark.parametrize(
    "code", ["import hra", "import hra.errors", "from hra.errors import HraError", "dir(__import__('hra'))"]
)
def test_importing_the_package_or_its_errors_loads_nothing_of_it(code):
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if name.startswith("hra")} <= {
        "hra",
        "hra.errors",
        "hra.files",
        "hra.files.forking",
        "hra.moved",
    }


def test_the_samples_are_exported():
    assert hra.samples.path("page.png").is_file()
