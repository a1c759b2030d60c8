"""Scenes of textured planes, cameras over them, and how they look.

Everything around the textures that is needed to compare views: planes, flights over them, rays, a plain renderer that
samples what is resident, and the quality of what it shows.
"""
