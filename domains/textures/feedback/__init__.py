"""Which pages a view wants: by rays, from outlines, or drawn by OpenGL."""
