"""``hra tiles``: tilesets of viewers within a cache of bytes.

One file for a command: options, a call of the library's public surface, and the output. Nothing is computed here.
"""

from __future__ import annotations

import typer

from hra.domains.tiles.commands.planning import plan

app = typer.Typer(help="Tilesets of viewers within a cache of bytes.", no_args_is_help=True)
app.command()(plan)


@app.callback()
def tiles() -> None:
    """Tilesets of viewers within a cache of bytes."""
