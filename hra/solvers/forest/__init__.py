"""Relaxations of forests: pooled slopes, brackets and sampled prices.

These use that every refinement has at most one parent: slopes of the hull by pooling adjacent violators, in one pass or
around a guess of the price.
"""
