"""What benchmarks, evaluation and demo feed on.

Seeded generators (quadtrees, cluster graphs, terrains, occluders, drives), crops of the shipped samples and the meshes
that `make data` fetches. An input that a single suite uses stays with that suite.
"""
