from .orbit_camera import OrbitCamera as OrbitCamera
from .orbit_view import OrbitView as OrbitView
from .panel import panel_over as panel_over
from .window import Key as Key
from .window import Session as Session
from .window import ViewWindow as ViewWindow
