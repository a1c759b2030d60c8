"""Pictures of cuts and a window to look at them (PyVista).

Everything that needs PyVista, the extra ``viz``, belongs here and is imported only to draw.
"""
