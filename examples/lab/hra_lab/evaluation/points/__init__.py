"""What cuts of points and splats look like beside the rules of other viewers, on the same tree.

Sources, peers and the comparison belong here; what is drawn and chosen is the library's.
"""
