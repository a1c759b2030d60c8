"""Relaxations of graphs: surplus flow, closures and chords.

These work where a refinement has several predecessors: best sets at a price as closures, by sweeps or by maximum flows,
the bounds that any split of the surplus gives, and the search for the price along chords.
"""
