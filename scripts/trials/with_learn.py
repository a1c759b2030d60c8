"""A codebook by k-means, a score of an answer, and a reader that goes through a file."""

import tempfile
from pathlib import Path

import matplotlib as matplotlib
import numpy as np
import torch

from hra.domains import tokens
from hra_lab.evidence.reader import SMALL, Reader
from hra_lab.evidence.weights import load_reader, save_reader
from hra_lab.vqa.scores import anls

codes = tokens.Codebook.fit(np.random.default_rng(0).random((200, 8), np.float32), 4)
assert set(codes.encode(np.zeros((3, 8), np.float32)).tolist()) < set(range(4))
assert anls("$ 1,234.50", ["$ 1,234.56"]) == 0.9
reader = Reader(SMALL)
with tempfile.TemporaryDirectory() as folder:
    save_reader(Path(folder, "a.safetensors"), reader)
    read = load_reader(Path(folder, "a.safetensors"))
assert all(torch.equal(one, other) for one, other in zip(reader.parameters(), read.parameters(), strict=True))
