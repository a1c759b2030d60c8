"""The residency suite: what is on the screen for the bytes that are held, beside other rules over camera paths.

Rules that choose pages and the rows that judge them belong here; the policies are in ``hra.residency``, paths
and models in ``hra_lab.inputs``.
"""
