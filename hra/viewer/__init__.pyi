from .in_context import Drawer as Drawer
from .in_context import InContext as InContext
from .orbit_camera import OrbitCamera as OrbitCamera
from .orbit_camera import OrbitView as OrbitView
from .window import Key as Key
from .window import Session as Session
from .window import ViewWindow as ViewWindow
from .window import panel_over as panel_over
