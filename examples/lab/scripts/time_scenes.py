"""CPU seconds of levels of foreign scenes, from the file to files, beside gltfpack, after start-up.

    python examples/lab/scripts/time_scenes.py FOLDER OUT --npm FOLDER [--only WORD] [--json FILE] [--repeat N]

Of every .glb and .gltf below FOLDER with 1,500 to 250,000 triangles, three levels (a half, a quarter, a tenth of the
triangles) are written by hra in this process and by the npm build of gltfpack in one process of Node, with the flags of
beside_gltfpack.py. Both do everything once before, so that nothing is compiled in the time that counts. In turns; the
median of all rounds counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

from scene_files import FLAGS, arguments, as_source, header_of, place_of, scenes, suits

from hra.domains import meshes
from hra.errors import HraError

_SHARES = (0.5, 0.25, 0.1)
_PACK = Path(__file__).parent / "viewers" / "pack.mjs"


def by_hra(jobs: list[dict[str, Any]]) -> dict[str, float]:
    """CPU seconds of each scene."""
    found = {}
    for job in jobs:
        begin = time.process_time()
        meshes.scene_lod(job["source"], list(_SHARES)).export(Path(job["source"]).parent, "hra")
        found[job["name"]] = time.process_time() - begin
    return found


def by_gltfpack(jobs: list[dict[str, Any]], names: Path, npm: Path) -> dict[str, float]:
    """The same; every job has run once before in that process."""
    names.write_text(json.dumps(jobs))
    run = ["node", str(_PACK), str(names)]
    return json.loads(subprocess.run(run, cwd=npm, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Write the levels of every scene by both, and say what they took."""
    parser = arguments(__doc__)
    parser.add_argument("--npm", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    own = parser.parse_args()
    warnings.simplefilter("ignore")
    jobs = []
    for name, path in scenes(own).items():
        folder = own.out.resolve() / place_of(name)
        try:
            if not suits(header_of(path)):
                continue
            source = as_source(path, folder)
            meshes.scene_lod(source, list(_SHARES)).export(folder, "hra")
        except (HraError, KeyError, ValueError) as error:
            print(name, str(error).splitlines()[0], flush=True)
            continue
        targets = [
            {"file": str(folder / f"gltfpack{k}.glb"), "flags": [*FLAGS, "-si", str(share)]}
            for k, share in enumerate(_SHARES)
        ]
        jobs.append({"name": name, "source": str(source), "targets": targets})
    rounds = [(by_hra(jobs), by_gltfpack(jobs, own.out / "jobs.json", own.npm)) for _ in range(own.repeat)]
    rows = {name: [median(one[k][name] for one in rounds) for k in (0, 1)] for name in rounds[0][0]}
    for name, (ours, theirs) in rows.items():
        print(f"{name[-60:]:60} hra {ours:6.2f}  gltfpack {theirs:6.2f}  {ours / theirs:5.2f}")
    totals = [median(sum(one[k].values()) for one in rounds) for k in (0, 1)]
    ratio = median(a / b for a, b in rows.values())
    print(
        f"{len(rows)} scenes: hra {totals[0]:.2f} s, gltfpack {totals[1]:.2f} s, {totals[0] / totals[1]:.2f};", end=" "
    )
    print(f"of single scenes {ratio:.2f} at the median; load {os.getloadavg()[0]:.1f}")
    if own.json is not None:
        record = {"hra_s": totals[0], "gltfpack_s": totals[1], "load": os.getloadavg()[0], "scenes": rows}
        own.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
