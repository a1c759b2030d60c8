"""The page docs/architecture.md is true: its tables are those of the code, and its tours are what is called."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import grimp
import networkx
import numpy as np
import pytest

import hra
from hra.domains import meshes, tokens
from hra.residency import GroundTexture, Streaming, evaluate
from hra_lab.inputs.mesh_sources import bumpy

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
STOP = re.compile(r"^\d+\. `(hra\.[\w.]+)`: ", re.MULTILINE)


@pytest.fixture(scope="module")
def command() -> ModuleType:
    spec = spec_from_file_location("draw_architecture", ROOT / "scripts/draw_architecture.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_code(command: ModuleType):
    assert command.with_tables(PAGE) == PAGE, "run python scripts/draw_architecture.py"


def test_every_room_and_folder_says_what_it_is_and_what_belongs_in_it(command: ModuleType):
    rooms = [room for row in command.layers() for room in row]
    packages = [room for room in rooms if not (ROOT / f"hra/{room}.py").exists()]
    for name in [*packages, *(folder for room in rooms for folder in command.folders(room))]:
        first, *others = command.paragraphs(name)
        assert first.endswith((".", "``.")) and "\n" not in first, f"{name} does not say in one line what it is"
        assert any(not part.startswith(">>>") for part in others), f"{name} does not say what belongs in it"


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("hra", exclude_type_checking_imports=False, cache_dir=None)
    edges = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    circles = [circle for circle in networkx.strongly_connected_components(networkx.DiGraph(edges)) if len(circle) > 1]
    assert circles == []


def test_tests_mirror_the_tree():
    """Whoever changes a module finds its tests under the same name; the share can only rise."""
    modules = [path for top in ("hra", "domains", "kernels") for path in Path(ROOT, top).rglob("*.py")]
    places = [path.relative_to(ROOT) for path in modules if path.name != "__init__.py"]
    alone = [place for place in places if not (ROOT / "tests" / place.parent / f"test_{place.name}").exists()]
    assert len(alone) <= 0.2 * len(places), "\n".join(map(str, alone))


def test_few_modules_serve_one_other_alone(command: ModuleType):
    """Strategies and commands that a registry names are files of their own; of the others at most a fifth."""
    graph, found = grimp.build_graph("hra", cache_dir=None), command.with_one_importer()
    modules = [module for module in graph.modules if not graph.find_children(module)]
    assert len(found["folds"]) + len(found["exported"]) <= 0.2 * len(modules), found


def tours() -> dict[str, list[str]]:
    """The stops of each tour, by its title."""
    sections = PAGE.split("\n### ")[1:]
    return {section.split("\n")[0]: STOP.findall(section) for section in sections}


def camera_to_cut() -> Callable[[], Any]:
    clusters = meshes.build(bumpy(4))

    def walk() -> Any:
        allocator = meshes.MeshAllocator(clusters, traversal=hra.Hull())
        return allocator.realize(allocator.allocate(hra.Camera.orbit(clusters.bounds), budget=1000))

    return walk


def image_to_tokens() -> Callable[[], Any]:
    image = np.random.default_rng(0).random((240, 320, 3), dtype=np.float32)

    def walk() -> Any:
        allocator = tokens.FoveatedPyramid()
        return allocator.realize(allocator.allocate((image, "what is at the top left?"), budget=64))

    return walk


def demand_to_residency() -> Callable[[], Any]:
    track = np.linspace([0.0, 0.0], [40.0, 5.0], 12)

    def walk() -> Any:
        trace = GroundTexture().trace(track, np.tile([1.0, 0.0], (12, 1)))
        return evaluate(Streaming(look_ahead=3), trace, pool=200 * 65_536)

    return walk


WALKS = {
    "A camera becomes a cut": camera_to_cut,
    "An image becomes tokens": image_to_tokens,
    "A demand becomes residency": demand_to_residency,
}


def path_of(walk: Callable[[], Any]) -> list[tuple[str, str]]:
    """Module and function of every call in hra, in order; what they compile or keep was made by a first walk."""
    walk()
    path: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        # What dataclasses make has no file; and what keeps a property is no stop on the way to it, as in functools.
        if module == "hra.caching" or not frame.f_code.co_filename.endswith(".py"):
            return
        if event == "call" and module.startswith("hra."):
            path.append((module, frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return path


def calls_of(walk: Callable[[], Any]) -> dict[str, int]:
    """Functions of hra in the order of their first call."""
    found: dict[str, int] = {}
    for module, name in path_of(walk):
        found.setdefault(f"{module}.{name}", len(found))
    return found


def files_and_changes(walk: Callable[[], Any]) -> tuple[int, int, str]:
    """Files of hra that a walk comes through, changes of file from call to call, and its tour in words."""
    visits = [(module, [name for _, name in calls]) for module, calls in groupby(path_of(walk), key=itemgetter(0))]
    tour = "\n".join(f"{module}: {', '.join(dict.fromkeys(names))}" for module, names in visits)
    return len({module for module, _ in visits}), len(visits) - 1, tour


# Walk, most files and most changes of file.
SHORT_WAYS = [(camera_to_cut, 24, 63), (image_to_tokens, 35, 138)]


@pytest.mark.parametrize(("walk", "files", "changes"), SHORT_WAYS)
def test_a_way_crosses_few_files(walk: Callable[[], Callable[[], Any]], files: int, changes: int):
    crossed, changed, tour = files_and_changes(walk())
    assert crossed <= files and changed <= changes, f"{crossed} files, {changed} changes of file\n{tour}"


def test_there_are_three_tours_of_at_most_15_modules():
    assert set(tours()) == set(WALKS)
    assert all(10 < len(stops) <= 15 for stops in tours().values())


@pytest.mark.parametrize("title", WALKS)
def test_a_tour_is_what_is_called_in_this_order(title: str):
    stops, calls = tours()[title], calls_of(WALKS[title]())
    assert [stop for stop in stops if stop not in calls] == []
    order = [calls[stop] for stop in stops]
    assert order == sorted(order), sorted(zip(order, stops, strict=True))
