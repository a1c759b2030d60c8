"""What viewers hold frame by frame: their documented rules, replayed without drawing.

One file for each viewer belongs here, and the replay that they share. Plans belong to the folder above.
"""
