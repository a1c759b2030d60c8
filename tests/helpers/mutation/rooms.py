"""The sources whose changes are judged, and the tests that judge them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """Sources, as patterns below the root, and the tests that judge them."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


_READING = (
    "tests/hra/files/ply",
    "tests/domains/meshes/files",
    "tests/domains/points/files",
    "tests/domains/tiles/files",
    "tests/domains/tiles/test_reading.py",
)
ROOMS = {
    "solver": Room(
        ("hra/solvers/**/*.py", "hra/traversals/*.py"),
        (
            "tests/hra/traversals",
            "tests/hra/solvers",
            "tests/hra/allocating",
            "tests/hra/pooling/test_copies.py",
            "tests/hra/test_found_certificates.py",
            "tests/hra/test_determinism.py",
            "tests/domains/tokens/learned/test_estimators.py",
        ),
    ),
    "checker": Room(
        ("hra/allocating/verification.py", "hra/files/plain_arrays.py"),
        (
            "tests/hra/allocating/test_verification.py",
            "tests/hra/allocating/test_allocation_file.py",
            "tests/hra/files/test_plain_arrays.py",
            "tests/hra/adversary/test_forger.py",
            "tests/hra/model/test_units.py",
            "tests/hra/test_found_certificates.py",
        ),
    ),
    "pool": Room(("hra/pooling/*.py",), ("tests/hra/pooling",)),
    "residency": Room(("hra/residency/**/*.py",), ("tests/hra/residency",)),
    "readers": Room(
        ("hra/files/ply/*.py", "domains/meshes/files/*.py", "domains/points/files/*.py", "domains/tiles/files/*.py"),
        _READING,
    ),
}
