"""The pictures of the evaluation. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hra_lab.evaluation.pictures import png
from hra_lab.evaluation.residency.orders import ORDERS

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MIB = 2.0**20


def render(record: dict[str, Any]) -> Mapping[str, bytes]:
    """Pictures by path, PNG."""
    return {
        "pictures/residency_over_time.png": png(over_time(record["path"])),
        "pictures/residency_bytes_and_error.png": png(bytes_and_error(record["pools"])),
        "pictures/residency_page_orders.png": png(page_orders(record["orders"])),
    }


def over_time(path: dict[str, Any]) -> Figure:
    """What is held and wanted, and the error beside the least possible, frame by frame."""
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    frames = path["frames"]
    upper.axhline(path["pool"] / _MIB, color="black", linewidth=1, label="pool")
    upper.fill_between(range(len(frames)), [f["held"] / _MIB for f in frames], color="#56B4E9", alpha=0.5, label="held")
    for name, colour in (("wanted", "#D55E00"), ("there", "#0072B2")):
        label = "wanted" if name == "wanted" else "wanted and there"
        upper.step(range(len(frames)), [f[name] / _MIB for f in frames], where="post", color=colour, label=label)
    upper.set(
        ylabel="MiB", ylim=(0, None), title="A path around the sphere, one page per frame; half-way the camera jumps"
    )
    upper.title.set_fontsize(10)
    for name, colour, label in (
        ("error_px2", "#0072B2", "shown"),
        ("least_px2", "#000000", "least possible in the pool"),
    ):
        lower.plot([max(f[name], 1e-4) for f in frames], color=colour, label=label, linewidth=1.2)
    lower.set(yscale="log", xlabel="frame", ylabel="error, px2")
    for axes in (upper, lower):
        _finish(axes)
    return figure


def bytes_and_error(pools: list[dict[str, Any]]) -> Figure:
    """Mean error over the path by pool, one line per rule."""
    figure = Figure(figsize=(7.4, 4.4), layout="constrained")
    axes = figure.subplots()
    names = [name for name in pools[0]["rules"] if name != "hra, hysteresis"]
    shares = [100 * pool["share"] for pool in pools]
    for name, colour in zip(names, _COLOURS, strict=False):
        errors = [max(pool["rules"][name]["error_px2"], 1e-6) for pool in pools]
        least = name == "bound"
        label, shade, line = ("least possible", "black", ":") if least else (name, colour, "-")
        axes.plot(shares, errors, marker="" if least else "o", markersize=4, label=label, color=shade, linestyle=line)
    axes.set(yscale="log", xlabel="pool, % of all pages", ylabel="mean error over the path, px2")
    _finish(axes)
    return figure


def page_orders(rows: list[dict[str, Any]]) -> Figure:
    """One panel per mesh and size of pages: the error that is left by pool, one line per order."""
    meshes, sizes = (list(dict.fromkeys(row[key] for row in rows)) for key in ("mesh", "page_kib"))
    figure = Figure(figsize=(2.7 * len(sizes) + 0.8, 2.7 * len(meshes) + 0.4), layout="constrained")
    panels = figure.subplots(len(meshes), len(sizes), sharex=True, sharey="row", squeeze=False)
    for mesh, line in zip(meshes, panels, strict=True):
        for kib, axes in zip(sizes, line, strict=True):
            chosen = [row for row in rows if (row["mesh"], row["page_kib"]) == (mesh, kib)]
            _order_panel(axes, chosen)
            axes.set_title(f"{mesh}, {kib} KiB", fontsize=8)
    panels[-1][0].legend(fontsize=7)
    figure.supxlabel("pool, % of all bytes", fontsize=9)
    figure.supylabel("error left, share of the coarsest level's", fontsize=9)
    return figure


def _order_panel(axes: Axes, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        shares = [float(share.rstrip("%")) for share in row["errors"]]
        colour = _COLOURS[list(ORDERS).index(row["order"])]
        axes.plot(shares, list(row["errors"].values()), marker="o", markersize=3, color=colour, label=row["order"])
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=7)


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    axes.tick_params(labelsize=8)
