"""Levels of glTF scenes that nobody here made beside gltfpack's at equal triangles: pictures, errors, time, bytes.

    python examples/lab/scripts/beside_gltfpack.py FOLDER OUT --npm FOLDER [--half development|test] [--only WORD]

Of every .glb and .gltf below FOLDER of 1,500 to 250,000 triangles, levels of a half, a quarter and a tenth of the
triangles are written to OUT. gltfpack comes first: `-noq -kn -km -ke -sv -se 1`, then with `-sp`, then with `-sa` as
well, until it is within 5 % of the target; hra draws as many triangles as it does. three.js draws both beside the
source from three sides (see judge_scenes.py). What hra states of the distance is compared with points of both surfaces.
--npm has the packages gltfpack and three. Files belong to a half by a hash of their names. OUT/record.json has each
scene; what it has is not made again, but drawn. --json FILE also has what came out.
"""

from __future__ import annotations

import json
import resource
import subprocess
import time
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from judge_scenes import drawn
from scene_files import FLAGS, arguments, as_source, gltfpack, header_of, job, place_of, scenes, suits, triangles

from hra.domains import meshes
from hra.domains.meshes.distances.box_tree import nearest_distances
from hra.domains.meshes.distances.surface import surface_points
from hra.errors import HraError, RepairWarning

HALVES = ("development", "test")
_SHARES, _KINDS = (0.5, 0.25, 0.1), ("hra", "gltfpack")
_ATTEMPTS = ([], ["-sp"], ["-sp", "-sa"])
_CLOSE = 1.05
_ROUNDS = 8
_SAMPLES = 20_000


def half_of(name: str) -> str:
    """The half that a file belongs to."""
    return HALVES[zlib.crc32(f"half {name}".encode()) % 2]


def packed(source: Path, target: Path, share: float, whole: int, npm: Path) -> dict[str, Any]:
    """What gltfpack makes of a file."""
    begin, best = resource.getrusage(resource.RUSAGE_CHILDREN), np.inf
    for more in _ATTEMPTS:
        tried, place = [*FLAGS, *more, "-si", str(share)], target.with_suffix(".try.glb")
        gltfpack(npm, source, place, tried)
        found = triangles(header_of(place))[1]
        off = abs(np.log(max(found, 1) / (share * whole)))
        if off < best:
            best, flags, count = off, tried, found
            place.replace(target)
        if best <= np.log(_CLOSE):
            break
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
    return {"flags": flags, "drawn": count, "bytes": target.stat().st_size, "cpu_s": round(seconds, 2)}


def distances(source: Path, files: list[Path]) -> list[float]:
    """The largest distance of points of each level from the source, and of the source from it, as files at rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)  # what one mesh does not hold of a scene
        whole, *levels = [meshes.load(path) for path in (source, *files)]
    rng = np.random.default_rng(0)
    of_source, found = surface_points(whole, _SAMPLES, rng), []
    for level in levels:
        shift = np.subtract(level.origin, whole.origin)
        there = nearest_distances(of_source - shift, level.positions, level.triangles).max()
        back = nearest_distances(surface_points(level, _SAMPLES, rng) + shift, whole.positions, whole.triangles).max()
        found.append(float(max(there, back)))
    return found


def tried(path: Path, out: Path, npm: Path) -> dict[str, Any]:
    """The levels of one file by both."""
    source = as_source(path, out)
    stored, whole = triangles(header_of(source))
    theirs = [packed(source, out / f"gltfpack{k}.glb", share, whole, npm) for k, share in enumerate(_SHARES)]
    # Levels fall: where gltfpack is stuck, one triangle less.
    counts = [max(min(int(one["drawn"] / whole * stored), stored) - k, 2) for k, one in enumerate(theirs)]
    # Meshes that are shown several times are drawn as often: what draws as many triangles is searched for.
    low, high = [0] * len(counts), [stored + 1] * len(counts)
    for turn in range(_ROUNDS):
        for k in range(1, len(counts)):
            counts[k] = max(min(counts[k], counts[k - 1] - 1), 2)
        begin = time.process_time()
        lod = meshes.scene_lod(source, [float(count) for count in counts])
        files = lod.export(out, "hra")
        seconds = time.process_time() - begin
        ratios = [one["drawn"] / triangles(header_of(file))[1] for file, one in zip(files, theirs, strict=True)]
        if stored == whole or all(1 <= ratio <= _CLOSE for ratio in ratios):
            break
        for k, (count, ratio) in enumerate(zip(counts, ratios, strict=True)):
            low[k], high[k] = (max(low[k], count), high[k]) if ratio >= 1 else (low[k], min(high[k], count))
            counts[k] = min(max(int(count * ratio), low[k] + 1), high[k] - 1)
        if turn == _ROUNDS - 2:  # where all that was tried draws more, half of the least of it
            counts = [least or max(most // 2, 2) for least, most in zip(low, high, strict=True)]
    size = 2 * lod.chain.radius
    ours = [
        {
            "drawn": triangles(header_of(file))[1],
            "bytes": file.stat().st_size,
            "cpu_s": round(seconds / len(files), 2),
            "stated_of_size": float(stated / size),
            "measured_of_size": measured / size,
        }
        for file, stated, measured in zip(files, lod.chain.errors, distances(source, files), strict=True)
    ]
    return {"stored": stored, "drawn": whole, "bytes": source.stat().st_size, "hra": ours, "gltfpack": theirs}


def summary_of(scenes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What came out of drawn scenes: all of them, and by half."""
    halves = {half: {name: one for name, one in scenes.items() if one["half"] == half} for half in HALVES}
    found: dict[str, Any] = {}
    for half, those in {"all": scenes, **halves}.items():
        if not those:
            continue
        gains = {name: np.subtract(*one["decibels"].values()) for name, one in those.items()}
        levels = dict(zip(("half", "quarter", "tenth"), np.transpose([*gains.values()]), strict=True))
        found[half] = {
            "scenes": len(those),
            "levels": {level: _gains(values.tolist()) for level, values in levels.items()},
            "mean of levels": _gains([float(gain.mean()) for gain in gains.values()]),
            "below": {name: round(float(gain.mean()), 2) for name, gain in gains.items() if gain.mean() < 0},
        }
    levels = range(len(_SHARES))
    ratios = [
        [
            hra["stated_of_size"] / hra["measured_of_size"]
            for one in scenes.values()
            if (hra := one["hra"][k])["measured_of_size"] > 0
        ]
        for k in levels
    ]
    sums = {
        name: {kind: [round(sum(one[kind][k][name] for one in scenes.values()), 1) for k in levels] for kind in _KINDS}
        for name in ("cpu_s", "bytes")
    }
    stated = {"median": [round(median(r), 3) for r in ratios], "least": [round(min(r), 3) for r in ratios]}
    return {**found, "stated over measured": stated, **sums}


