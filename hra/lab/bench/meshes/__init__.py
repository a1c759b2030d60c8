"""The meshes suite: building, cutting and loading cluster meshes."""
