"""What streamers hold: a pool of bytes, filled frame by frame for one member or several, and reads ahead of it.

The items of forests and of paged hierarchies, the pool and its compiled loops, several members on one pool, and the
loader on threads belong here; what a recorded demand makes of them is in ``replay``.
"""
