from .files.reading import read_tileset as read_tileset
from .planning import TilePlan as TilePlan
from .planning import plan as plan
from .rules.cesium import CesiumRule as CesiumRule
from .rules.replay import Replay as Replay
from .rules.replay import replay as replay
from .rules.three_tiles import ThreeTilesRule as ThreeTilesRule
from .tileset import Tileset as Tileset
