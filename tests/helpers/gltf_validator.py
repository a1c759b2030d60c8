"""Khronos' glTF validator, where Node.js and the npm package ``gltf-validator`` are there.

``HRA_GLTF_VALIDATOR`` names the folder that ``npm i gltf-validator`` ran in.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
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


_MANY = """
const validator = require('gltf-validator'), fs = require('fs'), path = require('path');
let failed = () => {};
process.on('uncaughtException', () => failed());  // numbers beyond float64 end the validator itself
(async () => {
  for (const file of fs.readFileSync(0, 'utf8').split('\\n').filter(line => line)) {
    const beside = uri => fs.promises.readFile(path.join(path.dirname(file), decodeURIComponent(uri)));
    const codes = await new Promise(resolve => {
      failed = () => resolve(['UNREADABLE']);
      validator.validateBytes(new Uint8Array(fs.readFileSync(file)),
        {externalResourceFunction: uri => beside(uri).then(data => new Uint8Array(data)), maxIssues: 0})
        .then(report => resolve(report.issues.messages.filter(one => one.severity == 0).map(one => one.code)), failed);
    });
    console.log(JSON.stringify([...new Set(codes)]));
  }
})();
"""


def errors(paths: Iterable[Path]) -> list[list[str]]:
    """The codes of the errors in each file, none for a valid one; files beside them are looked up."""
    names = "".join(f"{path}\n" for path in paths)
    run = ["node", "-e", _MANY]
    found = subprocess.run(run, env=_environment(), input=names, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in found.stdout.splitlines()]


def issues(path: Path) -> dict[str, Any]:
    """The report's issues: "numErrors", "numWarnings", "numInfos", "numHints" and "messages"."""
    run = ["node", "-e", _SCRIPT, str(path)]
    return json.loads(subprocess.run(run, env=_environment(), capture_output=True, check=True).stdout)
