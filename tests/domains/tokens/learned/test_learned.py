"""The package of learnable parts as a whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hra.errors import ArrayError


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "a", True])
@pytest.mark.parametrize(
    "name",
    ["RelevanceScorer", "Resampler", "SplitNetwork", "StrataNetwork", "LogPolarSampler", "RandomFeatureAttention"],
)
def test_seeds_are_whole_numbers_from_0_on(name, seed):
    learned = pytest.importorskip("hra.domains.tokens.learned")
    sizes = {"width": 16} if name == "Resampler" else {}
    with pytest.raises(ArrayError, match="seed must be an integer"):
        getattr(learned, name)(**sizes, seed=seed)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Resampler", {"width": 0}),
        ("Resampler", {"width": 16, "heads": 0}),
        ("Resampler", {"width": 16, "keys": -1}),
        ("SplitNetwork", {"levels": 0}),
        ("SplitNetwork", {"hidden": 1.5}),
        ("StrataNetwork", {"width": -1}),
        ("LogPolarSampler", {"count": -1}),
    ],
)
def test_sizes_are_whole_numbers_from_1_on(name, size):
    learned = pytest.importorskip("hra.domains.tokens.learned")
    with pytest.raises(ArrayError, match="must be an integer of 1 or more"):
        getattr(learned, name)(**size)


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
