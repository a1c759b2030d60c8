"""Relaxations of forests: pooled slopes, brackets and sampled prices.

What uses that every refinement has one parent at most: slopes of the hull by pooling adjacent violators, in one pass or
around a guess of the price.
"""
