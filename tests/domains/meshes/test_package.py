"""The package itself is light to import."""

from __future__ import annotations

import subprocess
import sys


def test_importing_needs_no_optional_package() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['trimesh', 'meshoptimizer', 'scipy', 'PIL', 'torch']));"
        "import hra.domains.meshes"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
