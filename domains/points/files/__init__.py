"""Files of clouds: PLY and LAS in, PLY out, and trees that were built.

What knows a file format belongs here.
"""
