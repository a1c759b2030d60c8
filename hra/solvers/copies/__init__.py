"""Many copies of a few hierarchies under one budget: one topology for all copies, one price.

The union of the copies is never made: what a copy adds to the problem is a lane of gains. Who the copies are, and what
becomes of them in the end, is the pool's matter.
"""
