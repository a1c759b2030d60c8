from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hra.domains import tokens
from hra.domains.tokens.commands import app
from hra.domains.tokens.methods.named import named_allocator
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.errors import MetricError

EVERY = pytest.mark.parametrize("name", tokens.REDUCERS)


@EVERY
def test_every_reducer_is_a_method_by_its_name(name, tmp_path):
    # As hra's own: on the command line, by name, and as a function of the library.
    allocator = tokens.REDUCERS[name]()
    Image.fromarray((np.random.default_rng(0).random((64, 80, 3)) * 255).astype(np.uint8)).save(tmp_path / "a.png")
    arguments = ["allocate", str(tmp_path / "a.png"), "--budget", "7", "--method", name]
    arguments += ["--relevance", "uniform"] * isinstance(allocator.relevance, CueRelevance)
    result = CliRunner().invoke(app, [*arguments, "--json", str(tmp_path / "t.json")])
    if name == "vscan":  # a second map is needed, which an image alone does not give
        assert isinstance(result.exception, MetricError) and "'shallow'" in str(result.exception)
    else:
        assert result.exit_code == 0, result.output
        assert json.loads((tmp_path / "t.json").read_text())["count"] == 7
    named = named_allocator(name, None, None, None)[0]
    assert isinstance(allocator, tokens.TokenAllocator)
    assert (named.builder, named.traversal) == (allocator.builder, allocator.traversal)
    assert type(named.metric) is type(allocator.metric)
