"""Views, which the core keeps for all domains, under the name that meshes export."""

from __future__ import annotations

from hra.camera.view import View as View
