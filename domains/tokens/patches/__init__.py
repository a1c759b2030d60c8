"""Patches of an image at every level: pyramid, hierarchies, errors, tokens and the way back to an image.

The pyramid and what is built on it: hierarchies, the errors of levels and of text, cuts found without a hierarchy,
tokens, and reconstruction. Free-form regions and sampled places have their own folders.
"""
