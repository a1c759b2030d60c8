"""Gestalt and saccades: a coarse view of everything, and patches where it matters.

The coarse view in its variants, the error that remains beside it, and the tokens of both.
"""
