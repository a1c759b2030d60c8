"""What the packages export is what docs/public-api.txt says: a change of the interface is seen and meant."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_interface_is_the_recorded_one() -> None:
    spec = spec_from_file_location("public_api", ROOT / "scripts/public_api.py")
    assert spec is not None and spec.loader is not None
    command = module_from_spec(spec)
    spec.loader.exec_module(command)
    recorded, found = command.FILE.read_text().splitlines(), command.interface().splitlines()
    gone, new = set(recorded) - set(found), set(found) - set(recorded)
    assert (gone, new) == (set(), set()), "run `python scripts/public_api.py`, and tell of the change in CHANGELOG.md"
    assert len(found) > 500
