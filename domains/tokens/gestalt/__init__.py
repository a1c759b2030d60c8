"""Gestalt and saccades: a coarse view of everything, and patches where it matters."""
