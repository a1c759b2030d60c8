"""Which pages a view wants: by rays, from outlines, or drawn by OpenGL.

Ways to learn which pages are wanted at which level, each giving a `Feedback`; the metrics then rate a choice of pages.
"""
