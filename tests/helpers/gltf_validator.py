"""Khronos' glTF validator, where Node.js and the npm package ``gltf-validator`` are there.

``HRA_GLTF_VALIDATOR`` names the folder that ``npm i gltf-validator`` ran in.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

_SCRIPT = """
const validator = require('gltf-validator'), fs = require('fs');
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])))
  .then(report => console.log(JSON.stringify(report.issues)), error => { console.error(error); process.exit(1); });
"""


def _environment() -> dict[str, str]:
    folder = os.environ.get("HRA_GLTF_VALIDATOR")
    return {**os.environ, "NODE_PATH": str(Path(folder) / "node_modules")} if folder else dict(os.environ)


@cache
def available() -> bool:
    """Whether the validator can be run."""
    if not shutil.which("node"):
        return False
    found = ["node", "-e", "require.resolve('gltf-validator')"]
    return subprocess.run(found, env=_environment(), capture_output=True).returncode == 0


def issues(path: Path) -> dict[str, Any]:
    """The report's issues: "numErrors", "numWarnings", "numInfos", "numHints" and "messages"."""
    run = ["node", "-e", _SCRIPT, str(path)]
    return json.loads(subprocess.run(run, env=_environment(), capture_output=True, check=True).stdout)
