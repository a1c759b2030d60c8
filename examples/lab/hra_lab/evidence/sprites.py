"""What canvases are made of: patterns, told apart in every part that is larger than their period, and by no place."""

from __future__ import annotations

from typing import Literal

import numpy as np

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

PATTERNS = ("level", "upright", "rising", "falling", "checks")
# Degrees from level of the waves that ink follows, downwards; checks are the product of two.
_WAVES = {"level": (90,), "upright": (0,), "rising": (45,), "falling": (-45,), "checks": (0, 90)}
# At random, so that no pattern is known by its exact pixels: periods to a side, degrees, darkness and sharpness.
_PERIODS = (3.2, 4.2)
_TURN = 7.0
_DARK = (0.75, 1.0)
_SHARP = (1.5, 4.0)


def pattern(label: int, side: int, random: np.random.Generator) -> np.ndarray:
    """How much ink each pixel of the pattern ``PATTERNS[label]`` has, float32 [side, side] in 0 .. 1."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float32)
    wave = np.ones((side, side), np.float32)
    turn, frequency = random.uniform(-_TURN, _TURN), random.uniform(*_PERIODS) / side
    for degrees in _WAVES[PATTERNS[label]]:
        angle = np.deg2rad(degrees + turn)
        along = x * np.cos(angle) + y * np.sin(angle)
        wave = wave * np.sin(2 * np.pi * (frequency * along + random.random()))
    return (random.uniform(*_DARK) * (0.5 + random.uniform(*_SHARP) * wave).clip(0, 1)).astype(np.float32)
