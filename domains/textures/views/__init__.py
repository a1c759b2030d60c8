"""Scenes of textured planes, cameras over them, and how they look.

What stands around the textures to judge them: planes, flights over them, rays, a plain renderer that samples what is
resident, and the quality of what it shows.
"""
