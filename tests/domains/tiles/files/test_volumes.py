"""Bounding volumes: the box around a region holds all of it and touches it on all sides; what is none is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import tiles
from hra.domains.tiles.files.volumes import Volume, volume_of
from hra.domains.tiles.tileset import Volumes
from hra.errors import FileError

# WGS 84, from its semi-axes: the reader uses the flattening.
EQUATOR, POLE = 6378137.0, 6356752.314245
# Of 3d-tiles-tools, specs/data/Tileset: 400 x 402 x 88 m.
TOWN = [-1.3197209591796106, 0.6988424218, -1.3196390408203893, 0.6989055782, 0.0, 88.0]


def points_of(longitude: np.ndarray, latitude: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Points [P, 3] of the earth."""
    squared = 1 - (POLE / EQUATOR) ** 2
    normal = EQUATOR**2 / np.hypot(EQUATOR * np.cos(latitude), POLE * np.sin(latitude))
    x, y = ((normal + height) * np.cos(latitude) * turn(longitude) for turn in (np.cos, np.sin))
    z = ((1 - squared) * normal + height) * np.sin(latitude)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3)


def width(region: list[float]) -> float:
    return region[2] - region[0] + (2 * np.pi if region[2] < region[0] else 0)


def surface(region: list[float], steps: int = 65) -> np.ndarray:
    """Points [P, 3] of the lowest and the highest surface of a region."""
    west, south, _, north, low, high = region
    along = np.linspace(west, west + width(region), steps)
    return points_of(*np.meshgrid(along, np.linspace(south, north, steps), [low, high], indexing="ij"))


def box_of(region: list[float]) -> Volume:
    """Centre, half axes and radius; east, north and up at the middle of the region are the directions of the axes."""
    center, axes, radius = volume_of({"region": region}, np.diag([7.0, 7, 7, 1]), "")  # transforms do not move regions
    longitude, latitude = region[0] + width(region) / 2, (region[1] + region[3]) / 2
    out, north = np.array([np.cos(longitude), np.sin(longitude), 0]), np.array([0, 0, 1.0])
    up = out * np.cos(latitude) + north * np.sin(latitude)
    across = north * np.cos(latitude) - out * np.sin(latitude)
    expected = np.stack([np.cross(across, up), across, up])
    assert radius == 0 and np.allclose(axes, np.linalg.norm(axes, axis=1)[:, None] * expected, atol=1e-6)
    return center, axes, radius


def within(points: np.ndarray, volume: Volume) -> np.ndarray:
    """How far the points are from the middle along each axis, [P, 3] metres."""
    center, axes, _ = volume
    half = np.linalg.norm(axes, axis=1)
    return (points - center) @ (axes / half[:, None]).T


REGIONS = st.builds(
    lambda west, south, wide, rise, low, high: [
        west,
        south,
        west + wide - (2 * np.pi if west + wide > np.pi else 0),
        min(south + rise, np.pi / 2),
        low,
        low + high,
    ],
    st.floats(-np.pi, np.pi),
    st.floats(-np.pi / 2, 1.5),
    st.floats(1e-5, 6.28),
    st.floats(1e-5, np.pi),
    st.floats(-12_000, 9_000),
    st.floats(1, 1e6),
)


@given(REGIONS, st.integers(0, 2**32 - 1))
def test_the_box_of_a_region_holds_all_of_it(region: list[float], seed: int) -> None:
    shares = np.random.default_rng(seed).random((3, 500))
    inside = points_of(
        region[0] + width(region) * shares[0],
        region[1] + (region[3] - region[1]) * shares[1],
        region[4] + (region[5] - region[4]) * shares[2],
    )
    volume = box_of(region)
    along = within(np.concatenate([inside, surface(region, 33)]), volume)
    assert (np.abs(along) <= np.linalg.norm(volume[1], axis=1) + 1e-5).all()
    assert Volumes(volume[0][None], volume[1][None], np.zeros(1)).distances(inside[0]).max() < 1e-5


@given(REGIONS)
def test_the_box_of_a_region_touches_it_on_all_sides(region: list[float]) -> None:
    volume = box_of(region)
    along, half = within(surface(region, 129), volume), np.linalg.norm(volume[1], axis=1)
    # Between two of 129 samples the surface bulges by this share of the radius at most.
    missed = (EQUATOR + region[5]) * (1 - np.cos(max(width(region), region[3] - region[1]) / 128))
    assert (along.max(axis=0) >= half - missed - 1e-5).all() and (along.min(axis=0) <= -half + missed + 1e-5).all()


