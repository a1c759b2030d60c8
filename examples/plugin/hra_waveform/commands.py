"""``hra waveform``: an overview of a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hra.console import JsonOption, MetricOption, TraversalOption, choose_metric, choose_traversal, show, write_json


def waveform(
    file: Annotated[Path, typer.Argument(help="A WAV file of 16 bits.")],
    bars: Annotated[int, typer.Option(help="So many at most.")] = 80,
    begin: Annotated[float, typer.Option(help="Seconds from the start.")] = 0.0,
    end: Annotated[float, typer.Option(help="Seconds from the start.")] = float("inf"),
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    json_file: JsonOption = None,
) -> None:
    """Choose the bars that show a recording best."""
    from hra_waveform import Recording, WaveformAllocator

    chosen_metric = choose_metric(metric) if metric else None
    chosen_traversal = choose_traversal(traversal) if traversal else None
    allocator = WaveformAllocator(Recording.from_wav(str(file)), chosen_metric, chosen_traversal)
    allocation = allocator.allocate((begin, end), bars)
    record = {"bars": len(allocation.cut), "residual": allocation.residual, **allocation.proof}
    write_json(json_file, {**record, "drawn": allocator.realize(allocation)})
    show(f"{file.name}: {allocation}", record.items())
