from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tiles
from tests.helpers.planning_cases import a_camera, chain, tilesets


@given(tilesets(), st.floats(0, 1), st.sampled_from([tiles.ThreeTilesRule, tiles.CesiumRule]))
def test_no_rule_is_finer_with_the_same_bytes(tileset, share, rule):
    cameras = [a_camera(8, azimuth) for azimuth in (0, 60, 120)]
    cache = int(tileset.content_bytes[0] + share * tileset.content_bytes.sum())
    found = tiles.replay(tileset, cameras, rule(cache, target=1.0), updates=6)
    for camera, error, held in zip(cameras, found.error, found.held_bytes.tolist(), strict=True):
        assert tiles.plan(tileset, camera, max(held, int(tileset.content_bytes[0]))).target <= error
    assert found.loads >= found.reloads >= 0


def test_three_tiles_refuses_while_it_is_full():
    found = tiles.replay(chain(), [a_camera()], tiles.ThreeTilesRule(cache=30, target=0.5), updates=10)
    # Three tiles are wanted at once: two arrive, the third is thrown away, and then the cache is full for ever.
    assert found.held_bytes.tolist() == [30] and found.refusals == 9 and found.loads == 3
