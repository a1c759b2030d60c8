"""Pictures of clouds: a plain renderer on the processor, enough to judge cuts by, and one in OpenGL to move through.

What turns points or splats into pixels belongs here.
"""
