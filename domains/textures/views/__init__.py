"""Scenes of textured planes, cameras over them, and how they look."""
