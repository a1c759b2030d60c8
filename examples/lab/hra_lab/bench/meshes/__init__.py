"""The meshes suite: building, cutting and loading cluster meshes.

One file per row, and the inputs, views and stop-watches that they share.
"""
