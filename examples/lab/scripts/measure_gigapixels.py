"""Tokens of images that do not fit into memory: time and memory of a pass, how good lazy answers are, and needles.

    python examples/lab/scripts/measure_gigapixels.py passes FOLDER OUT.json [SIDE ...]
    python examples/lab/scripts/measure_gigapixels.py lazy FOLDER OUT.json [IMAGES RUNS [PICTURE ...]]
    python examples/lab/scripts/measure_gigapixels.py bounds FOLDER OUT.json [IMAGES RUNS]
    python examples/lab/scripts/measure_gigapixels.py needles OUT.json [SCENES FIRST]

`passes` writes tiled TIFF files (JPEG) of the shipped photo, mirrored side by side, without and with levels, and one
of 100,000 x 100,000 pixels of which one tile in 16 is there; FOLDER needs 1.5 GB. Each file is opened by processes of
their own: CPU seconds, and the peak of resident memory above the interpreter with what it imports, by the operating
system. `lazy` takes pictures whose longer side has 4,096 to 8,192 pixels, cut to multiples of 512, and makes as many
collages as are missing; the whole tree of each is solved beside it, from errors that are computed here by other means.
`bounds` does the same with collages of 1,024 to 2,048 pixels and overviews of 256, so that there is time for many runs.
`needles` makes maps of 16,384 pixels with 12 plates of 24 to 96 pixels, of which each names a quantity and its value,
among 4,000 blocks and roads, and asks for one of them; scenes 0 to 19 were looked at while the method was made.

Results are written image by image; what OUT.json has is not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image, ImageDraw, ImageFont

import hra
from hra.allocating.allocation import Allocation
from hra.domains import tokens
from hra.domains.tokens.methods.streamed_pyramid import PatchError
from hra.domains.tokens.patches import streamed
from hra.domains.tokens.pyramid.blocks import block_means, block_sums
from hra.files.atomic_write import write_atomically
from hra.files.images import load_image
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem

TILE, BUDGET = 256, 273


def bytes_of(name: str) -> np.ndarray:
    """A shipped image, uint8 [H, W, 3]."""
    return np.rint(load_image(hra.samples.path(name)) * 255).astype(np.uint8)


def halved(pixels: np.ndarray) -> np.ndarray:
    """Rounded means of 2 x 2 bytes."""
    return np.rint(pixels.reshape(pixels.shape[0] // 2, 2, pixels.shape[1] // 2, 2, 3).mean(axis=(1, 3))).astype(
        np.uint8
    )


def mirrored_tiles(source: np.ndarray, side: int) -> Iterator[np.ndarray]:
    """Tiles of a square in which the source stands mirrored side by side."""
    height, width = source.shape[:2]
    for top in range(0, side, TILE):
        for left in range(0, side, TILE):
            rows, columns = np.arange(top, top + TILE) % (2 * height), np.arange(left, left + TILE) % (2 * width)
            rows, columns = np.minimum(rows, 2 * height - 1 - rows), np.minimum(columns, 2 * width - 1 - columns)
            yield source[rows][:, columns]


def write_mosaic(path: Path, side: int, levels: int) -> None:
    """A tiled BigTIFF of side x side pixels, JPEG, with so many further levels."""
    options: dict[str, Any] = {"tile": (TILE, TILE), "photometric": "rgb", "compression": "jpeg", "dtype": np.uint8}
    source = bytes_of("earth.jpg")
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        file.write(mirrored_tiles(source, side), shape=(side, side, 3), subifds=levels, **options)
        for level in range(1, levels + 1):
            source, small = halved(source), side >> level
            file.write(mirrored_tiles(source, small), shape=(small, small, 3), subfiletype=1, **options)


def write_sparse(path: Path, side: int) -> None:
    """A tiled BigTIFF in which one tile in 16 is there."""
    grid, source = -(-side // TILE), bytes_of("photo.jpg")[:TILE, :TILE]
    tiles = (source if (n // grid) % 4 == 0 and n % grid % 4 == 0 else None for n in range(grid * grid))
    options: dict[str, Any] = {"tile": (TILE, TILE), "photometric": "rgb", "compression": "jpeg", "dtype": np.uint8}
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        file.write(tiles, shape=(side, side, 3), **options)


def memory(name: str) -> float:
    """Resident memory of this process, or its peak, MiB, by the kernel."""
    return int(Path("/proc/self/status").read_text().partition(f"{name}:")[2].split()[0]) / 1024


def one_process(path: str) -> None:
    """Open a file, allocate for two questions, realize; prints a record."""
    before = memory("VmRSS")
    tokens.StreamedPyramid().allocate((tokens.StreamedImage.read(np.zeros((1300, 1300, 3), np.uint8)), "left"), 9)
    start = time.process_time()
    image, allocator, rows = tokens.StreamedImage.open(path), tokens.StreamedPyramid(), []
    opened, previous = time.process_time() - start, None
    for query in ("left", "top right"):
        start, read = time.process_time(), image.tiles_read
        previous = allocator.allocate((image, query), BUDGET, previous=previous)
        chosen = allocator.realize(previous)
        gap, seconds = previous.gap, time.process_time() - start
        rows.append({"cpu_s": seconds, "gap": gap, "tiles_read": image.tiles_read - read, "tokens": len(chosen)})
    row = {"open_cpu_s": opened, "opening_read": rows and image.tiles_read - sum(one["tiles_read"] for one in rows)}
    print(
        json.dumps(
            {
                **row,
                "tiles": image.file and image.file.tiles,
                "peak_mib": memory("VmHWM") - before,
                "interpreter_mib": before,
                "questions": rows,
            }
        )
    )


def passes(folder: Path, sides: list[int]) -> dict[str, Any]:
    """First and later allocations of files with and without levels, each by a process of its own."""
    found: dict[str, Any] = {}
    for side in sides:
        plain, levelled = folder / f"plain-{side}.tif", folder / f"levels-{side}.tif"
        for path, levels in ((plain, 0), (levelled, 6)):
            path.exists() or (write_mosaic(path, side, levels) if side < 10**5 else write_sparse(path, side))
        for name, path in (
            ("without levels, first", plain),
            ("without levels, later", plain),
            ("with levels", levelled),
        ):
            if side >= 10**5 and path is levelled:
                continue
            command = [sys.executable, __file__, "process", str(path)]
            found[f"{side}, {name}"] = json.loads(
                subprocess.run(command, capture_output=True, check=True, text=True).stdout
            )
            print(side, name, found[f"{side}, {name}"], "load", os.getloadavg()[0], flush=True)
    return found


def collage(seed: int, least: int = 8, most: int = 16) -> np.ndarray:
    """Pieces of the shipped images at several scales on smooth shades, uint8 [side, side, 3]."""
    random = np.random.default_rng(seed)
    side = 512 * int(random.integers(least, most + 1))
    coarse = random.random((9, 9, 3)).astype(np.float32)
    image = np.asarray(
        Image.fromarray((255 * coarse).astype(np.uint8)).resize((side, side), Image.Resampling.BICUBIC)
    ).copy()
    sources = [bytes_of(name) for name in ("earth.jpg", "photo.jpg", "page.png")]
    for _ in range(int(random.integers(10, 40))):
        source = sources[int(random.integers(3))]
        extent = int(random.integers(200, min(*source.shape[:2], side // 2)))
        top, left = (int(random.integers(0, full - extent + 1)) for full in source.shape[:2])
        shown = int(extent * random.choice([0.5, 1, 1, 2]))
        piece = Image.fromarray(source[top : top + extent, left : left + extent]).resize((shown, shown))
        top, left = (int(random.integers(0, side - shown + 1)) for _ in (0, 1))
        image[top : top + shown, left : left + shown] = np.asarray(piece)
    return image


class Known(ErrorMetric):
    """Errors that are attributes of the hierarchy."""

    unit = PatchError.unit

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Own errors."""
        return hierarchy.attribute("error")

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Errors while the parent shows the region."""
        return hierarchy.attribute("inherited")


class WholeTree:
    """All patches of an image, and their errors by means over blocks: no code of the library's passes."""

    def __init__(self, pixels: np.ndarray, first: int) -> None:
        self.first, level = first, pixels / np.float32(255)
        self.details = []
        while max(level.shape) > 16:
            rows, columns = level.shape[0] // 2, level.shape[1] // 2
            cells = level.reshape(rows, 2, columns, 2, 3)
            means = cells.mean(axis=(1, 3))
            squares = (
                np.square(cells - means[:, None, :, None])
                .sum(axis=4)
                .transpose(0, 2, 1, 3)
                .reshape(rows, columns, 4)
                .sum(axis=2)
            )
            self.details.append(block_sums(squares.astype(np.float64), 8) * 4.0 ** len(self.details))
            level = means
        self.share = 1 / (3 * pixels.shape[0] * pixels.shape[1])
        self.offsets: dict[int, int] = {}

    def hierarchy(self, weights: np.ndarray) -> Hierarchy:
        """The tree with errors weighted by ``weights`` of the patches of the overview."""
        grids = [detail.shape for detail in self.details]
        grids.append(tuple(-(-extent // 2) for extent in grids[-1]))
        own, inherited = [np.zeros(grids[0])], []
        mean = weights / weights.mean()
        for level, detail in enumerate(self.details):
            shift = self.first - level
            weight = (
                mean.repeat(2**shift, 0).repeat(2**shift, 1)[: grids[level][0], : grids[level][1]]
                if shift >= 0
                else block_means(mean, 2**-shift)
            )
            inherited.append(own[-1] + weight * detail * self.share)
            own.append(block_sums(inherited[-1], 2))
        inherited.append(own[-1])
        begin = np.cumsum([0] + [rows * columns for rows, columns in grids])
        parent = np.full(begin[-1], -1)
        for level in range(len(grids) - 1):
            y, x = np.indices(grids[level]).reshape(2, -1)
            parent[begin[level] : begin[level + 1]] = begin[level + 1] + y // 2 * grids[level + 1][1] + x // 2
        self.begin, self.grids = begin, grids
        error, kept = (np.concatenate([part.ravel() for part in parts]) for parts in (own, inherited))
        return Hierarchy.tree(
            parent, np.ones(parent.size), mode="child", order=kept, attributes={"error": error, "inherited": kept}
        )

    def residual(self, hierarchy: Hierarchy, places: np.ndarray) -> float:
        """What patches (level, x, y) that cover the image leave wrong; a coarser one holds what finer ones do not."""
        columns = np.array([columns for _, columns in self.grids])
        number = self.begin[places[:, 0]] + places[:, 2] * columns[places[:, 0]] + places[:, 1]
        error, kept, parent = (hierarchy.attribute("error"), hierarchy.attribute("inherited"), hierarchy.node_parent)
        left = float(error[number].sum())
        # A patch that stays for some of its quarters is wrong in those alone: what is shown beneath it is taken off.
        shown = np.zeros(error.size, bool)
        shown[number] = True
        covered = set()
        for n in number.tolist():
            while parent[n] >= 0 and n not in covered:
                covered.add(n)
                if shown[parent[n]]:
                    left -= kept[n]
                    break
                n = int(parent[n])
        return left


def cut(path: str) -> np.ndarray:
    """A picture's upper left part in multiples of 512 pixels, 8,192 at most, uint8 [H, W, 3]."""
    whole = np.rint(load_image(path) * 255).astype(np.uint8)
    height, width = (min(side, 8192) // 512 * 512 for side in whole.shape[:2])
    if max(height, width) < 4096 or not min(height, width):
        raise ValueError(f"{path} has {whole.shape[1]} x {whole.shape[0]} pixels")
    return whole[:height, :width]


def lazy(
    folder: Path, keep: Keep, images: int, runs: int, pictures: Sequence[str] = (), sides: tuple[int, int] = (8, 16)
) -> dict[str, Any]:
    """Answers of trees made on demand beside those of whole trees, and how often a stated bound was too small."""
    rows = keep.known.get("rows", [])
    done = {row["image"] for row in rows}
    names: list[Any] = [*map(os.path.basename, pictures), *range(images - len(pictures))]
    for seed, name in enumerate(names):
        if name in done:
            continue
        pixels, path = cut(pictures[seed]) if seed < len(pictures) else collage(name, *sides), folder / "image.tif"
        levels = [pixels]
        while not any(side % 2 for side in levels[-1].shape[:2]) and max(levels[-1].shape) > 512:
            levels.append(halved(levels[-1]))
        options: dict[str, Any] = {"tile": (TILE, TILE), "photometric": "rgb", "compression": "zstd"}
        with tifffile.TiffWriter(path) as file:
            file.write(pixels, subifds=len(levels) - 1, **options)
            for level in levels[1:]:
                file.write(level, subfiletype=1, **options)
        known = tokens.StreamedImage.read(pixels)
        tree = WholeTree(pixels, known.first)
        random = np.random.default_rng(1000 + (name if isinstance(name, int) else 1000 + seed))
        for run in range(runs):
            grid = known.beneath[0].shape
            if run % 5 == 0:  # five budgets for each question
                weights = random.random(grid) ** float(random.choice([0, 1, 4])) + 1e-3 * random.random(grid)
                hierarchy = tree.hierarchy(weights)
                every = Problem.of(hierarchy, Known(), None, np.inf)
            budget = int(random.integers(64, 1025))
            problem = replace(every, budget=float(budget))
            full = Allocation(problem, hra.Hull(spend_all=True).solve(problem), 0.0)
            least = full.least_residual
            row: dict[str, Any] = {"image": name, "size": pixels.shape[:2], "budget": budget, "least": least}
            row["whole"] = full.residual
            for way, image in (("pass", known), ("levels", tokens.StreamedImage.open(path))):
                allocator = tokens.StreamedPyramid(lambda context, weights=weights: weights)
                start = time.process_time()
                allocation = allocator.allocate((image, ""), budget)
                shortfall, seconds = allocation.shortfall, time.process_time() - start
                chosen = allocator.realize(allocation)
                residual = tree.residual(hierarchy, chosen.places)
                row[way] = {
                    "residual": residual,
                    "tokens": len(chosen),
                    "gap": allocation.gap,
                    # The whole tree's answer must not be better than the bound that is stated without it allows; errors
                    # are added up in other orders here, in single precision.
                    "too_small": residual - full.residual > shortfall + 1e-9 * residual,
                    "tiles": image.tiles_read / image.file.tiles if image.file is not None else None,
                    "nodes": allocation.hierarchy.node_cost.size,
                    "cpu_s": seconds,
                }
            rows.append(row)
        print(name, pixels.shape, {way: rows[-1][way]["residual"] / rows[-1]["least"] for way in ("pass", "levels")})
        keep({"summary": summary_of(rows), "rows": rows})
    return {"summary": summary_of(rows), "rows": rows}


def summary_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How far answers were above the least error that is possible, and what they took."""
    summary: dict[str, Any] = {"runs": len(rows), "images": len({row["image"] for row in rows})}
    for name in ("pass", "levels"):
        excess = np.array([row[name]["residual"] / row["least"] - 1 for row in rows])
        part = [row[name]["tiles"] for row in rows if row[name]["tiles"] is not None]
        summary[name] = {
            "excess_median": float(np.median(excess)),
            "excess_90": float(np.quantile(excess, 0.9)),
            "excess_worst": float(excess.max()),
            "within_1_percent": float((excess <= 0.01).mean()),
            "bounds_too_small": sum(row[name]["too_small"] for row in rows),
            "gap_median": float(np.median([row[name]["gap"] for row in rows])),
            "tiles_median": float(np.median(part)) if part else None,
            "cpu_s_median": float(np.median([row[name]["cpu_s"] for row in rows])),
        }
    return summary


QUANTITIES = {"Depth": "m", "Height": "m", "Weight": "kg", "Speed": "km/h", "Price": "EUR", "Length": "m", "Width": "m"}
QUANTITIES |= {"Volume": "l", "Voltage": "V", "Power": "kW", "Pressure": "bar", "Capacity": "t"}


class Map:
    """A map of 16,384 x 16,384 pixels, made where it is read: paper, blocks, roads and plates."""

    def __init__(self, seed: int, side: int = 16_384) -> None:
        random = np.random.default_rng(seed)
        self.shape = (side, side, 3)
        grain = np.array([238, 234, 222]) + random.normal(0, 1.5, (1024, 1024, 1))
        self.grain = np.rint(grain).clip(0, 255).astype(np.uint8)
        corner, extent = random.integers(0, side - 100, (4000, 2)), random.integers(8, 97, (4000, 2))
        roads = random.integers(0, side, 60)
        lines = [(at, 0, at + 14, side) if n % 2 else (0, at, side, at + 14) for n, at in enumerate(roads.tolist())]
        self.boxes = np.array([*lines, *np.concatenate([corner, corner + extent], axis=1).tolist()])
        self.colours = random.integers(90, 226, (len(self.boxes), 3)).astype(np.uint8)
        self.plates, self.words = [], []
        for name, unit in QUANTITIES.items():
            wide, value = int(random.integers(24, 97)), int(random.integers(11, 99))
            text = f"{value} {unit}"
            size = next(
                size
                for size in range(60, 4, -1)
                if max(ImageFont.load_default(size).getlength(t) for t in (name, text)) <= wide - 2
            )
            font = ImageFont.load_default(size)
            height = int(2.6 * size) + 2
            plate = Image.new("RGB", (wide, height), (250, 250, 245))
            draw = ImageDraw.Draw(plate)
            draw.text((1, 0), name, fill=(20, 20, 30), font=font)
            draw.text((1, int(1.3 * size)), text, fill=(20, 20, 30), font=font)
            y, x = (int(at) for at in random.integers(100, side - 300, 2))
            self.plates.append((y, x, np.asarray(plate)))
            right = x + 1 + int(np.ceil(font.getlength(text)))
            self.words.append((name, text, size, (x, y + int(1.3 * size), right, y + height)))

    def __getitem__(self, key: Any) -> np.ndarray:
        (top, bottom, _), (left, right, _) = (each.indices(self.shape[0]) for each in key)
        rows, columns = np.arange(top, bottom) % 1024, np.arange(left, right) % 1024
        image = self.grain[rows][:, columns]
        x0, y0, x1, y1 = self.boxes.T
        for n in np.flatnonzero((x1 > left) & (x0 < right) & (y1 > top) & (y0 < bottom)).tolist():
            image[max(y0[n] - top, 0) : y1[n] - top, max(x0[n] - left, 0) : x1[n] - left] = self.colours[n]
        for y, x, plate in self.plates:
            height, width = plate.shape[:2]
            if y < bottom and y + height > top and x < right and x + width > left:
                image[max(y - top, 0) : y + height - top, max(x - left, 0) : x + width - left] = plate[
                    max(top - y, 0) : bottom - y, max(left - x, 0) : right - x
                ]
        return image


def shown(chosen: Any, box: tuple[int, int, int, int]) -> bool:
    """Whether every finest patch under a box is shown in full detail."""
    fine = {tuple(place[1:]) for place in chosen.places.tolist() if place[0] == 0}
    x0, y0, x1, y1 = box
    return all((x, y) in fine for y in range(y0 // 16, -(-y1 // 16)) for x in range(x0 // 16, -(-x1 // 16)))


def needles(keep: Keep, scenes: int, first: int = 0) -> dict[str, Any]:
    """How often the value on a plate is shown in full detail."""
    rows = keep.known.get("rows", [])
    for seed in range(first, first + scenes):
        if any(row["seed"] == seed for row in rows):
            continue
        scene = Map(seed)
        image = tokens.StreamedImage.read(scene)
        name, text, size, box = scene.words[seed % len(scene.words)]
        query, start = f"What is the {name.lower()}?", time.process_time()
        reading, blind = (
            tokens.StreamedPyramid(tokens.PhraseRelevance()),
            tokens.StreamedPyramid(tokens.PhraseRelevance(), looks=0),
        )
        allocation = reading.allocate((image, query), BUDGET)
        row: dict[str, Any] = {"seed": seed, "size": size, "query": query, "answer": text, "box": box}
        row["hra"] = shown(reading.realize(allocation), box)
        row["cpu_s"] = time.process_time() - start
        row["confidence"] = reading.served(image, query).confidence
        second = scene.words[(seed + 5) % len(scene.words)]
        start = time.process_time()
        later = reading.allocate((image, f"What is the {second[0].lower()}?"), BUDGET, previous=allocation)
        row["second question"], row["second_cpu_s"] = (
            shown(reading.realize(later), second[3]),
            time.process_time() - start,
        )
        for each, allocator in (("one crop, overview", blind), ("one crop, all that was read", reading)):
            seen = allocator.see(image, query)
            peaks = {cell: weights.max() for cell, weights in seen.closer.items()}
            cell = (
                max(peaks, key=peaks.__getitem__)
                if peaks
                else np.unravel_index(int(seen.density.argmax()), seen.density.shape)
            )
            inside = np.unravel_index(int(seen.closer[cell].argmax()), seen.closer[cell].shape) if peaks else (8, 8)
            y, x = ((int(c) << image.first) * 16 + int(i) * 16 + 8 for c, i in zip(cell, inside, strict=True))
            row[each] = bool(x - 128 <= box[0] and box[2] <= x + 128 and y - 128 <= box[1] and box[3] <= y + 128)
        for each, relevance in (("uniform pyramid", tokens.UniformRelevance()), ("cues", tokens.CueRelevance())):
            allocator = tokens.StreamedPyramid(relevance)
            row[each] = shown(allocator.realize(allocator.allocate((image, query), BUDGET)), box)
        row["down-sampling"] = False  # 273 patches of 16,384 pixels: one pixel stands for 62
        rows.append(row)
        keep(shares(rows))
    return shares(rows)


def shares(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How often each way showed what was asked for."""
    names = (
        "hra",
        "second question",
        "one crop, all that was read",
        "one crop, overview",
        "cues",
        "uniform pyramid",
        "down-sampling",
    )
    share = {name: float(np.mean([row[name] for row in rows])) for name in names}
    return {"scenes": len(rows), "share": share, "rows": rows}


class Keep:
    """What a file has of a measurement, and a way to write more."""

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.what = path, what
        self.known = json.loads(path.read_text()).get(what, {}) if path.exists() else {}

    def __call__(self, found: dict[str, Any]) -> None:
        """Write what was found so far."""
        every = json.loads(self.path.read_text()) if self.path.exists() else {}
        text = json.dumps(
            {**every, self.what: found}, indent=1, default=lambda value: getattr(value, "tolist", lambda: str(value))()
        )
        write_atomically(self.path, f"{text}\n".encode())
        print(self.what, found.get("summary", found.get("share", "")), "load", os.getloadavg()[0], flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("passes", "lazy", "bounds", "needles", "process"))
    parser.add_argument("rest", nargs="+", metavar="FOLDER OUT.json ...")
    what, rest = (chosen := parser.parse_args()).what, chosen.rest
    if what not in ("needles", "process") and len(rest) < 2:
        parser.error(f"{what} needs FOLDER and OUT.json")
    if what == "process":
        one_process(rest[0])
        return
    folder, out, *numbers = (rest[0], *rest) if what == "needles" else rest
    keep, given = Keep(Path(out), what), [int(number) for number in numbers if number.isdecimal()]
    pictures = [name for name in numbers if not name.isdecimal()]
    if what == "needles":
        keep(needles(keep, *(given or [50, 20])))
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    if what == "passes":
        keep(passes(Path(folder), given or [40_960, 100_000]))
    elif what == "lazy":
        keep(lazy(Path(folder), keep, *(given or [20, 5]), pictures=pictures))
    else:
        streamed._OVERVIEW = 256
        keep(lazy(Path(folder), keep, *(given or [40, 10]), sides=(2, 4)))


if __name__ == "__main__":
    main()
