"""What an answer is worth: how much the rules that others run lose on real data.

Rules of selection are judged by the files here, meshes and token methods by their folders; each writes one page of
docs. Rules that others run and that nobody should choose are traversals here, not in `hra.traversals`.
"""
