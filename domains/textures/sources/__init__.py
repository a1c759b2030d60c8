"""Image files as textures, read tile by tile."""
