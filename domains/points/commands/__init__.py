"""``hra points``: build a tree over a cloud, look at it, cut it, draw it, hand it on.

One file for options and output; nothing is computed here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import (
    JsonOption,
    MetricOption,
    TraversalOption,
    byte_count,
    choose_metric,
    choose_traversal,
    count,
    running,
    show,
    with_option_lists,
    write_json,
    written_as,
)
from hra.console.camera_options import UP, CameraOptions, ViewportOption
from hra.errors import BudgetTooSmall, HraError

# The axes of splats lead right, down and forward; those of a coordinate system east, north and up.
_UP, _MAP_UP = {"points": UP, "splats": (0.0, -1.0, 0.0)}, (0.0, 0.0, 1.0)

app = typer.Typer(help="Points and Gaussian splats within a budget.", no_args_is_help=True)
BuiltCloud = Annotated[Path, typer.Argument(help="A tree built by `hra points build`.", metavar="CLOUD.hpt")]


@dataclass(frozen=True)
class _ChoiceOptions:
    """What chooses the nodes of a cut, as it was given."""

    nodes: Annotated[
        float | None, typer.Option("--points", parser=count, help="Points or splats at most.", metavar="N")
    ] = None
    byte_budget: Annotated[
        str | None, typer.Option("--bytes", help="Bytes of the PLY file at most.", metavar="SIZE")
    ] = None
    metric: MetricOption = None
    traversal: TraversalOption = None

    def tree(self, cloud: Path) -> tuple[Any, float]:
        """A built tree, and what is spent of it."""
        from hra.domains import points
        from hra.domains.points.files.reading import header_bytes

        if self.nodes is not None and self.byte_budget is not None:
            raise HraError("two budgets were given", where="hra points", fix="use --points or --bytes")
        tree, budget = points.load_tree(cloud), float("inf") if self.nodes is None else self.nodes
        if self.byte_budget is None:
            return tree, budget
        header = header_bytes(tree.take([0]), len(tree.leaves))
        tree, asked = tree.with_cost("bytes"), byte_count(self.byte_budget)
        least = header + int(tree.hierarchy.base_cost)
        if asked < least:
            what = f"the coarsest cut takes up to {least:,} bytes as a file, the budget is {asked:,}"
            raise BudgetTooSmall(what, where="--bytes", fix=f"use at least {least:,} bytes")
        return tree, asked - header

    def chooser(self, usual: str) -> dict[str, Any]:
        """Metric and traversal; ``usual``: the metric if none was given."""
        traversal = choose_traversal(self.traversal) if self.traversal else None
        return {"metric": choose_metric(self.metric or usual), "traversal": traversal}

    def cut(self, cloud: Path, placed: CameraOptions, screen: str, usual: str) -> tuple[Any, Any, Any]:
        """Allocator, allocation and camera of a built tree."""
        from hra.domains import points

        tree, budget = self.tree(cloud)
        camera = placed.camera(tree.outline, screen, tree.origin, _usual_up(tree))
        # Full detail needs no errors from pictures, which take long.
        usual = usual if budget < tree.hierarchy.total_cost else "cloud_error"
        allocator = points.PointAllocator(tree, **self.chooser(usual))
        with running(f"cutting {cloud.name}"):
            return allocator, allocator.allocate(camera, budget), camera


@app.command()
def build(
    source: Annotated[Path, typer.Argument(help="PLY (points, vertices or splats), SOG, LAS, LAZ or COPC.")],
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".hpt"), help="The built tree, .hpt.")],
    level: Annotated[
        int | None,
        typer.Option(min=0, help="Finest level to read of a COPC file; 0 is its root."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Build LAS or LAZ in parts within this memory, such as 2GiB.", metavar="SIZE")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Build the tree over a cloud. With --memory the cloud may be larger than memory; the file is the same."""
    from hra.domains import points

    if memory is not None:
        if level is not None:
            raise HraError("a cloud built in parts is read as a whole", where="--level", fix="leave one of them out")
        with running(f"building {source.name} in parts"):
            report = points.build_out_of_core(source, out, memory=byte_count(memory))
        record = {"kind": "points", **asdict(report)}
        write_json(json_file, record)
        return show(f"{source.name} -> {out}", record.items())
    with running(f"building {source.name}"):
        tree = points.build(points.load_points(source, level))
        points.save_tree(out, tree)
    return _report(tree, json_file, f"{source.name} -> {out}")


