"""A continuous map from a surface onto a simpler one with the same border: it bounds both sides of their distance.

Every vertex of the fine surface gets a near place on the coarse one, every side a path between the places of its ends,
every triangle what lies within the paths of its sides. So the map is continuous and leaves the border where it is, and
such a map covers all of the coarse surface: what comes out on one side of a triangle has to go in on the other, up to
the border. As each point of either surface has a partner on the other, none is farther than the farthest two partners
are. Between the corners of the pieces both move along straight lines, so that the farthest are corners: vertices and
their places, sides of both surfaces that cross, coarse vertices within a fine triangle.

Nothing is projected, and only the distances depend on rounding: where a path leads is a choice, and whether the
paths of a triangle enclose something is decided by the triangles that they pass alone. Where no map is found, there
is no bound: `hra.domains.meshes.distances.deviation` has one for any two surfaces, in four times the time.

Cohen, Manocha and Olano, Simplifying polygonal models using successive mappings, 1997, bound each collapse of a side by
such a map; sequences of crossed sides are the normal coordinates of Gillespie, Sharp and Crane, Integer coordinates for
intrinsic geometry processing, 2021.
"""
