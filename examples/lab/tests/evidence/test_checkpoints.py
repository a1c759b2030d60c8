"""Checkpoints: what was written comes back, and what is damaged is refused and changes nothing."""

import pytest
import torch
from safetensors.torch import load, save

from hra.errors import FileError
from hra_lab.evidence.training import load_state, save_state
from tests.helpers.hostile.checkpoints import model


def state(layer, optimiser):
    moments = optimiser.state_dict()["state"]
    found = {f"{number}.{name}": value for number, one in moments.items() for name, value in one.items()}
    return {name: value.clone() for name, value in (layer.state_dict() | found).items()}


def same(ours, theirs):
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("steps", [0, 3])
def test_a_checkpoint_comes_back(tmp_path, steps):
    written, other = model(steps), model()
    save_state(tmp_path / "a.safetensors", *written, steps)
    assert load_state(tmp_path / "a.safetensors", *other) == steps
    assert same(state(*written), state(*other))


def test_a_changed_byte_is_refused_and_changes_nothing_or_means_nothing(tmp_path):
    file, written = tmp_path / "a.safetensors", model(1)
    save_state(file, *written, 1)
    content, refused = file.read_bytes(), 0
    for at in range(len(content)):
        file.write_bytes(content[:at] + bytes([content[at] ^ 5]) + content[at + 1 :])
        other = model()
        before = state(*other)
        try:
            assert load_state(file, *other) == 1 and same(state(*written), state(*other))
        except FileError:
            refused += 1
            assert same(before, state(*other))
    # The name of the checksum and the spaces behind the header may change.
    assert refused > len(content) - 24


@pytest.mark.parametrize("reason", ["not known", "missing", "float64", "no step"])
def test_what_does_not_fit_says_why(tmp_path, reason):
    file = tmp_path / "a.safetensors"
    save_state(file, *model(1), 1)
    tensors = load(file.read_bytes())
    if reason == "not known":
        tensors["reader.more"] = torch.zeros(1)
    elif reason == "missing":
        del tensors["optimiser.0.step"]
    elif reason == "float64":
        tensors["reader.bias"] = tensors["reader.bias"].double()
    file.write_bytes(save(tensors, metadata={} if reason == "no step" else {"step": "1"}))
    with pytest.raises(FileError, match=reason):
        load_state(file, *model())
