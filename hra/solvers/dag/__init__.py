"""Relaxations of graphs: surplus flow, closures and chords."""
