"""The scale suite: jobs over folders, by one process and by two, and beside Ray.

What is timed here is the whole job with the start of its processes; what one image takes is the tokens suite's.
"""
