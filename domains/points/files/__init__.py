"""Files of clouds: PLY, LAS and COPC in, PLY out, and trees that were built.

What knows a file format belongs here.
"""