@app.command()
def info(cloud: BuiltCloud, json_file: JsonOption = None) -> None:
    """Show the content of a built tree."""
    from hra.domains import points

    _report(points.load_tree(cloud), json_file, cloud.name)


@app.command()
@with_option_lists
def cut(
    cloud: BuiltCloud,
    placed: CameraOptions,
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".ply"), help="The cut as PLY.")],
    choice: _ChoiceOptions,
    viewport: ViewportOption = "1920x1080",
    json_file: JsonOption = None,
) -> None:
    """Cut a built tree to a budget for a camera."""
    from hra.domains import points

    allocator, allocation, _ = choice.cut(cloud, placed, viewport, "cloud_error")
    points.save_points(out, allocator.realize(allocation))
    _answer(allocation, json_file, out)


@app.command()
@with_option_lists
def render(
    cloud: BuiltCloud,
    placed: CameraOptions,
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".png"), help="The picture.")],
    choice: _ChoiceOptions,
    viewport: ViewportOption = "960x540",
    json_file: JsonOption = None,
) -> None:
    """Draw a cut; without a budget draw full detail."""
    from hra.domains import points
    from hra.files.images import save_png

    allocator, allocation, camera = choice.cut(cloud, placed, viewport, "picture_error")
    with running("drawing"):
        save_png(out, points.render(allocator.realize(allocation), camera)[0])
    _answer(allocation, json_file, out)


@app.command()
@with_option_lists
def view(
    cloud: BuiltCloud,
    placed: CameraOptions,
    choice: _ChoiceOptions,
    viewport: ViewportOption = "960x540",
    screenshot: Annotated[
        Path | None, typer.Option(callback=written_as(".png"), help="Write a PNG instead of opening a window.")
    ] = None,
) -> None:
    """Open a window on a built tree, with a slider for the budget.

    Drag to turn the cloud, drag with the right button to move it, use the wheel to go nearer. Keys: up and down the
    budget, f freezes the cut, h is home.
    """
    from hra.domains import points
    from hra.files.images import save_png

    with running(f"opening {cloud.name}"):
        tree, budget = choice.tree(cloud)
        up = placed.upward(_usual_up(tree))
        camera = placed.camera(tree.outline, viewport, tree.origin, up)
        options = {"up": None if placed.camera_file else up, "budget": budget}
        options |= choice.chooser("cloud_error")
    if screenshot is None:
        with (
            points.CloudWindow(camera.viewport, cloud.name) as window,
            points.CloudSession(tree, camera, context=window.context, **options) as session,
        ):
            window.show(session)
        return
    with points.CloudSession(tree, camera, **options) as session:
        lines = session.frame().lines()
        save_png(screenshot, session.picture())
    typer.echo("\n".join([f"{screenshot}: {viewport} pixels", *lines]))


@app.command()
def export(
    cloud: BuiltCloud,
    out: Annotated[
        Path, typer.Option("-o", "--out", callback=written_as(".ply", ".laz"), help="The cloud as PLY, or as COPC.")
    ],
    json_file: JsonOption = None,
) -> None:
    """Write full detail: PLY, or points as COPC (.copc.laz), whose levels other viewers stream."""
    from hra.domains import points

    tree = points.load_tree(cloud)
    with running(f"writing {out.name}"):
        points.save_points(out, tree.take(tree.leaves))
    _report(tree, json_file, f"{cloud.name} -> {out}")


def _usual_up(tree: Any) -> tuple[float, float, float]:
    """The upward direction if none was given."""
    return _MAP_UP if tree.crs else _UP[tree.kind.unit]


def _answer(allocation: Any, json_file: Path | None, out: Path) -> None:
    record = {"nodes": len(allocation.cut), "cost": allocation.cost, "cost_unit": allocation.hierarchy.cost_unit}
    record |= {"residual": allocation.residual, "unit": allocation.problem.unit, **allocation.proof}
    record |= {"seconds": allocation.seconds, "file": str(out)}
    write_json(json_file, record)
    show(repr(allocation), record.items())


def _report(tree: Any, json_file: Path | None, title: str) -> None:
    low, high = tree.bounds.tolist()
    record = {"kind": tree.kind.unit, "leaves": len(tree.leaves), "nodes": len(tree.parent), "low": low, "high": high}
    strays = len(tree.leaves) - len(tree.near_leaves)
    record |= {"leaves far from all others": strays} if strays else {}
    record |= {"origin": list(tree.origin)} if any(tree.origin) else {}
    record |= {"fields": ", ".join(tree.fields)} if tree.fields else {}
    write_json(json_file, record)
    show(title, record.items())
