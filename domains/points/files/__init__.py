"""Files of clouds: PLY, SOG, LAS and COPC in, PLY and COPC out, and trees that were built.

What knows a file format belongs here.
"""
