from .camera import Camera as Camera
from .eccentricity import Eccentricity as Eccentricity
from .occlusion import Occlusion as Occlusion
from .view import ImportanceMap as ImportanceMap
from .view import View as View
from .view import views_of as views_of