def _gains(values: Sequence[float]) -> dict[str, Any]:
    """How much hra is above gltfpack, in dB."""
    names = {"median": median, "mean": mean, "least": min}
    at_or_above = sum(round(value, 2) >= 0 for value in values)
    return {"at or above": at_or_above, **{name: round(float(of(values)), 2) for name, of in names.items()}}


def shown(scenes: dict[str, dict[str, Any]]) -> None:
    """Print the rows of the table, and what came out."""
    summary = summary_of(scenes)
    for name, one in sorted(scenes.items(), key=lambda pair: pair[0].split("/")[-2].lower()):
        cells = [" / ".join(f"{value:.1f}" for value in one["decibels"][kind]) for kind in _KINDS]
        below = " (below)" if name in summary["all"]["below"] else ""
        print(f"| {name.split('/')[-2]}{below} | {one['half'][:4]} | {one['drawn']:,} | {cells[0]} | {cells[1]} |")
    print(json.dumps(summary, indent=1))


def main() -> None:
    """Try every file of a half, and draw what came out."""
    parser = arguments(__doc__)
    parser.add_argument("--npm", type=Path, required=True)
    parser.add_argument("--half", choices=("development", "test"))
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--json", type=Path)
    own = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = own.out / "record.json"
    record: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    own.out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for name, path in scenes(own).items():
        if own.half in (None, half_of(name)):
            try:
                if not suits(header_of(path)):
                    continue
                if "hra" not in record.get(name, {}):
                    record[name] = tried(path, own.out / place_of(name), own.npm) | {"half": half_of(name)}
            except (HraError, subprocess.CalledProcessError, KeyError, ValueError) as error:
                record[name] = {"left_out": str(error).replace(f"{own.folder}/", "")[:300]}
                print(name, record[name], flush=True)
                continue
            files = [f"{kind}{k}.glb" for kind in ("hra", "gltfpack") for k in range(len(_SHARES))]
            jobs.append(job(name, files, own.pictures))
            kept.write_text(json.dumps(record, indent=1))
    for answer in drawn(jobs, own.npm, {"out": own.out}, own.pictures):
        if "error" in answer or len(answer["levels"]) < 2 * len(_SHARES):
            record[answer["name"]]["not_drawn"] = answer.get("error", "not all levels")
            continue
        values = [round(level["mean"], 2) for level in answer["levels"]]
        record[answer["name"]]["decibels"] = {"hra": values[: len(_SHARES)], "gltfpack": values[len(_SHARES) :]}
    kept.write_text(json.dumps(record, indent=1))
    found = {name: one for name, one in sorted(record.items()) if "decibels" in one}
    left_out = {name: one for name, one in sorted(record.items()) if "decibels" not in one}
    if own.json is not None:
        content = {"summary": summary_of(found), "scenes": found, "left_out": left_out}
        own.json.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    shown(found)


if __name__ == "__main__":
    main()
