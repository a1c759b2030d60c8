from hra.domains import tiles
from tests.helpers.planning_cases import a_camera, chain


def test_cesium_raises_its_target_until_things_fit():
    rule = tiles.CesiumRule(cache=25, target=1.0)
    found = tiles.replay(chain(), [a_camera()], rule, updates=400)
    assert found.held_bytes.tolist() == [30] and found.refusals > 50 and found.most_bytes >= 30
