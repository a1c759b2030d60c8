"""A domain of one's own: a million readings of a sensor, drawn with as few steps as a chart has room for.

Run ``python examples/write_a_domain.py [FOLDER]``; a chart is written there (default: out).
A node is an interval of readings, drawn at their mean; a refinement draws
its two halves instead. The context is the window of readings that the chart shows.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
import hra.testing


def intervals(readings):
    """The intervals of ``readings`` [2**K] as a hierarchy: node v has the halves 2 v + 1 and 2 v + 2."""
    means, spreads = [readings], [np.zeros(len(readings))]
    while len(means[0]) > 1:
        pairs, below = means[0].reshape(-1, 2), spreads[0].reshape(-1, 2).sum(axis=1)
        # The squares around a mean are those around both halves' means, and what these two differ by.
        spreads.insert(0, below + len(readings) / len(pairs) * (np.diff(pairs)[:, 0] / 2) ** 2)
        means.insert(0, pairs.mean(axis=1))
    size = np.concatenate([np.full(len(level), len(readings) // len(level)) for level in means])
    begin = np.concatenate([np.arange(len(level)) for level in means]) * size
    known = {"mean": np.concatenate(means), "spread": np.concatenate(spreads), "begin": begin, "end": begin + size}
    parent = (np.arange(len(size)) - 1) // 2
    return hra.Hierarchy.tree(parent, np.ones(len(size)), attributes=known, cost_unit="steps")


class ChartError(hra.ErrorMetric):
    """Squared distance of readings from the step that stands for them, summed over what the window shows."""

    unit = "squared reading"

    def evaluate(self, hierarchy, context):
        """Error of every interval [N]; the context is (first reading in the window, first one after it)."""
        seen = (hierarchy.attribute("begin") < context[1]) & (hierarchy.attribute("end") > context[0])
        return np.where(seen, hierarchy.attribute("spread"), 0.0)


class Chart(hra.HierarchicalResourceAllocator):
    """Chooses the steps that a chart draws."""

    def realize(self, allocation):
        """All readings as the chart shows them."""
        mean, begin, end = (allocation.hierarchy.attribute(name)[allocation.cut] for name in ("mean", "begin", "end"))
        return np.repeat(mean[np.argsort(begin)], np.sort(end) - np.sort(begin))


if __name__ == "__main__":
    rng, count = np.random.default_rng(0), 2**20
    bursts = (rng.random(count // 4096) < 0.1).repeat(4096)  # quiet most of the time
    readings = np.sin(np.linspace(0, 9, count)) + np.where(bursts, 1.0, 0.02) * rng.normal(size=count).cumsum() / 30
    hra.testing.check_hierarchy(intervals(readings[:256]))
    hra.testing.check_metric(ChartError(), intervals(readings[:4096]), [(0, 4096), (5, 6), (9, 9)])
    chart = Chart(intervals(readings), ChartError(), hra.Hull())
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(10, 5), layout="constrained")
    windows = [(0, count), (int(bursts.argmax()) - 3000, int(bursts.argmax()) + 17_000)]
    for axes, window in zip(figure.subplots(2, 1), windows, strict=True):
        allocation = chart.allocate(window, budget=1000)
        error = np.mean((chart.realize(allocation) - readings)[slice(*window)] ** 2) ** 0.5
        even = np.concatenate([part - part.mean() for part in np.array_split(readings[slice(*window)], 1000)])
        print(f"{allocation}; distance {error:.4f}, with equal steps {np.mean(even**2) ** 0.5:.4f}")
        axes.plot(np.arange(*window)[::16], readings[slice(*window)][::16], color="#56b4e9", linewidth=0.5)
        axes.plot(np.arange(*window), chart.realize(allocation)[slice(*window)], color="#d55e00", linewidth=1)
        axes.set_title(f"{window[1] - window[0]:,} readings in {len(allocation.cut):,} steps")
    figure.savefig(folder / "chart.png", dpi=100)
