"""Trees over points: Morton codes, their order, and the nodes.

The steps in their order, each with a module per backend.
"""
