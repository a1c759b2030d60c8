"""Draw the rooms of the code and their imports: docs/pictures/architecture.svg, and the tables of docs/architecture.md.

Run ``python scripts/draw_architecture.py`` after a change of folders or of their imports; a test compares the tables.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from functools import cache
from pathlib import Path

import grimp
import networkx

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ROOTS = ("hra", "domains", "kernels")
PAGE, PICTURE = ROOT / "docs/architecture.md", ROOT / "docs/pictures/architecture.svg"
# Every room may read and write files, compile and raise errors: arrows to these would hide the others.
COMMON = ("files", "compiling", "moved", "errors")
# So that no arrow crosses a box.
COLUMNS = {
    "cli": 5.3, "pages": 5.3, "integrations": 9.5, "domains.meshes": 1.05, "domains.textures": 3.17,
    "domains.points": 5.29, "domains.tiles": 7.41, "domains.tokens": 9.53,
    "viewer": 5.3, "console": 8.4, "pooling": 1.2, "residency": 3.2, "testing": 6.6, "allocating": 2.2,
    "traversals": 1.7, "solvers": 1.7, "camera": 5.6, "model": 2.6, "plugins": 9.0, "kernels": 4.5, "samples": 8.0,
}  # fmt: skip
# Modules that collect strategies or commands: what they import is chosen by its name and stays a file of its own.
REGISTRIES = re.compile(r"hra\.([\w.]+\.)?(registry|named|policies|commands)")
COLORS = {"cli": "#fbe3c0", "pages": "#fbe3c0", "domains": "#d7e8d4", "kernels": "#e6e6e6"}


def layers() -> list[list[str]]:
    """The rooms of each layer, top to bottom, as import-linter checks them; a domain is a room of its own."""
    contracts = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
    domains = [name.removeprefix("hra.") for name in contracts["domains"]["modules"]]
    rows = [row.split(" | ") for row in contracts["layers"]["layers"]]
    return [domains if row == ["domains"] else row for row in rows]


def imports() -> networkx.DiGraph:
    """Which room imports which; what is imported for annotations only does not count."""
    rooms = [room for row in layers() for room in row]
    modules = grimp.build_graph("hra", exclude_type_checking_imports=True, cache_dir=None)
    graph = networkx.DiGraph()
    graph.add_nodes_from(rooms)
    for module in modules.modules:
        for imported in modules.find_modules_directly_imported_by(module):
            pair = _room(module, rooms), _room(imported, rooms)
            if None not in pair and pair[0] != pair[1]:
                graph.add_edge(*pair)
    return graph


def _room(module: str, rooms: list[str]) -> str | None:
    name = module.removeprefix("hra.") + "."
    return next((room for room in rooms if name.startswith(f"{room}.")), None)


def with_one_importer() -> dict[str, list[str]]:
    """Modules that one module imports: chosen by name from a registry, exported by a package, or ``folds``.

    Only ``folds`` are candidates for being folded into their importer. What a package exports has its users outside.
    """
    graph = grimp.build_graph("hra", exclude_type_checking_imports=False, cache_dir=None)
    found: dict[str, list[str]] = {"registered": [], "exported": [], "folds": []}
    for module in sorted(graph.modules):
        importers = graph.find_modules_that_directly_import(module)
        if len(importers) != 1 or graph.find_children(module):
            continue
        (importer,) = importers
        if REGISTRIES.fullmatch(importer):
            found["registered"].append(module)
        elif module.startswith(f"{importer}.") or module in _exported():
            found["exported"].append(module)
        else:
            found["folds"].append(module)
    return found


@cache
def _exported() -> set[str]:
    """Modules from which the stub of a package exports a name."""
    stubs = [(path.parent, path.read_text("utf-8")) for top in ROOTS for path in (ROOT / top).rglob("__init__.pyi")]
    return {
        "hra." + ".".join([*folder.relative_to(ROOT).parts, module]).removeprefix("hra.")
        for folder, stub in stubs
        for module in re.findall(r"^from \.([\w.]+) import", stub, re.MULTILINE)
    }


def paragraphs(name: str) -> list[str]:
    """The docstring of a package or module, named without ``hra.``: its first line and further paragraphs."""
    outside = name.partition(".")[0] in ("domains", "kernels")
    path = ROOT / (name if outside else f"hra/{name}").replace(".", "/")
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(source.read_text("utf-8"))) or "").split("\n\n")


def folders(room: str) -> list[str]:
    """The packages below a room, named without ``hra.``, in the order of the alphabet."""
    packages = (name.removeprefix("hra.") for name in PROJECT["tool"]["setuptools"]["packages"])
    return sorted(name for name in packages if name.startswith(f"{room}."))


def tables() -> str:
    """The generated part of the page: a table of the rooms, and one of the folders below them."""
    graph, rooms = imports(), [room for row in layers() for room in row]
    lines = ["| room | what it is | imports |", "| --- | --- | --- |"]
    for room in rooms:
        below = ", ".join(other for other in rooms if graph.has_edge(room, other)) or "nothing of hra"
        lines.append(f"| `{room}` | {paragraphs(room)[0]} | {below} |")
    lines += ["", "| folder | what it is |", "| --- | --- |"]
    lines += [f"| `{folder}` | {paragraphs(folder)[0]} |" for room in rooms for folder in folders(room)]
    return "\n".join(lines)


def with_tables(page: str) -> str:
    """The page with its generated part as it should be now."""
    begin, end = "<!-- made by scripts/draw_architecture.py -->\n", "\n<!-- until here -->"
    made = re.compile(f"({re.escape(begin)}).*({re.escape(end)})", re.DOTALL)
    return made.sub(lambda found: found[1] + tables() + found[2], page)


def draw() -> None:
    """Rooms as boxes, layer above layer, and an arrow for each import that no other arrows stand for."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "hra", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, centers = Figure(figsize=(10, 9)), _centers()
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 10.6), ylim=(min(y for _, y in centers.values()) - 0.6, 0.6))
    axes.axis("off")
    for room, (x, y) in centers.items():
        _draw_room(axes, room, x, y)
    shown = imports()
    shown.remove_nodes_from(COMMON)
    arrow = {"arrowstyle": "-|>", "color": "#777777", "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    for above, below in sorted(networkx.transitive_reduction(shown).edges):
        start = centers[above][0], centers[above][1] - _half_height(above) - 0.03
        end = centers[below][0], centers[below][1] + _half_height(below) + 0.03
        axes.annotate("", end, start, arrowprops=arrow)
    figure.savefig(PICTURE, metadata={"Date": None})


def _draw_room(axes, room: str, x: float, y: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    half, inside = _half_height(room), _children(room)
    width = 2.0 if room in ("pages", "kernels") or room.startswith("domains") else 1.5
    color = COLORS.get(room.partition(".")[0], "#d5e3f3")
    axes.add_patch(FancyBboxPatch((x - width / 2, y - half), width, 2 * half, "round,pad=0.02", fc=color, ec="#555555"))
    axes.text(x, y + (0.1 if inside else -0.05), room, ha="center", weight="bold", fontsize=10)
    small = "\n".join(textwrap.wrap(" ".join(inside), int(width * 18)))
    axes.text(x, y + 0.05, small, ha="center", va="top", fontsize=6.5, linespacing=1.0)


def _centers() -> dict[str, tuple[float, float]]:
    """Where the boxes stand; a room that `COLUMNS` does not know stands in the middle of its layer."""
    rows = [[room for room in row if room not in COMMON] for row in layers()]
    return {room: (COLUMNS.get(room, 5.0), -float(y)) for y, row in enumerate(filter(None, rows)) for room in row}


def _children(room: str) -> list[str]:
    """The folders directly below a room, without its name."""
    below = [name.removeprefix(f"{room}.") for name in folders(room)]
    return [name for name in below if "." not in name]


def _half_height(room: str) -> float:
    return 0.3 if _children(room) else 0.2


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
    draw()
    counts = {kind: len(modules) for kind, modules in with_one_importer().items()}
    print(f"modules that one other imports: {sum(counts.values())}, {counts}")
