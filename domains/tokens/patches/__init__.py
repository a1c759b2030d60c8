"""Patches of an image at every level: pyramid, hierarchies, errors, tokens and the way back to an image."""
