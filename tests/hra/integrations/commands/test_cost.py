"""``hra tokens cost``: names, files, and what it refuses."""

from __future__ import annotations

import json

import pytest

from tests.helpers.command import run_hra
from tests.helpers.tiny_models import model_of

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_published_size_by_name(tmp_path, capsys):
    file = tmp_path / "cost.json"
    assert run_hra("tokens", "cost", "--model", "llava-1.5-7b", "--tokens", 273, "--json", file) == 0
    assert "prefill, GFLOP" in capsys.readouterr().out
    rows = json.loads(file.read_text())["rows"]
    assert rows["visual tokens"] == {"whole": 576, "reduced": 273}
    # 32 layers, keys and values of 4,096 numbers of 2 bytes, for 576 + 64 tokens.
    assert rows["cache after the prompt, MB"]["whole"] == pytest.approx(32 * 2 * 4096 * 2 * 640 / 1e6)
    assert rows["encoder, GFLOP"]["whole"] == rows["encoder, GFLOP"]["reduced"]


def test_a_configuration_from_a_file(tmp_path, capsys):
    model_of("gemma3").config.save_pretrained(tmp_path)
    assert run_hra("tokens", "cost", "--model", tmp_path / "config.json", "--tokens", 4) == 0
    assert "16" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content", ["", "[1]", "{}", '{"model_type": "nothing"}', '{"model_type": "llava", "text_config": 3}']
)
def test_files_that_are_no_configuration_are_refused(tmp_path, content, capsys):
    file = tmp_path / "config.json"
    file.write_text(content)
    assert run_hra("tokens", "cost", "--model", file) == 2
    told = capsys.readouterr().err
    assert "fix:" in told and "the a " not in told


@pytest.mark.parametrize("model", ["nothing", "missing/config.json"])
def test_models_that_are_not_there_are_refused(model, capsys):
    assert run_hra("tokens", "cost", "--model", model) == 2
    assert "fix:" in capsys.readouterr().err


@pytest.mark.parametrize("image", ["0x0", "5", "-3x4", "1e3x5", "x", "1x2x3"])
def test_images_that_are_no_size_are_refused(image, capsys):
    assert run_hra("tokens", "cost", "--model", "qwen2.5-vl-7b", f"--image={image}") == 2
    assert "where: --image" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--text", "--answer", "--pictures", "--tokens"])
def test_negative_numbers_are_refused(option, capsys):
    assert run_hra("tokens", "cost", "--model", "llava-1.5-7b", option, -1) == 2
    assert option in capsys.readouterr().err
