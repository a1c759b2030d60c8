"""Files of a number of bytes: glTF scenes that nobody here made, with images that shrink, kept images, and gltfpack.

    python examples/lab/scripts/measure_byte_budgets.py FOLDER OUT --npm FOLDER [--only WORD] [--json FILE] [--draw]

Of every .glb and .gltf below FOLDER with images that has 1,500 to 60,000 triangles and at most 4 MB, files of a half, a
fifth and a tenth of its bytes are written to OUT: "hra" (triangles and images by one budget), "keep" (images as they
are), "gltfpack" and "gltfpack_kv", which keeps attributes of vertices that no material uses, as hra does; and with
geometry compressed "rounded" (hra's compression of that name) and "gltfpack_cc" (quantized, -cc). The npm build
of gltfpack encodes no textures (-tc and -tw end in an error), so that its -ts is done here: all images at 1, a half and
a quarter of their sides, PNG without alpha as JPEG of quality 85. For each of them -si is as large as the bytes allow
(-noq, as hra writes floats, but for -cc; -kn -km -ke -sv -sp -se 1), and the best of the three pictures counts. --draw
draws all files in three.js (see judge_scenes.py), each at the size that its level is meant for: a file with a share of
the bytes at that share of a square of 640 pixels. OUT/record.json says what came out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from judge_scenes import drawn
from scene_files import FLAGS, arguments, as_source, gltfpack, header_of, job, place_of, scenes, suits, triangles

from hra.camera import Camera
from hra.domains import meshes
from hra.domains.meshes.files.gltf_scene import GltfScene
from hra.domains.meshes.lods.byte_budget import ShownImage
from hra.errors import BudgetTooSmall, HraError

_SHARES = (0.5, 0.2, 0.1)
_SCALES = (1.0, 0.5, 0.25)
_QUALITY = 85
_RATIOS = (1.0, 0.6, 0.35, 0.2, 0.1, 0.04)
_OURS: dict[str, dict[str, Any]] = {
    "hra": {},
    "keep": {"keep_textures": True},
    "rounded": {"compression": "rounded"},
}
_PLAIN = [*FLAGS, "-sp"]
_KINDS = {
    "gltfpack": _PLAIN,
    "gltfpack_kv": [*_PLAIN, "-kv"],
    "gltfpack_cc": [*(flag for flag in _PLAIN if flag != "-noq"), "-cc"],
}
# Which kinds are compared.
_PAIRS = [("hra", "keep"), ("hra", "gltfpack"), ("hra", "gltfpack_kv"), ("rounded", "hra"), ("rounded", "gltfpack_cc")]
_MOST, _LARGEST = 60_000, 4_000_000
_SIDE = 640


def packed(source: Path, target: Path, ratio: float, npm: Path, flags: list[str]) -> int:
    """The bytes of what gltfpack makes of a file."""
    gltfpack(npm, source, target, [*flags, "-si", f"{ratio:.5f}"])
    return target.stat().st_size


def scaled(scene: GltfScene, scale: float) -> dict[int, bytes]:
    """All images at a share of their sides, where that is smaller."""
    found = {}
    for number in range(len(scene.accessors.header.get("images", []))):
        content = scene.image(number)
        if content and content.startswith((b"\x89PNG", b"\xff\xd8\xff")) and scale < 1:
            image = ShownImage(content, 1.0, 1.0, 0.5)
            if image.picture is not None:
                kind = image.kinds[0]
                made = image.encoded(kind, scale, None if kind == "PNG" else _QUALITY).content
                found |= {number: made} if len(made) < len(content) else {}
    return found


def by_gltfpack(source: Path, out: Path, limits: list[int], npm: Path, kind: str) -> list[dict[str, Any]]:
    """For each limit and scale the file with the most triangles that fits."""
    flags = _KINDS[kind]
    scene, records = GltfScene.open(source), []
    sources = {}
    for scale in _SCALES:
        sources[scale] = out / f"source{scale}.glb"
        sources[scale].write_bytes(scene.glb([], images=scaled(scene, scale)))
    small, trial = sources[_SCALES[-1]], out / "trial.glb"
    sizes = [packed(small, trial, ratio, npm, flags) for ratio in _RATIOS]
    for limit in limits:
        for scale in _SCALES:
            room = limit - (sources[scale].stat().st_size - small.stat().st_size)
            ratio = float(np.interp(room, sizes[::-1], _RATIOS[::-1]))
            target = out / f"{kind}-{limit}-{scale}.glb"
            for _ in range(3 if room >= sizes[-1] else 0):
                size = packed(sources[scale], target, ratio, npm, flags)
                if size <= limit:
                    records.append({"limit": limit, "scale": scale, "bytes": size, "file": target.name})
                    break
                ratio *= 0.99 * room / (room + size - limit)
            else:
                target.unlink(missing_ok=True)
    return records


def by_hra(source: Path, out: Path, limits: list[int], kind: str) -> list[dict[str, Any]]:
    """The levels by one budget that are possible."""
    lens = Camera.perspective((0, 0, 1), (0, 0, 0), vertical_fov_degrees=60, viewport=(_SIDE, _SIDE))
    while limits:
        begin = time.process_time()
        try:
            lod = meshes.scene_lod(source, [float(one) for one in limits], unit="bytes", lens=lens, **_OURS[kind])
        except BudgetTooSmall:
            limits = limits[:-1]
            continue
        files = lod.export(out, kind)
        seconds = round(time.process_time() - begin, 2)
        return [
            {"limit": limit, "bytes": path.stat().st_size, "file": path.name, "triangles": count, "cpu_s": seconds}
            | {"images": own.images, "residual_gap": own.residual_gap}
            for limit, path, count, own in zip(limits, files, lod.triangles, lod.shares, strict=True)
        ]
    return []


def tried(path: Path, out: Path, npm: Path) -> dict[str, Any]:
    """The files of one asset."""
    source = as_source(path, out)
    whole = source.stat().st_size
    limits = [int(whole * share) for share in _SHARES]
    found: dict[str, Any] = {"bytes": whole, "triangles": triangles(header_of(source))[0], "limits": limits}
    for kind in _OURS:
        found[kind] = by_hra(source, out, limits, kind)
    for kind in _KINDS:
        found[kind] = by_gltfpack(source, out, limits, npm, kind)
    return found


def decibels(entry: Mapping[str, Any], kind: str, limit: int) -> float | None:
    """The best picture of a kind within a limit; None where there is none."""
    values = [one["decibels"] for one in entry.get(kind, []) if one["limit"] == limit and "decibels" in one]
    return max(values, default=None)


def summary(record: Mapping[str, Any]) -> dict[str, Any]:
    """What came out, over all combinations of asset and limit."""
    found: dict[str, Any] = {"asked": sum(len(entry.get("limits", [])) for entry in record.values())}
    for kind in ("hra", "rounded"):
        rows = [one for entry in record.values() for one in entry.get(kind, [])]
        spent = [one["bytes"] / one["limit"] for one in rows]
        found[kind] = {"written": len(rows), "overruns": sum(share > 1 for share in spent)}
        if spent:
            found[kind] |= {"spent_median": round(median(spent), 4), "spent_least": round(min(spent), 4)}
    for own, other in _PAIRS:
        gains, alone = [], 0
        for entry in record.values():
            for limit in entry.get("limits", []):
                ours, theirs = decibels(entry, own, limit), decibels(entry, other, limit)
                if ours is not None and theirs is not None:
                    gains.append(ours - theirs)
                alone += ours is not None and theirs is None
        if gains:
            better = sum(gain >= 0 for gain in gains)
            compared = {"compared": len(gains), "at_or_above": better, "only_the_first_fits": alone}
            compared |= {"median_db": round(median(gains), 2), "least_db": round(min(gains), 2)}
            found[f"{own} beside {other}"] = compared
    return found


def main() -> None:
    """Write the files of every asset, draw them, and say what came out."""
    parser = arguments(__doc__)
    parser.add_argument("--npm", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--draw", action="store_true")
    own = parser.parse_args()
    warnings.simplefilter("ignore")
    own.out.mkdir(parents=True, exist_ok=True)
    kept = own.out / "record.json"
    record: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    for name, path in sorted(scenes(own).items(), key=lambda pair: pair[1].stat().st_size):
        try:
            header = header_of(path)
            beside = sum(one.stat().st_size for one in path.parent.iterdir()) if path.suffix == ".gltf" else 0
            if name in record or not header.get("images") or max(beside, path.stat().st_size) > _LARGEST:
                continue
            if suits(header, _MOST):
                record[name] = tried(path, own.out / place_of(name), own.npm)
                print(name, record[name]["limits"], [one["bytes"] for one in record[name]["hra"]], flush=True)
        except (HraError, subprocess.CalledProcessError, KeyError, ValueError) as error:
            record[name] = {"left_out": f"{type(error).__name__}: {error}"[:300]}
            print(name, record[name], flush=True)
        kept.write_text(json.dumps(record, indent=1))
    if own.draw:
        _draw(record, own)
        kept.write_text(json.dumps(record, indent=1))
    found = summary(record)
    print(json.dumps(found, indent=1))
    if own.json is not None:
        own.json.write_text(json.dumps({"summary": found, "assets": record}, indent=1))


def _draw(record: dict[str, Any], own: argparse.Namespace) -> None:
    """Draw every file, and enter how far its pictures are from the source's."""
    jobs, rows = [], {}
    for name, entry in record.items():
        rows[name] = [one for kind in (*_OURS, *_KINDS) for one in entry.get(kind, [])]
        if rows[name] and not any("decibels" in one for one in rows[name]):
            sizes = [round(_SIDE * (one["limit"] / entry["bytes"]) ** 0.5) for one in rows[name]]
            jobs.append({**job(name, [one["file"] for one in rows[name]], own.pictures), "sizes": sizes})
    for answer in drawn(jobs, own.npm, {"out": own.out}, own.pictures):
        if "error" in answer:
            record[answer["name"]]["not_drawn"] = answer["error"]
        for one, level in zip(rows[answer["name"]], answer["levels"], strict=False):
            one["decibels"] = round(level["mean"], 2)


if __name__ == "__main__":
    main()
