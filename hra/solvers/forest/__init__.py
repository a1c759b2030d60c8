"""Relaxations of forests: pooled slopes, brackets and sampled prices."""
