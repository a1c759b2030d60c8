"""Draw glTF scenes and their levels in three.js, and say how far the pictures are apart.

    python examples/lab/scripts/judge_scenes.py FOLDER LEVELS --npm FOLDER [--only WORD] [--pictures FOLDER]

LEVELS is what foreign_scenes.py has written for FOLDER. Each file is drawn from three sides as it stands, and at three
times of each of its first four animations; a level counts with its worst and its mean picture. --npm has the package
three (see viewers/package.json); Chromium is found as chromium-headless-shell. All is served on the loopback.
LEVELS/pictures.json says what came out; a finest level below 35 dB fails, unless the source drawn twice is as far from
itself ("again"), and so does one that three.js cannot load.
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from scene_files import place_of

_CHROMIUM = "chromium-headless-shell"
_FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--mute-audio"]
_PAGE = Path(__file__).parent / "viewers" / "scenes.html"
_LEAST = 35.0


class _Handler(http.server.BaseHTTPRequestHandler):
    """The page, its jobs, the files that it asks for, and its answers."""

    roots: dict[str, Path]
    jobs: list[dict[str, Any]]
    answers: queue.Queue[dict[str, Any] | None]
    pictures: Path | None

    def do_GET(self) -> None:
        path = unquote(self.path.split("?")[0])
        if path == "/jobs":
            return self._send(json.dumps(self.jobs).encode(), "application/json")
        if path == "/":
            return self._send(_PAGE.read_bytes(), "text/html")
        head, _, rest = path.lstrip("/").partition("/")
        file = (self.roots.get(head, Path("/nowhere")) / rest).resolve()
        if head not in self.roots or not file.is_relative_to(self.roots[head]) or not file.is_file():
            return self.send_error(404)
        kinds = {".js": "text/javascript", ".wasm": "application/wasm"}
        return self._send(file.read_bytes(), kinds.get(file.suffix, "application/octet-stream"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/picture/") and self.pictures is not None:
            (self.pictures / f"{Path(unquote(self.path)).name}.png").write_bytes(body)
        elif self.path in ("/answer", "/done"):
            self.answers.put(json.loads(body) if self.path == "/answer" else None)
        self._send(b"", "text/plain")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def drawn(
    jobs: list[dict[str, Any]], npm: Path, roots: dict[str, Path], pictures: Path | None = None, wait: float = 240
) -> list[dict[str, Any]]:
    """The page's answers to ``jobs``, whose files are below ``roots``.

    A page that is silent for ``wait`` seconds is closed, and the next job begins.
    """
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    roots = {name: root.resolve() for name, root in {**roots, "node_modules": npm / "node_modules"}.items()}
    answers: list[dict[str, Any]] = []
    waiting: queue.Queue[dict[str, Any] | None] = queue.Queue()
    handler = type("Handler", (_Handler,), {"roots": roots, "answers": waiting, "pictures": pictures, "jobs": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while len(answers) < len(jobs):
        handler.jobs = jobs[len(answers) :]
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        # A group of its own: the program that is found may be a script, which would leave the browser behind.
        command = [_CHROMIUM, *_FLAGS, "--remote-debugging-port=0", address]
        browser = subprocess.Popen(command, **quiet, start_new_session=True)
        try:
            while (answer := waiting.get(timeout=wait)) is not None:
                answers.append(answer)
                print(answer, flush=True)
        except queue.Empty:
            answers.append({"name": jobs[len(answers)]["name"], "error": "no answer", "levels": []})
            print(answers[-1], flush=True)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
    server.shutdown()
    return answers


def main() -> None:
    """Judge every file that has levels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("levels", type=Path)
    parser.add_argument("--npm", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--pictures", type=Path)
    own = parser.parse_args()
    record, jobs = json.loads((own.levels / "record.json").read_text()), []
    for name, entry in record.items():
        files = sorted((own.levels / place_of(name)).glob("lod*.glb"))
        if files and own.only in name and "crashed" not in entry and "refused" not in entry:
            levels = [f"/levels/{quote(str(file.relative_to(own.levels)))}" for file in files]
            picture = quote(place_of(name), safe="") if own.pictures else None
            jobs.append({"name": name, "source": f"/source/{quote(name)}", "levels": levels, "picture": picture})
    answers = drawn(jobs, own.npm, {"source": own.folder, "levels": own.levels}, own.pictures)
    (own.levels / "pictures.json").write_text(json.dumps(answers, indent=1))
    bad = [one for one in answers if "error" in one or one["levels"][0]["least"] < min(_LEAST, one.get("again", 99))]
    print(f"{len(answers)} drawn, {len(bad)} failed")
    for one in bad:
        print(one)


if __name__ == "__main__":
    main()
