from .camera import Camera as Camera
from .eccentricity import Eccentricity as Eccentricity
from .importance import ImportanceMap as ImportanceMap
from .occlusion import Occlusion as Occlusion
from .view import View as View
from .view import views_of as views_of
