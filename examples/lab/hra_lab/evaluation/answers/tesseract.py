"""Tesseract, a recogniser of another origin than the one that relevance reads with, where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np

from hra.files.images.files import png_bytes

_ONE_LINE = "7"  # a page segmentation mode
_SECONDS = 60


def has_tesseract() -> bool:
    """Whether the program is on the path."""
    return shutil.which("tesseract") is not None


def read_strip(strip: np.ndarray) -> str:
    """The text of a picture [h, w, 3] uint8 of one line; empty where nothing is read."""
    command = ["tesseract", "stdin", "stdout", "--psm", _ONE_LINE, "-l", "eng"]
    one_thread = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(command, input=png_bytes(strip), capture_output=True, env=one_thread, timeout=_SECONDS)
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
