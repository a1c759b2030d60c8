"""Files of clouds: PLY, SOG, LAS and COPC in, PLY and COPC out, and trees that were built.

Code for one file format belongs here.
"""
