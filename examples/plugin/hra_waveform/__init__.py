"""A recording drawn in bars from its lowest to its highest sample, many where it changes and few where it is quiet."""

from __future__ import annotations

import wave
from dataclasses import dataclass

import numpy as np

import hra

NAMES: tuple[str, ...] = ("begin", "end", "low", "high")  # seconds, and samples


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples float32 [N] from -1 to 1 of one channel, ``rate`` a second."""

    samples: np.ndarray
    rate: int

    @classmethod
    def from_wav(cls, path: str) -> Recording:
        """The first channel of a WAV file of 16 bits."""
        try:
            with wave.open(path, "rb") as file:
                if file.getsampwidth() != 2 or not file.getnframes():
                    raise wave.Error("no samples of 16 bits")
                channels, rate = file.getnchannels(), file.getframerate()
                data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        except (OSError, EOFError, wave.Error) as error:
            raise hra.HraError(f"cannot be read: {error}", where=path, fix="give a WAV file of 16 bits") from error
        return cls(data[::channels] / np.float32(2**15), rate)

    def hierarchy(self, least: int = 32) -> hra.Hierarchy:
        """Bars over halves of halves, down to ``least`` samples; each costs 1 and gives way to its two halves."""
        depth = max(int(np.log2(len(self.samples) / least)), 0)
        edges = np.arange(2**depth + 1) * len(self.samples) // 2**depth
        low, high = (f.reduceat(self.samples, edges[:-1]).astype(float) for f in (np.minimum, np.maximum))
        bars = np.stack([edges[:-1] / self.rate, edges[1:] / self.rate, low, high])
        levels = [bars]
        for _ in range(depth):
            begin, end, low, high = bars
            low, high = low.reshape(-1, 2).min(axis=1), high.reshape(-1, 2).max(axis=1)
            bars = np.stack([begin[::2], end[1::2], low, high])
            levels.insert(0, bars)
        parent = (np.arange(2 ** (depth + 1) - 1) - 1) // 2
        attributes = dict(zip(NAMES, np.hstack(levels), strict=True))
        return hra.Hierarchy.tree(parent, np.ones(parent.size), attributes=attributes, cost_unit="bars")


@dataclass(frozen=True)
class BarArea(hra.ErrorMetric):
    """What the bars paint in a part of the recording; the context is its (begin, end) in seconds."""

    unit = "amplitude seconds"

    def evaluate(self, hierarchy: hra.Hierarchy, context: tuple[float, float]) -> np.ndarray:
        """Area of every bar within the part, float64 [N]; two halves never paint more than the whole."""
        begin, end, low, high = (hierarchy.attribute(name) for name in NAMES)
        return (high - low) * (np.minimum(end, context[1]) - np.maximum(begin, context[0])).clip(0)


@dataclass(frozen=True)
class TallestFirst(hra.Traversal):
    """The best set on the convex hull, then whatever gains most and still fits, at any cost."""

    def select(self, problem: hra.Problem) -> hra.Solution:
        """Refinements with the price that bounds what any others could gain."""
        relaxed = hra.relaxation(problem)
        selected = hra.complete(problem, relaxed.selected, problem.gain, spend_all=False)
        return hra.Solution(selected, relaxed.price, share=relaxed.share)


class WaveformAllocator(hra.HierarchicalResourceAllocator):
    """Chooses the bars of a recording."""

    def __init__(self, recording: Recording, metric=None, traversal=None) -> None:
        super().__init__(recording.hierarchy(), metric or BarArea(), traversal or TallestFirst())

    def realize(self, allocation: hra.Allocation) -> np.ndarray:
        """Begin, end (s), lowest and highest sample of every bar in order, float64 [K, 4]."""
        bars = np.column_stack([allocation.hierarchy.attribute(name)[allocation.cut] for name in NAMES])
        return bars[np.argsort(bars[:, 0])]
