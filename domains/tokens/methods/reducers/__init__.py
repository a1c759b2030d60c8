"""Published reducers of visual tokens as compositions: rules that pick cells, and what becomes of all others.

What papers and their public code do with the features and attention of an encoder belongs here, each as a few parts in
`named`, with one exact count; the parts stand beside it. Rules that know no images are in `hra.solvers.picking`.
"""
