"""Levels of detail of glTF scenes that nobody here made: what is kept, what warns, and what Khronos' validator says.

    python examples/lab/scripts/foreign_scenes.py FOLDER OUT [--ratios 1,.5,.25] [--only WORD]

For every .glb and .gltf below FOLDER that Khronos' validator (npm package gltf-validator, found by NODE_PATH) finds no
error in, levels are written to OUT, and OUT/record.json says what happened. A file fails where hra ends in anything but
one of its own errors; where a level has an error, or a warning that its source had not; or where an extension, an
attribute, a node, a name, a material, an animation, a skin, a camera or extras of the source are not in a level, and no
warning names the mesh. What the record has is not made again, but validated.
"""

from __future__ import annotations

import json
import subprocess
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from scene_files import arguments, header_of, place_of, scenes

from hra.domains import meshes
from hra.errors import HraError

_SCRIPT = """
const validator = require('gltf-validator'), fs = require('fs'), path = require('path');
(async () => {
  for (const file of fs.readFileSync(0, 'utf8').split('\\n').filter(line => line)) {
    const beside = uri => fs.promises.readFile(path.join(path.dirname(file), decodeURIComponent(uri)));
    let codes = {};
    try {
      const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)),
        {externalResourceFunction: uri => beside(uri).then(data => new Uint8Array(data)), maxIssues: 0});
      for (const one of report.issues.messages)
        if (one.severity < 2) codes[one.severity + ' ' + one.code] = (codes[one.severity + ' ' + one.code] || 0) + 1;
    } catch (error) { codes['0 UNREADABLE'] = 1; }
    console.log(JSON.stringify(codes));
  }
})();
"""
# What a level may lack: it is written unpacked.
_UNPACKED = {"KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"}


def validated(paths: list[Path]) -> list[dict[str, int]]:
    """How often each error ("0 CODE") and warning ("1 CODE") is found in each file."""
    names = "".join(f"{path}\n" for path in paths)
    run = subprocess.run(["node", "-e", _SCRIPT], input=names, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def content(path: Path) -> Counter[str]:
    """What a header has, counted: extensions where they stand, attributes, and the entries of its lists."""
    header = header_of(path)
    found: Counter[str] = Counter()
    for kind in ("nodes", "meshes", "materials", "textures", "images", "animations", "skins", "cameras", "scenes"):
        found[kind] = len(header.get(kind, []))

    def walk(value: Any) -> None:
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            if key == "extensions":
                found.update(name for name in entry if name not in _UNPACKED)
            elif key == "name" and isinstance(entry, str):
                found["names"] += 1
            elif key == "extras":
                found["extras"] += 1
            if isinstance(entry, (dict, list)):
                walk(entry)

    header.pop("bufferViews", None)
    header.pop("buffers", None)
    walk(header)
    for mesh in header.get("meshes", []):
        for primitive in mesh["primitives"]:
            found.update(list(primitive["attributes"]))
            found["morph targets"] += len(primitive.get("targets", []))
    return found


def tried(path: Path, out: Path, ratios: list[float]) -> dict[str, Any]:
    """The levels of one file, with what was said of them."""
    begin = time.process_time()
    record: dict[str, Any] = {"file": path.name, "bytes": path.stat().st_size}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            lod = meshes.scene_lod(path, ratios)
            files = lod.export(out)
            record |= {"triangles": lod.triangles, "level_bytes": [one.stat().st_size for one in files]}
            record["of_size"] = [float(error / (2 * lod.chain.radius)) for error in lod.chain.errors]
            before = content(path)
            record["lost"] = [dict(before - content(one)) for one in files]
        except HraError as error:
            record["refused"] = str(error.what)
        except Exception:  # what a crash is: anything but the library's own errors
            record["crashed"] = traceback.format_exc(limit=-2)
    record["warnings"] = [str(one.message).replace(str(path), path.name) for one in caught]
    return record | {"seconds": round(time.process_time() - begin, 2)}


def main() -> None:
    """Try every file, validate all levels at once, and print what failed."""
    parser = arguments(__doc__)
    parser.add_argument("--ratios", default="1,.5,.25")
    own = parser.parse_args()
    ratios = [float(part) for part in own.ratios.split(",")]
    paths, kept = scenes(own), own.out / "record.json"
    records = json.loads(kept.read_text()) if kept.exists() else {}
    own.out.mkdir(parents=True, exist_ok=True)
    for (name, path), issues in zip(paths.items(), validated(list(paths.values())), strict=True):
        if name in records:
            continue
        if any(code.startswith("0") for code in issues):
            records[name] = {"invalid": issues}
            continue
        records[name] = tried(path, own.out / place_of(name), ratios) | {"issues": issues}
        print(name, records[name].get("triangles") or records[name].get("refused") or "CRASHED", flush=True)
        kept.write_text(json.dumps(records, indent=1))
    written = [(name, p) for name in records for p in sorted((own.out / place_of(name)).glob("lod*.glb"))]
    for (name, path), issues in zip(written, validated([path for _, path in written]), strict=True):
        before = records[name]["issues"]
        new = {code: count for code, count in issues.items() if code not in before}
        if new:
            records[name].setdefault("new_issues", {})[path.name] = new
    for record in records.values():
        said = " ".join(record.get("warnings", []))
        lost = [name for one in record.get("lost", []) for name in one if name not in said]
        record["failed"] = bool("crashed" in record or "new_issues" in record or lost)
    kept.write_text(json.dumps(records, indent=1))
    kinds = Counter(
        "failed" if r["failed"] else "invalid" if "invalid" in r else "refused" if "refused" in r else "fine"
        for r in records.values()
    )
    print(dict(kinds))
    for name, record in records.items():
        if record["failed"]:
            print(name, {key: record[key] for key in ("crashed", "new_issues", "lost") if key in record})


if __name__ == "__main__":
    main()
