"""What cuts of a cluster mesh look like beside other ways to spend as many triangles.

Methods, views, the error of images, and the page that examples/lab/docs/mesh-quality.md is.
"""
