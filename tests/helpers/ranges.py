"""A folder on the loopback that answers range requests, as web servers do and Python's does not."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Whole files, and single ranges of them."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """A range where one is asked for."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None:
            super().do_GET()
            return
        data = Path(self.translate_path(self.path)).read_bytes()
        begin, end = int(asked[1]), min(int(asked[2]) + 1, len(data))
        self.send_response(206)
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[begin:end])


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of ``folder``."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Ranges, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
