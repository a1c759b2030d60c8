"""The package of learnable parts as a whole."""

from __future__ import annotations

import subprocess
import sys


def test_without_torch_the_package_says_how_to_install_it():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from hra.errors import MissingExtra\n"
        "import hra.domains.tokens\n"
        "try: import hra.domains.tokens.learned\n"
        "except MissingExtra as error: print(error.fix)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "pip install 'hra[torch]'"
