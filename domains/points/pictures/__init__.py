"""Pictures of clouds: a plain renderer on the processor, enough to judge cuts by.

What turns points or splats into pixels belongs here.
"""
