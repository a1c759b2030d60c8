"""Distances, areas and borders of surfaces, and the check of a built mesh."""