@pytest.mark.parametrize("south", [-1.5, -0.6, -5e-4, 0.0, 0.7, 1.56])
@pytest.mark.parametrize("west", [-3.0, -1.0, 0.2, 2.5, 3.141])
def test_a_small_region_is_as_large_as_its_sides(west: float, south: float) -> None:
    region = [west, south, west + 1e-4, south + 6e-5, 20.0, 108.0]
    half = np.linalg.norm(box_of(region)[1], axis=1)
    squared = 1 - (POLE / EQUATOR) ** 2
    across = EQUATOR / np.sqrt(1 - squared * np.sin(region[1:4:2]) ** 2)
    along = EQUATOR * (1 - squared) / np.sqrt(1 - squared * np.sin(south) ** 2) ** 3
    east = ((across + 108) * np.cos(region[1:4:2])).max() * 1e-4
    assert 2 * half == pytest.approx([east, (along + 108) * 6e-5, 88], rel=1e-4, abs=0.02)


@pytest.mark.parametrize("height", [50.0, 200.0, 1e4])
def test_the_distance_from_above_a_region_is_the_height(height: float) -> None:
    center, axes, radius = (np.array([part]) for part in volume_of({"region": TOWN}, np.eye(4), ""))
    assert np.linalg.norm(axes[0], axis=1) * 2 == pytest.approx([400.6, 401.8, 88.0], abs=0.1)
    middle = np.array([(TOWN[0] + TOWN[2]) / 2]), np.array([(TOWN[1] + TOWN[3]) / 2])
    eye, ground = (points_of(*middle, np.array([at]))[0] for at in (88 + height, 0.0))
    assert Volumes(center, axes, radius).distances(eye).tolist() == pytest.approx([height], abs=0.01)
    camera = hra.Camera.perspective(eye, ground, up=(0, 0, 1))
    parent, size, names = np.array([-1, 0]), np.array([10, 10]), ("a", "b")
    twice = Volumes(*(np.repeat(part, 2, axis=0) for part in (center, axes, radius)))
    tree = tiles.Tileset(parent, np.array([70.0, 0]), size, names, np.ones(2, bool), twice)
    assert tiles.plan(tree, camera, 10).target == pytest.approx(70 * 540 * 3**0.5 / height, rel=1e-3)


def test_a_region_over_the_date_line_is_narrow() -> None:
    center, axes, _ = box_of([3.1, 0.0, -3.1, 0.1, 0.0, 0.0])
    assert center[0] < -6.3e6 and 2 * np.linalg.norm(axes[0]) == pytest.approx(2 * EQUATOR * np.sin(np.pi - 3.1))


def test_the_whole_earth_and_a_point_are_regions() -> None:
    center, axes, _ = volume_of({"region": [-3.1416, -1.5708, 3.1416, 1.5708, 0, 0]}, np.eye(4), "")
    assert np.allclose(center, 0, atol=1e-6)
    assert np.allclose(np.linalg.norm(axes, axis=1), [EQUATOR, POLE, EQUATOR], atol=1e-3)
    center, axes, _ = volume_of({"region": [0, 0, 0, 0, 5, 5]}, np.eye(4), "")
    assert center.tolist() == [EQUATOR + 5, 0, 0] and not axes.any()


@pytest.mark.parametrize(
    ("region", "what"),
    [
        ([-1, -90, 1, 90, 0, 1], "beyond a pole or a full turn"),
        ([-180, 0, 180, 1, 0, 1], "beyond a pole or a full turn"),
        ([8, 0, 1, 1, 0, 1], "beyond a pole or a full turn"),
        ([0, 0, 1, 1, -6.4e6, 1], "down to -6,400,000 metres"),
    ],
)
def test_regions_that_are_not_on_the_earth_are_refused(region: list[float], what: str) -> None:
    with pytest.raises(FileError, match=what) as caught:
        volume_of({"region": region}, np.eye(4), "a tile")
    assert caught.value.where == "a tile"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, "1", None, [1], 1j])
@pytest.mark.parametrize(("kind", "size"), [("box", 12), ("sphere", 4), ("region", 6)])
def test_what_is_no_finite_number_is_refused(kind: str, size: int, value: object) -> None:
    for place in range(size):
        record: dict[str, list[object]] = {kind: [1] * size}
        record[kind][place] = value
        with pytest.raises(FileError, match="a tile has no bounding volume that is known") as caught:
            volume_of(record, np.eye(4), "a tile")
        assert caught.value.where == "a tile"
